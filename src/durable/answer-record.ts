import { misfitOf, readAnswer, type KeptAnswer, wrongFree } from "../call/ask.ts";
import type { KeptSettlement } from "../call/lost.ts";
import { checkArguments } from "../error/check-shape.ts";
import { isWritError, WritError } from "../error/writ-error.ts";
import { storedResult } from "../journal/stored-json.ts";
import type { Approval } from "../run/approval.ts";
import { number, object, optional, string } from "../util/shape.ts";
import { checked } from "./check-given.ts";
import type { QuestionAnswer, RunStore, WaitingQuestion } from "./run-store.ts";

/**
 * The JSON text of the record that answers a question, for stores of your own.
 *
 * @throws WritError `definition-invalid` for wrong arguments, `question-changed` if the answer is about another call than the question, `question-stale` if it is about the question of
 * another policy, `question-forbidden` if `by` may not answer, `question-expired` if its time is over, `question-closed` if it leaves open an argument
 * that the question does not list, `question-other` if it approves a call to be settled, settles one to be approved, or answers a wait for a signal
 * @example
 * ```ts
 * import { answerRecord, type QuestionAnswer, type WaitingQuestion } from "writ/durable";
 *
 * const records = new Map<string, string>(); // or a table
 * function answer(question: WaitingQuestion, given: QuestionAnswer) {
 *   records.set(`${question.runId} ${question.key}`, answerRecord(question, given, Date.now()));
 * }
 * ```
 */
export function answerRecord(
  question: Omit<WaitingQuestion, "since"> & Partial<Pick<WaitingQuestion, "since">>,
  given: QuestionAnswer,
  now: number,
): string {
  checkArguments("answerRecord()", { question, now }, { question: questionShape, now: number });
  const { runId: id, key, request, by: allowed, until = Infinity, since } = question;
  const { hash, policy = request.policy, by, settled, ...answer } = checked("answer", given);
  const { tool } = request;
  if (hash !== request.hash) throw new WritError("question-changed", { id, key, tool });
  if (policy !== request.policy) throw new WritError("question-stale", { id, key, tool });
  if (allowed !== undefined && (by === undefined || !allowed.includes(by)))
    throw new WritError("question-forbidden", {
      id,
      key,
      tool,
      by: by ?? "nobody",
      allowed: allowed.join(", "),
    });
  if (now >= until) throw expired(id, key);
  if (request.waitsFor !== undefined || (request.unsettled === true) !== (settled !== undefined))
    throw new WritError("question-other", { id, key, tool });
  checkOpen({ id, key, request }, answer);
  const kept: KeptAnswer | KeptSettlement = {
    ...(settled ?? { ...readAnswer(answer, request), ...(since === undefined ? {} : { since }), at: now }),
    ...(by === undefined ? {} : { by }),
    hash,
  };
  return JSON.stringify(kept);
}

const questionShape = object(
  { runId: string, key: string, request: object({ hash: string, tool: string }), until: optional(number) },
  "a question that waits",
);

/**
 * Refuses arguments of a person that do not match the input schema in the question. The call is judged again before it runs; here the person can still correct them.
 *
 * @throws WritError `edit-invalid`
 */
export async function checkEdit(
  { id, key }: { readonly id: string; readonly key: string },
  { approved, arguments: edited, hash }: QuestionAnswer,
  store: Pick<RunStore, "questions">,
): Promise<void> {
  if (!approved || edited === undefined) return;
  const question = (await store.questions(id)).find((one) => one.key === key && one.request.hash === hash);
  const issues = question === undefined ? undefined : await misfitOf(edited, question.request);
  if (issues !== undefined)
    throw new WritError("edit-invalid", { id, key, tool: question?.request.tool ?? "", issues });
}

/** A yes that leaves open what may not be is refused, and not kept as a no. @throws WritError `question-closed` */
function checkOpen(
  { id, key, request: { tool, open } }: Pick<WaitingQuestion, "key" | "request"> & { readonly id: string },
  answer: Approval,
): void {
  const reason = answer.approved ? wrongFree(answer, open) : undefined;
  if (reason !== undefined) throw new WritError("question-closed", { id, key, tool, reason });
}

/** The error of an answer to a question that does not wait: `json` is the answer in the journal of the run, if there is one. */
export function notWaiting(id: string, key: string, json: unknown): WritError {
  if (typeof json !== "string") return new WritError("question-unknown", { id, place: ` at "${key}"` });
  const { expired: isExpired, by = "somebody" } = storedResult<KeptAnswer>(key, json);
  return isExpired === true ? expired(id, key) : new WritError("question-answered", { id, key, by });
}

/** The errors that say that a run has not come so far. */
const notSoFar: ReadonlySet<string> = new Set(["question-unknown", "journal-ended", "turn-missing"]);

/** Throws an error again; in place of one that says that a run has not come so far, `run-moved` if the run goes on in another store. */
export function orMoved(id: string, store: Pick<RunStore, "read">): (error: unknown) => Promise<never> {
  return async (error) => {
    const isEarly = isWritError(error) && notSoFar.has(error.code);
    throw isEarly && (await store.read(id))?.status === "moved" ? new WritError("run-moved", { id }) : error;
  };
}

function expired(id: string, key: string): WritError {
  return new WritError("question-expired", { id, key });
}
