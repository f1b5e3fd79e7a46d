import { sizeOf } from "../call/batch.ts";
import { type Batch, type EarlyCall, type Fate, type Ready } from "../call/call.ts";
import { checkCall } from "../call/check.ts";
import { isOrdered } from "../call/order.ts";
import { runCall } from "../call/run.ts";
import type { ToolCall } from "../message/message.ts";
import { noUsage } from "../message/usage.ts";
import { type Ledger, reserveCall } from "../policy/account/budget.ts";
import type { RunContext } from "../run/context.ts";
import type { Tool } from "../tool/tool.ts";
import { interrupt } from "../util/interrupt.ts";
import type { Maybe } from "../util/maybe.ts";

/** The batch of a reply that is still being read, and the calls that were started from it, by id. */
export interface EarlyTurn {
  readonly batch: Omit<Batch, "calls">;
  readonly early: Map<string, EarlyCall>;
}

/**
 * Takes the calls of a reply as they become complete, and starts those that only look or compute while the model still writes. Nothing is
 * started that the same call would not be allowed later, nor anything after a call that the budget forbids.
 */
export function earlyCalls({ batch, early }: EarlyTurn): (call: ToolCall) => void {
  const { run, gate, learned, limits } = batch;
  let reserved: Ledger | undefined = batch.ledger;
  let index = -1;
  let started: Started | undefined;
  return (proposed) => {
    index += 1;
    reserved = reserved === undefined ? undefined : reserve(proposed, { ...batch, ledger: reserved, limits });
    if (reserved === undefined) return;
    const tool = gate.allowed.tools.get(proposed.name);
    const at = { batch: { ...batch, calls: [] }, index, proposed, learned, uses: batch.ledger.uses };
    const fate = isLooking(tool, batch) ? checkCall(at) : undefined;
    if (holdsUp({ tool, fate }, run)) reserved = undefined;
    if (fate === undefined || fate instanceof Promise) return;
    if (fate.type === "refused" || fate.decision.verdict !== "allow" || !mayOverlap(fate)) return;
    run.scope.outer?.spend({ usage: noUsage, costUsd: 0, toolCalls: 1 });
    started ??= startedBy(run);
    const { context, end } = started;
    const record = Promise.resolve(runCall({ ...at, batch: { ...at.batch, run: context } }, fate, {}));
    record.catch(() => undefined); // thrown where its batch waits for it, if it comes to that
    const giveUp = (): Promise<unknown> => {
      end();
      return record.catch(() => undefined);
    };
    early.set(proposed.id, { ready: fate, record, giveUp });
  };
}

function isLooking(tool: Tool | undefined, { gate }: Pick<Batch, "gate">): boolean {
  if (tool?.effect !== "none" && tool?.effect !== "read") return false;
  return gate.allowed.counted?.has(tool.name) !== true;
}

/** The context of the early calls of one reply; the end of the run ends them, and so does that of the reply. */
interface Started {
  readonly context: RunContext;
  readonly end: () => void;
}

function startedBy(run: RunContext): Started {
  const stop = interrupt<unknown>();
  const unlink = run.stop.onStop(() => stop.stop(run.stop.reason));
  return {
    context: { ...run, stop },
    end() {
      stop.stop({ type: "cancelled", reason: "the reply that made the call was given up" });
      unlink();
    },
  };
}

/** Ends what was started for a reply and is not used: a run must not end before what goes on inside it. */
export async function giveUpEarly(early: Map<string, EarlyCall>): Promise<void> {
  const calls = [...early.values()];
  early.clear();
  await Promise.all(calls.map((call) => call.giveUp()));
}

/** The ledger with the call in it; undefined when a bound of this run, or of one around it, forbids the call. */
function reserve(
  call: ToolCall,
  { run, ledger, limits }: Pick<Batch, "run" | "ledger" | "limits">,
): Ledger | undefined {
  if (run.scope.outer?.callExcess() !== undefined) return undefined;
  const reservation = reserveCall(ledger, limits, sizeOf(call, limits));
  return reservation.ok ? reservation.ledger : undefined;
}

interface EarlyCheck {
  readonly tool: Tool | undefined;
  readonly fate: Maybe<Fate> | undefined;
}

/** Tells whether the calls after this one wait for it or may be skipped: its tool is unknown, or what mends its arguments can end the run. */
function holdsUp({ tool, fate }: EarlyCheck, run: RunContext): boolean {
  if (tool === undefined) return run.onUnknownTool === "throw";
  if (isOrdered(tool, run)) return true;
  const isChecked = fate !== undefined && !(fate instanceof Promise) && fate.type === "ready";
  return !isChecked && run.recoveryOf(tool)?.invalidArguments !== undefined;
}

/** Calls that keep others waiting are left to the batch; so is one whose key cannot be told. */
function mayOverlap({ tool, args }: Ready): boolean {
  try {
    return tool.exclusiveKey(args) === undefined;
  } catch {
    return false;
  }
}
