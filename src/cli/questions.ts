import { durableRuns } from "../adapters/durable-runs.ts";
import type { QuestionAnswer, RunStore, WaitingQuestion } from "../durable/run-store.ts";
import { WritError } from "../error/writ-error.ts";
import { parseCallJson } from "../util/call-json.ts";
import { isJsonObject, type JsonObject } from "../util/json.ts";
import { questionText, showsAll, wholeText } from "./question-text.ts";
import { type ExitCode, exitCodes } from "./exit-code.ts";
import { jsonLine, printable, processOutput } from "./output.ts";
import { listOf } from "./options.ts";
import { knownStore, type StoreFlags } from "./run-store.ts";

/** `writ approvals list`: the questions that runs wait for, with everything that an answer is about. */
export async function listQuestions({
  run,
  ...flags
}: StoreFlags & { readonly run?: string }): Promise<ExitCode> {
  await using store = await knownStore(flags);
  const questions = await store.questions(run);
  if (run !== undefined && questions.length === 0) await checkThere(store, run);
  const { answer, styleAnswer } = processOutput;
  if (flags.json === true) await answer(jsonLine({ type: "questions", questions }));
  else
    for (const question of questions) {
      const { runId, key, request } = question;
      const whole = showsAll(request) ? "" : `${wholeText(request)}\n`;
      await answer(
        `${styleAnswer("bold", printable(`${runId} ${key}`))}\n${questionText(request, { style: styleAnswer })}\n${whole}${termsText(question)}`,
      );
    }
  return exitCodes.answered;
}

/** The options of `writ approvals approve` and `deny`. */
export interface AnswerFlags extends StoreFlags {
  readonly reason?: string;
  readonly arguments?: string;
  readonly hash?: string;
  readonly by?: string;
  readonly open?: string;
}

/** The arguments that may stay open, the agents around the call, the people who may answer, and the time limit: a line for each that the question has. */
function termsText({ request, by, until }: WaitingQuestion): string {
  const { path, open = [] } = request;
  const lines = [
    ...(open.length === 0 ? [] : [`may be left open for the run: ${open.join(", ")} (--open)`]),
    ...(path.length < 2 ? [] : [`asked by ${path.join(" ▸ ")}`]),
    ...(by === undefined ? [] : [`may be answered by ${by.join(", ")} (--by)`]),
    ...(until === undefined ? [] : [endText(request, new Date(until).toISOString())]),
  ];
  return lines.map((line) => `    ${printable(line)}\n`).join("");
}

function endText({ waitsFor }: WaitingQuestion["request"], until: string): string {
  if (waitsFor === undefined) return `denied at ${until}, if nobody has answered`;
  return waitsFor === "time" ? `until ${until}` : `goes on without a signal at ${until}`;
}

/** `writ approvals approve <run> [keys...]`, and `deny`. All questions are looked up before the first is answered. */
export async function answerQuestions(
  [runId, keys]: readonly [run: string, keys: readonly string[]],
  approved: boolean,
  flags: AnswerFlags,
): Promise<ExitCode> {
  await using store = await knownStore(flags);
  if (keys.length > 1) checkSeveral(flags);
  const runs = durableRuns({ store });
  const questions: WaitingQuestion[] = [];
  for (const key of keys.length === 0 ? [undefined] : new Set(keys))
    questions.push(await questionAt(store, runId, key));
  for (const { key, request } of questions) {
    await runs.answer(runId, key, answerTo(request, approved, flags));
    const told = { type: "answered", runId, key, approved };
    const text = `${approved ? "approved" : "denied"}: ${request.tool} of ${runId}\n`;
    await processOutput.answer(flags.json === true ? jsonLine(told) : printable(text));
  }
  return exitCodes.answered;
}

/** Refuses options for one call if several are answered. @throws WritError `option-invalid` */
function checkSeveral(flags: AnswerFlags): void {
  const alone = (["arguments", "hash", "open"] as const).find((name) => flags[name] !== undefined);
  if (alone === undefined) return;
  const advice = "It applies to one question: give one key.";
  throw new WritError("option-invalid", { option: `--${alone}`, value: flags[alone] ?? "", advice });
}

function answerTo(
  { hash: asked, policy }: WaitingQuestion["request"],
  approved: boolean,
  { reason, arguments: edited, hash = asked, by, open }: AnswerFlags,
): QuestionAnswer {
  return {
    approved,
    hash,
    policy,
    ...(by === undefined ? {} : { by }),
    ...(reason === undefined ? {} : { reason }),
    ...(open === undefined ? {} : { for: "run", free: listOf(open) }),
    ...(edited === undefined ? {} : { arguments: argumentsIn(edited) }),
  };
}

/** The question that is meant: without a key, the only one of the run. @throws WritError the errors of `refuse`, `option-invalid` */
async function questionAt(store: RunStore, runId: string, key: string | undefined): Promise<WaitingQuestion> {
  const open = await store.questions(runId);
  const meant = key === undefined ? open : open.filter((question) => question.key === key);
  const questions = meant.filter(({ request }) => request.waitsFor === undefined);
  const [only, another] = questions;
  if (only === undefined) return refuse(store, { id: runId, key, other: meant[0] });
  if (another === undefined) return only;
  const keys = questions.map((question) => question.key).join(", ");
  throw new WritError("option-invalid", {
    option: "key",
    value: "",
    advice: `The run has several questions; give the key of one: ${keys}.`,
  });
}

/**
 * Reports why a question cannot be answered.
 *
 * @throws WritError `run-missing`, `run-moved`, `question-other` for a wait for a signal or a time, `question-answered`, `question-expired`, `question-unknown`
 */
async function refuse(
  store: RunStore,
  {
    id,
    key,
    other,
  }: { readonly id: string; readonly key: string | undefined; readonly other: WaitingQuestion | undefined },
): Promise<never> {
  if (other !== undefined)
    throw new WritError("question-other", { id, key: other.key, tool: other.request.tool });
  await checkThere(store, id);
  if (key !== undefined) await store.answer(id, key, { approved: false, hash: "" }); // an answer with a wrong hash is never taken
  throw new WritError("question-unknown", { id, place: key === undefined ? "" : ` at "${key}"` });
}

/** @throws WritError `run-missing`, `run-moved` */
async function checkThere(store: RunStore, id: string): Promise<void> {
  const run = await store.read(id);
  if (run === undefined) throw new WritError("run-missing", { id });
  if (run.status === "moved") throw new WritError("run-moved", { id });
}

function argumentsIn(text: string): JsonObject {
  const parsed = parseCallJson(text);
  if (parsed.ok && isJsonObject(parsed.value)) return parsed.value;
  const advice = parsed.ok ? "It is not a JSON object." : `It is not JSON: ${parsed.reason}`;
  throw new WritError("option-invalid", { option: "--arguments", value: text, advice });
}
