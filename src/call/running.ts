import { isWritError } from "../error/writ-error.ts";
import { directJournal } from "../journal/direct-journal.ts";
import { restored } from "../policy/account/budget.ts";
import { StepsOfRun } from "../run/steps-of-run.ts";
import { endsRun } from "../run/end.ts";
import { RunWaits } from "../run/waits.ts";
import { mapped } from "../util/mapped.ts";
import { after, type Maybe, rescue } from "../util/maybe.ts";
import type { Ordering } from "../run/context.ts";
import type { Tool } from "../tool/tool.ts";
import {
  bookCalls,
  forbidden,
  forbiddenBefore,
  type ForbiddenCall,
  keepForbidden,
  paidKey,
} from "./booked.ts";
import type { BatchJudging } from "./judging-batch.ts";
import type { Batch, CallRecord, Fate, Halt, Ready } from "./call.ts";
import { runLost } from "./lost.ts";
import { recorded, stepOf } from "./step.ts";
import { retell, runCall } from "./run.ts";
import { brokenRecord, cancelledResult, overtakenResult, skippedResult } from "./refused.ts";
import { asTold, haltedBy, notRun, tellEnd, toldOfChanges } from "./settle.ts";

/** The calls of a batch while they run. */
export class RunningBatch {
  readonly records: (CallRecord | undefined)[] = [];
  /** The questions that calls wait for: their own, and those of the runs inside them. */
  waiting: RunWaits | undefined;
  /** The reason why the run cannot go on after the batch, such as a journal that no longer keeps anything. */
  brokenBy: { readonly cause: unknown } | undefined;
  private hasWaited = false;
  /** The runs inside calls that wait or have no record, by the places of the calls. */
  private left: Map<number, RunWaits["inside"]> | undefined;
  readonly batch: Batch;
  readonly judging: BatchJudging;
  readonly fates: readonly Fate[];
  private readonly halt: Halt = {};
  /** The calls whose beginning was told. */
  private begun: Set<number> | undefined;
  /** The calls that a stop kept from beginning. */
  private held: Set<number> | undefined;
  /** The number of calls whose end was told. */
  private told = 0;

  constructor(batch: Batch, judging: BatchJudging) {
    const { fates } = judging;
    this.batch = batch;
    this.judging = judging;
    this.fates = fates;
    for (const fate of fates) {
      this.records.push(fate.type === "refused" ? notRun(fate) : undefined);
      if (fate.type === "ready" && fate.waits !== undefined) this.wait(new RunWaits([fate.waits]));
    }
    this.tellEnds();
  }

  /** Runs calls side by side. After a group with a waiting call no other group begins: it may depend on that call. */
  runGroup(group: readonly number[]): Maybe<unknown> {
    if (this.hasWaited) return undefined;
    const free =
      this.waiting === undefined ? group : group.filter((index) => this.readyAt(index).waits === undefined);
    this.hasWaited = free.length < group.length;
    const wanted = this.halt.reason === undefined ? free : this.skip(free, this.halt.reason);
    this.tellStarts(wanted);
    if (this.batch.run.journal !== directJournal) return this.runRecorded(wanted);
    let waiting: Promise<unknown>[] | undefined;
    for (const index of wanted) {
      const running = this.perform(index);
      if (!(running instanceof Promise)) continue;
      if (waiting === undefined) waiting = [running];
      else waiting.push(running);
    }
    return waiting?.length === 1 ? waiting[0] : waiting && Promise.all(waiting);
  }

  /** Tells the beginnings of calls, in order, except of those that wait for a person or were stopped before. Knowledge was told when it was read. */
  tellStarts(group: readonly number[]): void {
    const { run, turn } = this.batch;
    const isNoted = run.tell !== undefined || run.stop.reason !== undefined || run.journal !== directJournal;
    if (!isNoted) return;
    for (const index of group) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- there is one fate for each place
      const fate = this.fates[index] as Fate;
      if (fate.type === "refused" || fate.tool.kind === "knowledge") continue;
      if (isHeldBack(fate, run)) {
        (this.held ??= new Set()).add(index);
        continue;
      }
      (this.begun ??= new Set()).add(index);
      const { id: callId, name, arguments: args } = fate.call;
      run.tell?.({ type: "tool-start", turn, callId, name, arguments: args });
    }
  }

  /** Skips the calls that have not begun; returns the others. */
  private skip(group: readonly number[], reason: string): readonly number[] {
    return group.filter((index) => {
      const { early, at } = this.readyAt(index);
      const hasBegun = early !== undefined || at.before?.hasRun === true;
      if (!hasBegun) this.end(index, { result: skippedResult(reason), startedAt: 0, endedAt: 0 });
      return hasBegun;
    });
  }

  /** Runs calls that a journal records. It has no record of a call that an account forbids. */
  private runRecorded(group: readonly number[]): Maybe<void> {
    const { journal, scope } = this.batch.run;
    const isBooked = scope.accounts !== undefined && journal.find !== undefined && journal.mode !== "replay";
    return isBooked ? this.runBooked(group) : this.runSteps(group);
  }

  private async runBooked(group: readonly number[]): Promise<void> {
    const ready = group.map((index) => this.readyAt(index));
    const found = await bookCalls(ready, this.halt);
    await this.runSteps(group.slice(0, found?.place));
    const call = ready[found?.place ?? ready.length];
    if (found === undefined || call === undefined || this.hasWaited) return;
    await keepForbidden(call, found.excess).catch((error) => this.breakOff(error));
    return this.runSteps(this.endForbidden(group, found));
  }

  /** In a replay: ends the calls of a group in which an account forbade one. True if that gave each of them its end. */
  private endedForbidden(group: readonly number[]): boolean {
    const ready = group.map((index) => this.readyAt(index));
    const found = forbiddenBefore(ready, this.batch.run.journal);
    if (found === undefined) return false;
    this.endForbidden(group, found);
    return group.every((index) => this.records[index] !== undefined);
  }

  /** Ends the call that an account forbids; returns those behind it that have begun, and skips the others. */
  private endForbidden(group: readonly number[], found: ForbiddenCall): readonly number[] {
    const [first = 0, ...behind] = group.slice(found.place);
    this.end(first, { ...forbidden(found.excess), startedAt: 0, endedAt: 0 });
    return this.skip(behind, this.halt.reason ?? "");
  }

  private runSteps(group: readonly number[]): Maybe<void> {
    if (group.length === 0) return undefined;
    const { journal } = this.batch.run;
    const entered = new Set<number>();
    this.spendAgain(group);
    const steps = mapped(group, (index) => {
      const ready = this.readyAt(index);
      const perform = (isLost: boolean): Maybe<CallRecord> => {
        entered.add(index);
        return this.performNoted(index, isLost);
      };
      return stepOf(ready, perform, (stop) => retell(ready, stop));
    });
    const kept = rescue<readonly CallRecord[]>(
      () => journal.recorded?.(steps) ?? recorded(steps, journal),
      (error) => {
        this.endRecorded(group);
        if (this.endedForbidden(group)) return [];
        if (isWritError(error, "run-ended")) this.neverBegan(group.filter((index) => !entered.has(index)));
        this.leaveOff(error);
        return [];
      },
    );
    return after(kept, (records) => this.endKept(records, group));
  }

  /** Forgets the told beginnings of calls that the journal of a cancelled run refused, except those that an earlier process began. */
  private neverBegan(group: readonly number[]): void {
    const { journal } = this.batch.run;
    for (const index of group)
      if (journal.hasBegun?.(this.readyAt(index).at.key) !== true) this.begun?.delete(index);
  }

  private endKept(records: readonly CallRecord[], group: readonly number[]): void {
    for (const [place, record] of records.entries()) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- there is one record for each call of the group
      const index = group[place] as number;
      this.end(index, record);
    }
  }

  /** Books the spending of runs inside calls that an earlier process carried out: the runs inside other calls share the rest. */
  private spendAgain(group: readonly number[]): void {
    const { journal, scope } = this.batch.run;
    if (journal.mode === "replay") return;
    for (const index of group) {
      const inside = this.keptAt(index)?.inside;
      if (inside !== undefined) scope.purse.spend(restored(inside.spending));
    }
  }

  /** Ends the calls of a group that have a record, when others have none: the earlier process that ended them told it at this place too. */
  private endRecorded(group: readonly number[]): void {
    for (const index of group) {
      const record = this.keptAt(index);
      if (record !== undefined) this.end(index, record);
    }
  }

  /** The record of a call that an earlier process carried out. */
  private keptAt(index: number): CallRecord | undefined {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a call of this key wrote it
    return this.batch.run.journal.find?.(this.readyAt(index).at.key) as CallRecord | undefined;
  }

  /** Returns the questions that the batch, and so the run, waits for. If the run was stopped meanwhile, its calls end by that. */
  waits(): RunWaits | undefined {
    if (this.waiting === undefined) return undefined;
    if (this.batch.run.stop.reason === undefined)
      return this.waiting
        .leaving(...this.fates.map(({ inside }) => inside), ...this.records.map((record) => record?.inside))
        .beside(this.records.map((record) => record?.result));
    this.endStopped();
    return undefined;
  }

  /** Ends the calls that a stop left without a record: for a call that had begun to change something, itself or by runs inside, nobody knows the outcome. */
  private endStopped(): void {
    this.eachOpen(({ tool }, index) => {
      const inside = this.left?.get(index)?.[0];
      const stopped = cancelledResult(tool.name);
      const isOpen = this.begun?.has(index) === true;
      const ended = isOpen ? overtakenResult(tool, stopped, inside?.acts !== undefined) : stopped;
      this.end(index, { result: toldOfChanges(ended, inside), startedAt: 0, endedAt: 0, inside });
    });
  }

  /** Gives each call without a record one, if the run cannot go on. If it may go on later or elsewhere, their ends are told there, not here. */
  breakOff(cause: unknown): void {
    this.brokenBy ??= { cause };
    const { run } = this.batch;
    const isOver = endsRun(cause, run);
    this.eachOpen(({ early, at, tool: { name } }, index) => {
      const hasBegun = early !== undefined || (this.begun?.has(index) ?? run.journal === directJournal);
      const record = {
        inside: this.left?.get(index)?.[0],
        ...brokenRecord({ key: at.key, name }, run, hasBegun),
      };
      if (isOver) this.end(index, record);
      else this.records[index] = record;
    });
  }

  private eachOpen(end: (ready: Ready, index: number) => void): void {
    this.fates.forEach((fate, index) => {
      if (fate.type === "ready" && this.records[index] === undefined) end(fate, index);
    });
  }

  /** Notes why calls have no record: a run inside one waits, or the run cannot go on. The calls beside them have ended. */
  leaveOff(error: unknown): void {
    this.hasWaited = true;
    if (error instanceof RunWaits) return this.wait(error);
    const { stop, journal } = this.batch.run;
    if (stop.reason !== undefined) return this.endStopped();
    const isLeft = journal.mode === "replay" && StepsOfRun.of(journal)?.isOver === true;
    if (isLeft) return this.wait(new RunWaits([], true)); // part of the batch waited when its time ended, and no record says so of calls that had not begun
    this.breakOff(error);
  }

  private wait(waits: RunWaits): void {
    this.waiting = this.waiting === undefined ? waits : this.waiting.and(waits);
  }

  /** Runs one call, and notes what happened inside it if it waits or has no record. */
  private performNoted(index: number, isLost: boolean): Maybe<CallRecord> {
    return rescue<CallRecord>(
      () => this.perform(index, isLost),
      async (error) => {
        const inside = this.halt.inside?.get(this.readyAt(index).at.key);
        if (error instanceof RunWaits) await this.leave(index, error);
        else if (inside !== undefined) (this.left ??= new Map()).set(index, [inside]);
        throw error;
      },
    );
  }

  /** Notes what is known of a call that waits or is handed over: it begins again when the run goes on. */
  private async leave(index: number, { inside }: RunWaits): Promise<void> {
    (this.left ??= new Map()).set(index, inside);
    const { journal, scope } = this.batch.run;
    if (scope.accounts === undefined) return;
    const key = paidKey(this.readyAt(index).at.key);
    await StepsOfRun.of(journal)?.keepBeside([{ key, value: {} }]);
  }

  /** Runs one call, or finds the outcome of one that an earlier process began. */
  perform(index: number, isLost = false): Maybe<CallRecord> {
    const ready = this.readyAt(index);
    const carryOut = isLost ? runLost : runCall;
    ready.early?.release(ready.at.key);
    const ended = ready.early?.record ?? carryOut(ready, this.halt);
    return ended instanceof Promise
      ? ended.then((record) => this.end(index, asTold(ready, record)))
      : this.end(index, asTold(ready, ended));
  }

  private readyAt(index: number): Ready {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- groups hold the places of calls that are ready
    return this.fates[index] as Ready;
  }

  /** Notes the end of a call, and tells it once the calls before it have ended. */
  end(index: number, ended: CallRecord): CallRecord {
    const record: CallRecord = this.held?.has(index) === true ? { ...ended, held: true } : ended;
    this.halt.reason ??= haltedBy(record, this.batch.run);
    const isNew = this.records[index] === undefined;
    this.records[index] = record;
    this.tellEnds();
    if (isNew && index >= this.told) this.tellEnded(index, record);
    return record;
  }

  /** Tells live watchers of a call that ended before an earlier one. */
  private tellEnded(index: number, { result, startedAt, endedAt }: CallRecord): void {
    const { run, turn } = this.batch;
    const { id: callId } = this.readyAt(index).call;
    const durationMs = endedAt - startedAt;
    run.tell?.({ type: "call-state", turn, callId, state: "ended", status: result.status, durationMs });
  }

  private tellEnds(): void {
    for (let record = this.records[this.told]; record !== undefined; record = this.records[this.told]) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- there is one fate for each record
      tellEnd(this.batch, this.fates[this.told] as Fate, record);
      this.told += 1;
    }
  }
}

/** True of a call that a stop keeps from beginning, or kept from it in an earlier process of the run. */
function isHeldBack({ at: { key }, early }: Ready, { journal, stop }: Batch["run"]): boolean {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a call of this key wrote it
  if ((journal.find?.(key) as CallRecord | undefined)?.held === true) return true;
  const steps = StepsOfRun.of(journal);
  const isStopped = stop.reason !== undefined || steps?.isStopping === true;
  return (
    isStopped && early === undefined && steps?.hadBegun(key) !== true && journal.hasBegun?.(key) !== true
  );
}

/** The calls to run, by place, in groups that run one after another; the calls of a group run side by side. */
export function groupsOf(fates: readonly Fate[], ordering: Ordering): readonly (readonly number[])[] {
  const groups: number[][] = [];
  let isOpen = false;
  fates.forEach((fate, index) => {
    if (fate.type === "refused") return;
    const isAlone = isOrdered(fate.tool, ordering);
    if (isOpen && !isAlone) groups.at(-1)?.push(index);
    else groups.push([index]);
    isOpen = !isAlone;
  });
  return groups;
}

/**
 * Tells whether a call of the tool waits for the calls before it, and later calls wait for it: by default if the tool changes
 * something. If a failure ends the run, a tool that does not declare its effect counts as one that may change something.
 */
export function isOrdered({ effect }: Tool, { concurrency, endOn }: Ordering): boolean {
  if (concurrency !== undefined) return concurrency === 1;
  return (
    effect === "write" ||
    effect === "irreversible" ||
    (effect === "undeclared" && endOn.includes("tool-failure"))
  );
}
