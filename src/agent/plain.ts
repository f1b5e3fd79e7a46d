import { messageOf, WritError } from "../error/writ-error.ts";
import type { Journal } from "../journal/journal.ts";
import { watchedJournal } from "../journal/watched-journal.ts";
import { failed, stopped } from "../run/end.ts";
import type { Frame } from "../run/frame.ts";
import type { End } from "../run/end.ts";
import { describeIssues } from "../schema/schema.ts";
import { untilStopped } from "../util/interrupt.ts";
import { type Json, toJson } from "../util/json.ts";
import type { PlainPlan } from "./plan.ts";

export interface PlainOptions {
  readonly agent: string;
  readonly input: Json;
  readonly journal: Journal;
}

/** Runs a plain skill: one step, no turns; it ends by the same signal and time as any run. */
export async function runPlain(
  skill: PlainPlan,
  { agent, input, journal }: PlainOptions,
  frame: Frame,
): Promise<End> {
  const step = {
    key: "skill",
    fingerprint: () => JSON.stringify([skill.name, input]),
    run: async () => {
      const json = toJson(await checked(skill, await skill.execute(input)));
      if (!json.ok) throw new TypeError(`its result is not JSON: ${json.reason}`);
      return json.value;
    },
  };
  let hasLostJournal = false;
  const watched = watchedJournal(journal, () => (hasLostJournal = true));
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
