import { measure } from "../executor/plan-batch.ts";
import type { ExecuteOptions } from "../executor/options.ts";
import { perform, performOptions } from "../executor/perform.ts";
import { prepare, type Runnable } from "../executor/prepare.ts";
import type { EarlyCall } from "../executor/run-calls.ts";
import type { ToolCall } from "../message/message.ts";
import { type Ledger, reserveCall } from "../policy/budget.ts";
import type { State } from "./run.ts";

/** The reply that is being read. Calls that were started are put into `early`, by id. */
export interface EarlyTurn {
  readonly turn: number;
  readonly state: State;
  readonly early: Map<string, EarlyCall>;
}

/**
 * Takes the calls of a reply as they become complete, and starts those that only look or compute while the model still writes. Nothing is
 * started that the same call would not be allowed later, nor anything after a call that the budget forbids.
 */
export function earlyCalls(
  { turn, state, early }: EarlyTurn,
  options: ExecuteOptions,
): (call: ToolCall) => void {
  const { gate, limits, transcript } = state;
  let reserved: Ledger | undefined = state.ledger;
  let index = 0;
  const performing = performOptions(options, { turn, gate, transcript });
  return (call) => {
    const place = index;
    index += 1;
    if (options.scope.outer?.callExcess() !== undefined) reserved = undefined;
    const reservation =
      reserved === undefined ? undefined : reserveCall(reserved, limits, measure(call, limits));
    reserved = reservation?.ok === true ? reservation.ledger : undefined;
    const tool = gate.allowed.tools.get(call.name);
    if (tool === undefined && options.onUnknownTool === "throw") reserved = undefined;
    if (reserved === undefined || (tool?.effect !== "none" && tool?.effect !== "read")) return;
    const prepared = prepare(call, turn, gate);
    if (prepared instanceof Promise || prepared.type !== "run" || !mayOverlap(prepared)) return;
    early.set(call.id, { prepared, record: perform(prepared, `turn/${turn}/call/${place}`, performing) });
  };
}

/** Calls that keep others waiting are left to the batch; so is one whose key cannot be told. */
function mayOverlap({ tool, args }: Runnable): boolean {
  try {
    return tool.exclusiveKey(args) === undefined;
  } catch {
    return false;
  }
}
