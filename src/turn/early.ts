import { measure } from "../call/plan-batch.ts";
import type { ExecuteOptions } from "../run/context.ts";
import { isOrdered } from "../call/order.ts";
import { perform, performOptions } from "../call/run.ts";
import { type Prepared, prepare, type Runnable } from "../call/judge.ts";
import type { EarlyCall } from "../call/run-calls.ts";
import type { PerformOptions, Turn } from "../call/work.ts";
import type { ToolCall } from "../message/message.ts";
import { noUsage } from "../message/usage.ts";
import { type Ledger, reserveCall } from "../policy/budget.ts";
import type { Tool } from "../tool/tool.ts";
import { interrupt } from "../util/interrupt.ts";
import type { State } from "./state.ts";

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
  const { gate, limits, transcript, learned } = state;
  let reserved: Ledger | undefined = state.ledger;
  let index = 0;
  let started: Started | undefined;
  const start = (prepared: Runnable, place: number): EarlyCall => {
    started ??= startedBy(options, { turn, gate, transcript, learned });
    const { performing, end } = started;
    const record = perform(prepared, `turn/${turn}/call/${place}`, performing);
    record.catch(() => undefined); // thrown where its batch waits for it, if it comes to that
    const giveUp = (): Promise<unknown> => {
      end();
      return record.catch(() => undefined);
    };
    return { prepared, record, giveUp };
  };
  return (call) => {
    const place = index;
    index += 1;
    reserved = reserved === undefined ? undefined : reserve(call, { ledger: reserved, limits }, options);
    if (reserved === undefined) return;
    const tool = gate.allowed.tools.get(call.name);
    const isLooking =
      (tool?.effect === "none" || tool?.effect === "read") && gate.allowed.counted?.has(tool.name) !== true;
    const prepared = isLooking ? prepare(call, { turn, gate, learned, uses: state.ledger.uses }) : undefined;
    if (holdsUp({ tool, prepared }, options)) reserved = undefined;
    if (prepared === undefined || prepared instanceof Promise) return;
    if (prepared.type !== "run" || !mayOverlap(prepared)) return;
    options.scope.outer?.spend({ usage: noUsage, costUsd: 0, toolCalls: 1 });
    early.set(call.id, start(prepared, place));
  };
}

/** What the early calls of one reply are performed with; the end of the run ends them, and so does that of the reply. */
interface Started {
  readonly performing: PerformOptions;
  readonly end: () => void;
}

function startedBy(options: ExecuteOptions, turn: Turn): Started {
  const { stop: outer } = options;
  const stop = interrupt<unknown>();
  const unlink = outer.onStop(() => stop.stop(outer.reason));
  return {
    performing: performOptions({ ...options, stop }, turn),
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
  { ledger, limits }: Pick<State, "ledger" | "limits">,
  { scope }: ExecuteOptions,
): Ledger | undefined {
  if (scope.outer?.callExcess() !== undefined) return undefined;
  const reservation = reserveCall(ledger, limits, measure(call, limits));
  return reservation.ok ? reservation.ledger : undefined;
}

interface Proposed {
  readonly tool: Tool | undefined;
  readonly prepared: Prepared | Promise<Prepared> | undefined;
}

/** Tells whether the calls after this one wait for it or may be skipped: its tool is unknown, or what mends its arguments can end the run. */
function holdsUp({ tool, prepared }: Proposed, options: ExecuteOptions): boolean {
  const { onUnknownTool, recoveryOf } = options;
  if (tool === undefined) return onUnknownTool === "throw";
  if (isOrdered(tool, options)) return true;
  const isChecked = prepared !== undefined && !(prepared instanceof Promise) && prepared.type !== "refused";
  return !isChecked && recoveryOf(tool)?.invalidArguments !== undefined;
}

/** Calls that keep others waiting are left to the batch; so is one whose key cannot be told. */
function mayOverlap({ tool, args }: Runnable): boolean {
  try {
    return tool.exclusiveKey(args) === undefined;
  } catch {
    return false;
  }
}
