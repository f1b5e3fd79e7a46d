import type { ToolCall } from "../message/message.ts";
import { noUsage } from "../message/usage.ts";
import { type Excess, type Ledger, type Limits, reserveCall } from "../policy/budget.ts";
import { countCall } from "../policy/constraints.ts";
import { type Batch, begunEarly } from "./call.ts";
import { meetBound } from "../run/bounds.ts";
import type { Fatal } from "./fatal.ts";
import type { ExecuteOptions } from "../run/context.ts";
import { haltedBy, skippedResult } from "./order.ts";
import { planCall } from "./plan-call.ts";
import type { Planned } from "./run-calls.ts";

/** Why a batch ended before its last call, and why the rest of it is skipped. */
export interface BatchEnd {
  /** The bound that forbade a call, and whether the run waits there to be resumed. */
  readonly excess?: Excess;
  readonly checkpoint?: boolean;
  /** The call of an unknown tool. */
  readonly unknown?: ToolCall;
  /** What a call ended the run with. */
  readonly fatal?: { readonly call: ToolCall; readonly fatal: Fatal };
}

/** What is reserved and spent, and the bounds that hold. */
interface Account {
  readonly ledger: Ledger;
  readonly limits: Limits;
}

/** The calls of a batch after all was decided about them. */
export interface Plan extends BatchEnd, Account {
  readonly planned: readonly Planned[];
}

/** An end, and what the calls after it are told. */
type Ended = { readonly end: BatchEnd; readonly reason: string };

/** Reserves and decides, call by call; after a bound or a block that ends the batch, the rest is skipped, but for calls that have begun. */
export async function planBatch(batch: Batch, options: ExecuteOptions): Promise<Plan> {
  const planned: Planned[] = [];
  let account: Account = { ledger: batch.ledger, limits: batch.limits };
  let ended: Ended | undefined;
  for (const call of batch.calls) {
    const hasBegun = begunEarly(batch, call) !== undefined;
    if (ended !== undefined && !hasBegun) {
      planned.push(skipped(call, ended));
      continue;
    }
    const reserving = reserve({ call, hasBegun }, account, options);
    const reserved = reserving.ok
      ? reserving
      : await extend({ call, account, ...reserving, batch, index: planned.length }, options);
    if (!reserved.ok) {
      ended ??= { end: reserved.end, reason: reserved.end.excess?.message ?? "" };
      planned.push(skipped(call, ended));
      continue;
    }
    ({ account } = reserved);
    const { uses, approved } = account.ledger;
    options.scope.outer?.count(call.name); // before it is judged: what runs beside it must see it
    const planning = planCall({ call, batch, index: planned.length, uses, approved }, options);
    const entry = planning instanceof Promise ? await planning : planning;
    if (entry.result !== undefined) options.scope.outer?.count(call.name, -1);
    planned.push(entry);
    account = { ...account, ledger: noted(account.ledger, entry, batch) };
    ended ??= endAfter(entry, options);
  }
  return { ...account, ...ended?.end, planned };
}

/** The ledger with what is remembered of a planned call: that it runs, where that is counted, and that a person approved it for the whole run. */
function noted(ledger: Ledger, { call, result, approved }: Planned, { gate }: Batch): Ledger {
  const isCounted = result === undefined && gate.allowed.counted?.has(call.name) === true;
  const counted = isCounted ? { ...ledger, uses: countCall(ledger.uses, call.name) } : ledger;
  return approved === undefined ? counted : { ...counted, approved: [...(counted.approved ?? []), approved] };
}

function skipped(call: ToolCall, { reason }: Ended): Planned {
  return { call, result: skippedResult(reason) };
}

/** What a planned call ends: the run, or its batch. */
function endAfter(planned: Planned, options: ExecuteOptions): Ended | undefined {
  const { call, prepared, result, fatal } = planned;
  const reason = result === undefined ? undefined : haltedBy({ ...planned, result }, options);
  if (reason !== undefined) return { end: fatal === undefined ? {} : { fatal: { call, fatal } }, reason };
  const isUnknown = prepared?.type === "refused" && prepared.unknownTool === true;
  if (isUnknown && options.onUnknownTool === "throw")
    return { end: { unknown: call }, reason: "an earlier call stopped the batch" };
  const isBlocked = result?.status === "denied" && options.stopOnToolBlock;
  return isBlocked ? { end: {}, reason: "an earlier call was blocked" } : undefined;
}

type Reserved =
  | { readonly ok: true; readonly account: Account }
  | { readonly ok: false; readonly excess: Excess; readonly isOuter?: boolean };

/** A call that began while its reply was read was allowed then by the runs around this one, and booked with them. */
function reserve(
  { call, hasBegun = false }: { readonly call: ToolCall; readonly hasBegun?: boolean },
  { ledger, limits }: Account,
  { scope }: ExecuteOptions,
): Reserved {
  const outer = hasBegun ? undefined : scope.outer?.callExcess();
  if (outer !== undefined) return { ok: false, excess: outer, isOuter: true };
  const reservation = reserveCall(ledger, limits, measure(call, limits));
  if (!reservation.ok) return reservation;
  if (!hasBegun) scope.outer?.spend({ usage: noUsage, costUsd: 0, toolCalls: 1 });
  return { ok: true, account: { ledger: reservation.ledger, limits } };
}

interface Extending {
  readonly call: ToolCall;
  readonly account: Account;
  readonly excess: Excess;
  /** It is a bound of a run around this one, which only that can raise. */
  readonly isOuter?: boolean;
  readonly batch: Batch;
  readonly index: number;
}

/** Asks the author about a bound that forbids a call; when it was raised, the call is reserved after all. */
async function extend(
  { call, account, excess, isOuter = false, batch, index }: Extending,
  options: ExecuteOptions,
): Promise<Extract<Reserved, { ok: true }> | { readonly ok: false; readonly end: BatchEnd }> {
  if (isOuter) return { ok: false, end: { excess } };
  const { ledger, limits } = account;
  const met = await meetBound(excess, { limits, turn: batch.turn, part: `call/${index}` }, options);
  if (met.type === "checkpoint") return { ok: false, end: { excess, checkpoint: true } };
  if (met.type === "stop") return { ok: false, end: { excess } };
  const raised = { ledger, limits: met.limits };
  const again = reserve({ call }, raised, options);
  return again.ok ? again : extend({ call, account: raised, ...again, batch, index }, options);
}

/** What a call is reserved by. The size of its arguments is only taken when it is bounded. */
export function measure(call: ToolCall, limits: Limits): { tool: string; argumentBytes: number } {
  if (limits.argumentBytes === Infinity) return { tool: call.name, argumentBytes: 0 };
  const text = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
  return { tool: call.name, argumentBytes: new TextEncoder().encode(text).length };
}
