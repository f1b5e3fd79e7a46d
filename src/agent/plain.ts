import { isWritError, messageOf, WritError } from "../error/writ-error.ts";
import type { Fact } from "../event/event.ts";
import type { Outcome } from "../event/outcome.ts";
import type { Host } from "../journal/host.ts";
import type { Journal } from "../journal/journal.ts";
import { stopped } from "../loop/end.ts";
import type { LoopResult, StopReason } from "../loop/options.ts";
import { linkSignal } from "../loop/run.ts";
import { userMessage } from "../message/message.ts";
import { addUser, emptyTranscript } from "../message/transcript.ts";
import { noUsage } from "../message/usage.ts";
import type { Limits } from "../policy/budget.ts";
import { interrupt, untilStopped } from "../util/interrupt.ts";
import { type Json, toJson } from "../util/json.ts";
import { contentText } from "./answer.ts";
import type { PlainSkill } from "./skill.ts";

/** What a plain skill is run with. */
export interface PlainOptions {
  readonly agent: string;
  readonly input: Json;
  readonly limits: Limits;
  readonly journal: Journal;
  readonly host: Host;
  readonly signal?: AbortSignal;
}

/** A plain skill tells the same facts as any run and ends by the same signal and time; it has no turns. */
export async function* runPlain(skill: PlainSkill, options: PlainOptions): AsyncGenerator<Fact, LoopResult> {
  const { agent, input } = options;
  yield { type: "run-start", agent, input };
  yield { type: "skill-chosen", skill: skill.name };
  const end = await executePlain(skill, options);
  yield { type: "run-end", outcome: end.outcome, usage: noUsage };
  if (isWritError(end.error, "journal-mismatch")) throw end.error;
  return {
    ...end,
    transcript: addUser(emptyTranscript(), userMessage(contentText(input))),
    usage: noUsage,
    turns: 0,
  };
}

async function executePlain(
  skill: PlainSkill,
  { agent, input, limits, journal, host, signal }: PlainOptions,
): Promise<Pick<LoopResult, "outcome" | "output" | "error">> {
  const stop = interrupt<StopReason>();
  const unlink = linkSignal(signal, stop);
  const stopTimer =
    limits.durationMs === Infinity
      ? undefined
      : host.timer(limits.durationMs, () => stop.stop({ type: "duration" }));
  const step = {
    key: "skill",
    fingerprint: () => JSON.stringify([skill.name, input]),
    run: async () => {
      const json = toJson(await skill.execute(input));
      if (!json.ok) throw new TypeError(`its result is not JSON: ${json.reason}`);
      return json.value;
    },
  };
  try {
    const output = await untilStopped(journal.step(step), stop);
    if (stop.reason !== undefined) return stopped({ gate: { agent }, limits }, stop.reason);
    return { outcome: { type: "answered", content: output, finishReason: "stop" }, output };
  } catch (cause) {
    const error = isWritError(cause, "journal-mismatch")
      ? cause
      : new WritError(
          "skill-failed",
          { skill: skill.name, name: agent, reason: messageOf(cause) },
          { cause },
        );
    const outcome: Outcome = { type: "failed", code: error.code, message: error.message };
    return { outcome, error };
  } finally {
    stopTimer?.();
    unlink?.();
  }
}
