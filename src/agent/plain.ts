import { messageOf, WritError } from "../error/writ-error.ts";
import type { Journal } from "../journal/journal.ts";
import { partsText } from "../journal/parts.ts";
import { watchedJournal } from "../journal/watched-journal.ts";
import { failed, stopped } from "../run/end.ts";
import { joinLabels } from "../message/label.ts";
import { contentText, labelOf, type UserMessage } from "../message/message.ts";
import { addAnswer, addSaid, type ReadyTranscript } from "../message/transcript.ts";
import type { Finished } from "../run/finished.ts";
import { type Frame, keepBeginning } from "../run/frame.ts";
import type { End } from "../run/end.ts";
import { describeIssues } from "../schema/schema.ts";
import { seenBy } from "../turn/reply.ts";
import { untilStopped } from "../util/interrupt.ts";
import { type Json, wholeJson } from "../util/json.ts";
import type { PlainPlan } from "./plan-skill.ts";

/** A run whose skill is a function. */
interface PlainRun {
  readonly agent: string;
  readonly input: Json;
  readonly journal: Journal;
  /** The conversation before the run. */
  readonly said: ReadyTranscript;
  readonly asked: UserMessage;
  readonly spent: Pick<Finished, "ledger" | "usage">;
}

/** Answers by a plain skill. The label of the function's value or error is no better than that of what it read. */
export async function answerPlainly(skill: PlainPlan, run: PlainRun, frame: Frame): Promise<Finished> {
  const { said, asked, spent } = run;
  const end = await runPlain(skill, run, frame);
  const label = joinLabels(labelOf(asked), skill.label);
  const transcript = addSaid(said, asked);
  if (end.outcome.type !== "answered") return { ...spent, end, label, transcript };
  const text = contentText(end.outcome.content);
  const parts = [{ type: "text" as const, text: text === "" ? "(empty)" : text }];
  const reply = seenBy({ role: "assistant", parts }, { label });
  return { ...spent, end, label, transcript: addAnswer(transcript, reply) };
}

/** Runs a plain skill: one step and no turns; it is ended by the same signal and time as any run. */
async function runPlain(skill: PlainPlan, { agent, input, journal }: PlainRun, frame: Frame): Promise<End> {
  const step = {
    key: "skill",
    fingerprint: () => partsText({ skill: skill.name, input }),
    run: async () => {
      const json = wholeJson(await checked(skill, await skill.execute(input)));
      if (!json.ok) throw new TypeError(`its result is not JSON: ${json.reason}`);
      return json.value;
    },
  };
  let hasLostJournal = false;
  const watched = watchedJournal(journal, () => (hasLostJournal = true));
  await keepBeginning(journal);
  if (frame.stop.reason !== undefined) return stopped({ gate: { agent } }, frame.stop.reason);
  try {
    const output = await untilStopped(watched.step(step), frame.stop);
    const { reason } = frame.stop;
    if (reason !== undefined) return stopped({ gate: { agent } }, reason);
    return { outcome: { type: "answered", content: output, finishReason: "stop" }, output };
  } catch (cause) {
    if (hasLostJournal) throw cause;
    const error = new WritError(
      "skill-failed",
      { skill: skill.name, name: agent, reason: messageOf(cause) },
      { cause },
    );
    return { outcome: failed(error), error };
  }
}

async function checked({ output }: PlainPlan, value: unknown): Promise<unknown> {
  const parsed = await output?.parse(value);
  if (parsed === undefined) return value;
  if (parsed.ok) return parsed.value;
  throw new TypeError(`its result does not match the output schema: ${describeIssues(parsed.issues)}`);
}
