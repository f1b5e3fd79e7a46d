import { directJournal } from "../journal/direct-journal.ts";
import type { ToolCall, ToolResult } from "../message/message.ts";
import { noUsage } from "../message/usage.ts";
import {
  type BudgetField,
  type Excess,
  type Ledger,
  type Limits,
  reserveCall,
} from "../policy/account/budget.ts";
import { countCall, countSuccess } from "../policy/account/constraints.ts";
import type { Purse } from "../policy/account/purse.ts";
import { toldBetween } from "../policy/allow-list.ts";
import { endsRun } from "../run/end.ts";
import { meetBound, outerBound } from "../run/bounds.ts";
import type { Executor } from "../run/executor.ts";
import { applyMode } from "../run/gate.ts";
import type { Inside } from "../run/inside.ts";
import { RunWaits } from "../run/waits.ts";
import type { Mode } from "../tool/tool.ts";
import { after, inOrder, type Maybe } from "../util/maybe.ts";
import { questionsBehind } from "./ahead.ts";
import type { Batch, Call, CallRecord, Fate, Ready } from "./call.ts";
import { carryOutBy } from "./handed.ts";
import { judge, startedEarly } from "./judge.ts";
import { keepRefusals, refusalIn } from "./standing-call.ts";
import { brokenRecord, skipped } from "./refused.ts";
import type { BatchEnd, BatchJudging } from "./judging-batch.ts";
import { groupsOf, RunningBatch } from "./running.ts";
import { haltedBy, tellEnd } from "./settle.ts";

/** The end of a batch: one result for each call, in order. */
export interface Executed extends BatchEnd {
  readonly results: readonly ToolResult[];
  readonly ledger: Ledger;
  readonly limits: Limits;
  /** The changes that successful calls made for the rest of the run. */
  readonly modes: readonly Mode[];
  /** The runs inside the calls, with their spending. */
  readonly inside: readonly Inside[];
  /** The reason why the run cannot go on, if something in its world failed. */
  readonly brokenBy?: { readonly cause: unknown };
  /** The failures that do not end the run, by place: the author's recovery chose to tell the model. Undefined if there are none. */
  readonly escalated?: ReadonlySet<number>;
  /** The end of the last call, in milliseconds since 1970; 0 if none ran. */
  readonly endedAt: number;
  /** The milliseconds during which at least one of the calls was running. */
  readonly activeMs: number;
}

/**
 * Carries out the calls of one reply: decides about each in order, runs side by side those that may, and returns one result
 * for each call. Facts come in the order of the calls, whichever tool is faster.
 */
export function execute(batch: Batch): Maybe<Executed> {
  const { calls, ledger, limits } = batch;
  const judging: BatchJudging = { fates: [], ledger, limits };
  if (batch.early !== undefined) batch.run.scope.balance.now = { ledger: withAll(ledger, calls), limits };
  let judged: Maybe<unknown>;
  try {
    judged = inOrder(calls, (call) => judgeNext(call, batch, judging));
  } catch (cause) {
    return notBegun(cause, batch, judging);
  }
  if (!(judged instanceof Promise)) return runAll(judging, batch);
  return judged.then(
    () => runAll(judging, batch),
    (cause: unknown) => notBegun(cause, batch, judging),
  );
}

/** The ledger with all calls of a reply: while a person is asked about the others, runs inside calls that began early cannot take their share. */
function withAll(ledger: Ledger, calls: readonly ToolCall[]): Ledger {
  return { ...ledger, toolCalls: ledger.toolCalls + calls.length };
}

/**
 * The end of a batch in which something failed while it was decided about: none of its calls has begun, except those that began with the reply.
 *
 * @throws RunWaits if the run was handed over meanwhile
 */
function notBegun(cause: unknown, batch: Batch, { fates, ledger, limits }: BatchJudging): Executed {
  if (cause instanceof RunWaits) throw cause;
  const isOver = endsRun(cause, batch.run);
  const records = batch.calls.map((call, index) => {
    const hasBegun = startedEarly(batch, call) !== undefined;
    const key = `turn/${batch.turn}/call/${index}`;
    const record = brokenRecord({ key, name: call.name }, batch.run, hasBegun);
    const { result } = record;
    if (isOver) tellEnd(batch, fates[index] ?? { type: "refused", call, result }, record);
    return record;
  });
  return {
    results: records.map(({ result }) => result),
    ledger,
    limits,
    modes: [],
    inside: [...fates, ...records].flatMap(({ inside }) => inside ?? []),
    endedAt: 0,
    activeMs: 0,
    brokenBy: { cause },
  };
}

/** Reserves and decides one call. After a bound or a block that ends the batch, the later calls are skipped, except those that have begun. */
function judgeNext(proposed: ToolCall, batch: Batch, judging: BatchJudging): Maybe<void> {
  const index = judging.fates.length;
  const isBooked = startedEarly(batch, proposed) !== undefined;
  const key = `turn/${batch.turn}/call/${index}`;
  const hasBegun = isBooked || wasDecided(key, batch);
  if (judging.ended !== undefined && !hasBegun) {
    judging.fates.push(skipped(proposed, judging.ended.reason));
    return;
  }
  return after(reserve({ proposed, index, hasBegun, isBooked }, batch, judging), (end) => {
    if (end !== undefined) {
      judging.ended ??= { end, reason: end.excess?.message ?? "" };
      judging.fates.push(skipped(proposed, judging.ended.reason));
      return;
    }
    const { outer } = batch.run.scope;
    const narrowed = judging.gate === undefined ? batch : { ...batch, gate: judging.gate };
    const call = callAt(narrowed, { index, key, proposed, ledger: judging.ledger });
    const answeredCall = judging.answered === undefined ? call : { ...call, answered: judging.answered };
    outer?.count(proposed.name); // before it is judged: work beside it must see the count
    return after(judge(answeredCall), (fate) => {
      if (fate.type === "refused") outer?.count(proposed.name, -1);
      note(fate, batch, judging);
    });
  });
}

/**
 * True of a call that an earlier process began or refused. Three things do not concern such a call: a bound of the runs around, which work beside this run
 * may meet earlier now; a bound that was lowered since; and a cause that ends batches.
 */
function wasDecided(key: string, { run }: Batch): boolean {
  const { find, hasBegun } = run.journal;
  if (find === undefined) return false;
  if (find(key) !== undefined || hasBegun?.(key) === true) return true;
  const refused = refusalIn(key, find);
  return refused !== undefined && refused.result.status !== "skipped"; // nobody decided about a skipped call
}

/** A call of a batch, as the model wrote it; the ledger holds the calls before it. */
export function callAt(
  batch: Batch,
  { index, key, proposed, ledger }: Pick<Call, "index" | "key" | "proposed"> & Pick<Batch, "ledger">,
): Call {
  const { learned } = batch;
  const { uses, approved, spent } = ledger;
  return { batch, index, key, proposed, learned, uses, approved, spent, behind: questionsBehind };
}

/**
 * Notes what was decided: that the call runs, for tools whose uses are counted; that a person approved it for the whole run; whether it ends the
 * batch; and the tools that it takes away from the calls behind it.
 */
function note(fate: Fate, { gate, run }: Batch, judging: BatchJudging): void {
  judging.fates.push(fate);
  if (fate.answers !== undefined) judging.answered = [...(judging.answered ?? []), ...fate.answers];
  if (fate.type === "ready") return noteReady(fate, gate, judging);
  const { call, fatal, isUnknown, result } = fate;
  const halted = haltedBy(fate, run);
  if (halted !== undefined)
    judging.ended ??= { end: fatal === undefined ? {} : { fatal: { call, fatal } }, reason: halted };
  else if (isUnknown === true && run.endOn.includes("unknown-tool"))
    judging.ended ??= { end: { unknown: call }, reason: "an earlier call stopped the batch" };
  else if (result.status === "denied" && run.endOn.includes("blocked-call"))
    judging.ended ??= { end: {}, reason: "an earlier call was blocked" };
}

function noteReady(fate: Ready, gate: Batch["gate"], judging: BatchJudging): void {
  judging.ledger = withReady(judging.ledger, fate, gate);
  const restrictTo = fate.tool.mode?.(fate.args)?.restrictTo;
  if (restrictTo !== undefined) judging.gate = applyMode(judging.gate ?? gate, { restrictTo });
}

function withReady(
  ledger: Ledger,
  { call: { name }, approvedAs, request }: Ready,
  gate: Batch["gate"],
): Ledger {
  const { uses, approved = [], spent = [] } = ledger;
  const isCounted = gate.allowed.counted?.has(name) === true;
  const act = gate.plan === undefined ? undefined : request.knows.plan?.act;
  if (!isCounted && act === undefined && approvedAs === undefined) return ledger;
  return {
    ...ledger,
    ...(isCounted ? { uses: countCall(uses, name) } : {}),
    ...(act === undefined ? {} : { spent: [...spent, act.at] }),
    ...(approvedAs === undefined ? {} : { approved: [...approved, approvedAs] }),
  };
}

interface Reserving {
  readonly proposed: ToolCall;
  readonly index: number;
  /** True if the current bounds do not concern it: it began while its reply was read, or an earlier process decided about it. */
  readonly hasBegun: boolean;
  /** True if it began while its reply was read, and was booked then. */
  readonly isBooked: boolean;
}

/** Reserves a call, and asks the author about a bound that forbids it. Returns the end of the batch if the bound is not raised. */
function reserve(wanted: Reserving, batch: Batch, judging: BatchJudging): Maybe<BatchEnd | undefined> {
  const { outer } = batch.run.scope;
  const outerExcess = outer === undefined || wanted.hasBegun ? undefined : boundOf(wanted, batch, outer);
  if (outerExcess !== undefined) return after(outerExcess, (excess) => ({ excess })); // only the run around this one can raise it
  const { ledger, limits } = judging;
  const reservation = reserveCall(ledger, limits, sizeOf(wanted.proposed, limits));
  if (!reservation.ok) return extend(reservation.excess, wanted, { batch, judging });
  if (!wanted.isBooked) outer?.spend({ usage: noUsage, costUsd: 0, toolCalls: 1 });
  judging.ledger = reservation.ledger;
  return undefined;
}

function boundOf({ index }: Reserving, { turn, run }: Batch, outer: Purse): ReturnType<typeof outerBound> {
  return outerBound(`turn/${turn}/bound/${index}`, run.journal, () => outer.callExcess());
}

async function extend(
  excess: Excess<BudgetField>,
  wanted: Reserving,
  { batch, judging }: { readonly batch: Batch; readonly judging: BatchJudging },
): Promise<BatchEnd | undefined> {
  const place = { limits: judging.limits, turn: batch.turn, part: `call/${wanted.index}` };
  const met = await meetBound(excess, place, batch.run);
  if (met.type !== "extended" && wanted.hasBegun && !wanted.isBooked)
    return reserveBegun(excess, wanted, { batch, judging });
  if (met.type === "checkpoint") return { excess, checkpoint: true };
  if (met.type === "stop") return { excess };
  judging.limits = met.limits;
  return reserve(wanted, batch, judging);
}

/** Reserves a call that has begun: a bound that was lowered since does not stop it. */
async function reserveBegun(
  { field }: Excess<BudgetField>,
  wanted: Reserving,
  { batch, judging }: { readonly batch: Batch; readonly judging: BatchJudging },
): Promise<BatchEnd | undefined> {
  const { limits } = judging;
  judging.limits = { ...limits, [field]: Infinity };
  const end = await reserve(wanted, batch, judging);
  judging.limits = limits;
  return end;
}

/** The size that is reserved for a call. The size of its arguments is computed only if it is bounded. */
export function sizeOf(
  call: ToolCall,
  limits: Limits,
): { readonly tool: string; readonly argumentBytes: number } {
  if (limits.argumentBytes === Infinity) return { tool: call.name, argumentBytes: 0 };
  const text = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
  return { tool: call.name, argumentBytes: new TextEncoder().encode(text).length };
}

/** Runs the ready calls, group by group, through the journal. Their ends are told in the order of the calls. */
function runAll(judging: BatchJudging, batch: Batch): Maybe<Executed> {
  const { fates } = judging;
  const { run } = batch;
  run.scope.balance.now = judging;
  const running = new RunningBatch(batch, judging);
  const { executor } = run;
  if (executor !== undefined && running.waiting !== undefined) return collect(undefined, running); // the executor gets its calls together
  const isHanded = executor !== undefined && fates.some(({ type }) => type === "ready");
  if (isHanded) running.tellStarts([...fates.keys()]);
  const done = isHanded
    ? handOver(executor, running)
    : inOrder(groupsOf(fates, run), (group) => running.runGroup(group));
  return after(run.journal === directJournal ? done : after(done, keepRefusals, running), collect, running);
}

/** Hands the ready calls to the author's executor. */
async function handOver(executor: Executor, running: RunningBatch): Promise<void> {
  const broken = await carryOutBy(executor, running).catch((error) => running.leaveOff(error));
  if (broken === undefined) return;
  const { end = {}, reason = "" } = running.judging.ended ?? {};
  running.judging.ended = { end: { ...end, broken }, reason };
}

function collect(_done: unknown, running: RunningBatch): Executed {
  const waits = running.waits();
  if (waits !== undefined) throw waits;
  const { batch, fates, judging } = running;
  const { ledger, limits, ended } = judging;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every call has its record once all groups have run
  const records = running.records as readonly CallRecord[];
  const results: ToolResult[] = [];
  const modes: Mode[] = [];
  const inside: Inside[] = [];
  let escalated: Set<number> | undefined;
  let fatal = ended?.end.fatal;
  let endedAt = 0;
  let activeMs = 0;
  records.forEach((record, index) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- there is one fate for each record
    const fate = fates[index] as Fate;
    results.push(record.result);
    if (fate.inside !== undefined) inside.push(fate.inside);
    if (record.inside !== undefined) inside.push(record.inside);
    if (record.escalated === true) (escalated ??= new Set()).add(index);
    if (record.fatal !== undefined) fatal ??= { call: fate.call, fatal: record.fatal };
    activeMs += Math.max(0, record.endedAt - Math.max(endedAt, record.startedAt));
    endedAt = Math.max(endedAt, record.endedAt);
    const isDone = fate.type === "ready" && record.result.status === "ok";
    const mode = isDone ? fate.tool.mode?.(fate.args) : undefined;
    if (isDone && mode !== undefined) {
      modes.push(mode.plan === undefined ? mode : { ...mode, plan: agreed(mode.plan, fate) });
      const offers = toldBetween(batch.gate.allowed, applyMode(batch.gate, mode).allowed);
      if (offers.length > 0) results[index] = { ...record.result, offers };
    }
    if (record.cut !== undefined) modes.push({ reads: record.cut });
  });
  const executed: Executed = {
    fatal,
    results,
    ledger: afterCalls(ledger, batch, results),
    limits,
    modes,
    inside,
    escalated,
    endedAt,
    activeMs,
    brokenBy: running.brokenBy,
  };
  return ended === undefined ? executed : { ...ended.end, ...executed };
}

/**
 * The acts of a plan with their planner: the person who was asked, or the model, which had read nothing of strangers by then. A person's yes in the run that
 * this one is a fork of was for its calls: here the acts have no planner, and do not count.
 */
function agreed(acts: NonNullable<Mode["plan"]>, { decision, isOver }: Ready): Mode["plan"] {
  if (decision.verdict === "allow") return acts.map((act) => ({ ...act, by: "model" }));
  return isOver === true ? acts : acts.map((act) => ({ ...act, by: "person" }));
}

/** The ledger with the successes that constraints of other tools need. */
function afterCalls(ledger: Ledger, { gate, calls }: Batch, results: readonly ToolResult[]): Ledger {
  const { counted } = gate.allowed;
  if (counted === undefined) return ledger;
  const succeeded = calls.filter(({ name }, index) => counted.has(name) && results[index]?.status === "ok");
  return { ...ledger, uses: succeeded.reduce((uses, { name }) => countSuccess(uses, name), ledger.uses) };
}
