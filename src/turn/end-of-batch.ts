import { WritError } from "../error/writ-error.ts";
import type { Executed } from "../call/batch.ts";
import { isFailure } from "../call/order.ts";
import type { Gate } from "../run/gate.ts";
import type { ToolCall } from "../message/message.ts";
import { exhausted, failed, stopped, suspended } from "../run/end.ts";
import type { End } from "../run/end.ts";
import type { Run } from "./state.ts";

/** The calls of a turn, and the gate that they came through. */
export interface Called {
  readonly calls: readonly ToolCall[];
  readonly gate: Gate;
}

/** The end that the calls of a turn bring, if they do. */
export function endOfBatch(executed: Executed, { calls, gate }: Called, run: Run): End | undefined {
  if (run.stop.reason !== undefined) return stopped(run, run.stop.reason);
  const { fatal, excess, unknown, checkpoint } = executed;
  if (fatal !== undefined) return fatalEnd(fatal, run);
  if (excess !== undefined) return checkpoint === true ? suspended(run, excess) : exhausted(run, excess);
  const { skill, tools } = gate.allowed;
  if (unknown !== undefined) {
    const allowed = [...tools.keys()].join(", ");
    const error = new WritError("tool-not-allowed", { tool: unknown.name, skill, allowed });
    return { outcome: { type: "refused", code: error.code, message: error.message }, error };
  }
  const failure = run.throwOnToolFailure
    ? executed.results.findIndex((result, index) =>
        isFailure({ result, escalated: executed.escalated.has(index) }),
      )
    : -1;
  const call = calls[failure];
  if (call === undefined) return undefined;
  return toolFailed(call, executed.results[failure]?.text ?? "", run);
}

function fatalEnd({ call, fatal }: NonNullable<Executed["fatal"]>, run: Run): End {
  if (fatal.type === "exhausted") return exhausted(run, fatal.excess);
  if (fatal.code === "tool-failed") return toolFailed(call, fatal.reason, run);
  const { reason, severity = "HIGH" } = fatal;
  const cause = run.thrown.get(call.id);
  const error =
    fatal.code === "tool-escalated"
      ? new WritError("tool-escalated", { reason, severity }, { cause })
      : new WritError("tool-unrecoverable", { reason }, { cause });
  return { outcome: failed(error), error };
}

function toolFailed(call: ToolCall, reason: string, run: Run): End {
  const error = new WritError("tool-failed", { tool: call.name, reason }, { cause: run.thrown.get(call.id) });
  return { outcome: failed(error), error };
}
