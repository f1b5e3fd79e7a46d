import { isWritError, messageOf, WritError } from "../error/writ-error.ts";
import type { Outcome } from "../event/outcome.ts";
import type { Executed } from "../executor/execute.ts";
import type { ToolCall } from "../message/message.ts";
import type { Excess, Limits } from "../policy/budget.ts";
import type { StopReason } from "./options.ts";
import type { End, Run } from "./run.ts";

/** What an end says of its run. */
export interface Ending {
  readonly gate: { readonly agent: string };
  readonly limits: Limits;
}

/** The end when the world fails: what was thrown, as an error of the catalogue. */
export function broken(cause: unknown, name: string): End {
  const error = isWritError(cause)
    ? cause
    : new WritError("run-broken", { name, reason: messageOf(cause) }, { cause });
  return { outcome: failed(error), error, throws: true };
}

/** The end when a bound was met. */
export function exhausted({ gate }: Ending, excess: Excess): End {
  const error = new WritError("budget-exhausted", {
    name: gate.agent,
    reason: excess.message,
    field: excess.field,
  });
  return { outcome: { type: "exhausted", ...excess }, error };
}

/** The end when the run was stopped from outside, or by its time. */
export function stopped(run: Ending, reason: StopReason): End {
  if (reason.type === "duration") {
    const { durationMs } = run.limits;
    return exhausted(run, {
      field: "durationMs",
      limit: durationMs,
      used: durationMs,
      message: `exceeded duration budget of ${durationMs} ms`,
    });
  }
  const error = new WritError("run-cancelled", { name: run.gate.agent, reason: reason.reason });
  return { outcome: { type: "cancelled", reason: reason.reason }, error };
}

/** The outcome of a failure. */
export function failed(error: WritError): Outcome {
  return { type: "failed", code: error.code, message: error.message };
}

/** The end for a model that would go on in its last turn. */
export function outOfTurns(run: Run): End {
  const { turns } = run.limits;
  return exhausted(run, {
    field: "turns",
    limit: turns,
    used: turns,
    message: `exceeded budget of ${turns} turns`,
  });
}

/** The end that the calls of a turn bring, if they do. */
export function endOfBatch(executed: Executed, calls: readonly ToolCall[], run: Run): End | undefined {
  if (run.stop.reason !== undefined) return stopped(run, run.stop.reason);
  if (executed.excess !== undefined) return exhausted(run, executed.excess);
  const { skill, tools } = run.gate.allowed;
  if (executed.unknown !== undefined) {
    const allowed = [...tools.keys()].join(", ");
    const error = new WritError("tool-not-allowed", { tool: executed.unknown.name, skill, allowed });
    return { outcome: { type: "refused", code: error.code, message: error.message }, error };
  }
  const failure = run.throwOnToolFailure
    ? executed.results.findIndex(({ status }) => status === "error" || status === "timeout")
    : -1;
  const call = calls[failure];
  if (call === undefined) return undefined;
  const cause = run.thrown.get(call.id);
  const reason = executed.results[failure]?.text ?? "";
  const error = new WritError("tool-failed", { tool: call.name, reason }, { cause });
  return { outcome: failed(error), error };
}
