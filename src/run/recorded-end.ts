import { WritError } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";
import type { Journal, JournalQuestion, Step } from "../journal/journal.ts";
import { recall } from "../journal/recalled.ts";
import { endKey } from "../journal/record-form.ts";
import type { ToolResult } from "../message/message.ts";
import type { Limits } from "../policy/account/budget.ts";
import { interrupt, type Interrupt } from "../util/interrupt.ts";
import { lazy } from "../util/remembered.ts";
import type { StopReason } from "./end.ts";
import { errorIn, type KeptEnd, pauseKey } from "./kept-end.ts";
import { handedOver, RunWaits } from "./waits.ts";

/** In place of a question: a run inside was left where it waits. */
const insideWaits = null;

/** The run that is replayed. */
export interface ReplayOptions {
  readonly journal: Journal;
  readonly runId: string;
  readonly host: Pick<Host, "timer">;
  /** Left out for an outermost run. */
  readonly outer?: unknown;
  /** True for the runs inside that are told again: the runs around them are stopped where they come to the call themselves. */
  readonly isTelling?: true;
}

/** The steps of a replayed run: each gives its recorded result. At a step without one, the run ends as it ended then. */
export class Replay {
  /** The recorded end that the run came to. */
  reached: KeptEnd | undefined;
  /** The run was stopped after the last step, before anything else began: the stop is told once the run has taken that result. */
  isStopping = false;
  private readonly options: ReplayOptions;
  private readonly stop: Interrupt<StopReason> | undefined;
  /** The steps that had a result. */
  private readonly done = new Set<string>();
  /** The calls whose runs inside are being told again, and their end in place of the end of this run. */
  private readonly retold = new Map<string, Promise<unknown>>();
  private readonly telling = lazy(() => {
    const stop = interrupt<StopReason>();
    return { stop, replay: new Replay({ ...this.options, isTelling: true }, stop) };
  });
  private readonly fixedEnd = lazy(() => lastEnd(this.options.journal));

  constructor(options: ReplayOptions, stop: Interrupt<StopReason> | undefined) {
    this.options = options;
    this.stop = stop;
    const end = this.end();
    if (end !== undefined && isBetween(end, undefined)) this.stopAs(end, end.stop);
  }

  /** The results of several steps at once, for a run that was not stopped: the place of a stop is looked for step by step. */
  recorded<Result>(steps: readonly Step<Result>[]): Result[] | undefined {
    const { journal } = this.options;
    if (steps.some(({ isOuter }) => isOuter) || this.end()?.stop !== undefined) return undefined;
    const results = journal.recorded?.(steps);
    if (results !== undefined && journal.arrived !== undefined)
      for (const { key } of steps) this.done.add(key);
    return results;
  }

  async step<Result>(step: Step<Result>): Promise<Result> {
    const { key, isOuter = false } = step;
    if (this.isRetold(key)) return this.telling().replay.step(step);
    const { journal } = this.options;
    if (isOuter) await this.inside(step);
    const isMissing = journal.find !== undefined && journal.find(key) === undefined;
    if (isMissing && isOuter) {
      await this.allRetold();
      return step.run();
    }
    const end = this.end();
    if (isMissing) this.checkHandedOver(key);
    if (end?.stop !== undefined && (this.isStopping || end.open.includes(key))) {
      await this.others();
      this.stopAround(key); // the runs around that were stopped here say why
      this.stopAs(end, end.stop);
    }
    if (isMissing) await this.leave(step);
    const value = await journal.step(lookUp(step, () => this.missing(key)));
    this.done.add(key);
    if (end !== undefined && isBetween(end, key)) this.stopSoon(end, end.stop);
    return value;
  }

  /** True of a call that had begun or ended when the run was stopped: a call that was kept from beginning has a record that says so. */
  hadBegun(key: string): boolean {
    const { open = [], handedOver = [] } = this.end() ?? {};
    if (open.includes(key) || handedOver.includes(key)) return true;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a call of this key wrote it
    const record = this.options.journal.find?.(key) as { readonly result: ToolResult } | undefined;
    return record !== undefined && record.result.status !== "cancelled" && record.result.status !== "skipped";
  }

  /** True of a step that was left without a result. A run that is followed while it waits goes on with the step later. */
  private isLost(key: string): boolean {
    const { journal } = this.options;
    const { open = [], questions } = this.end() ?? {};
    const goesOn = questions !== undefined && journal.arrived !== undefined;
    return (open.includes(key) && !goesOn) || isTakenOver(key, journal);
  }

  /** Stops the run if it was stopped in a step of a run inside, after those around it. */
  stopAt(key: string): void {
    if (this.isRetold(key)) return this.telling().replay.stopAt(key);
    this.stopAround(key);
    const end = this.end();
    if (end?.stop !== undefined && end.open.includes(key)) this.stopAs(end, end.stop);
  }

  /** Waits for the runs beside each other: they are stopped together. */
  private async allRetold(): Promise<void> {
    while (this.retold.size > 0) await Promise.all(this.retold.values());
  }

  private stopAround(key: string): void {
    if (this.options.isTelling !== true) this.options.journal.stopAt?.(key);
  }

  private isRetold(key: string): boolean {
    return [...this.retold.keys()].some((call) => key.startsWith(`${call}/`));
  }

  /** Tells what happens inside a step, and waits for its record if that may still come. */
  private async inside({ key, retell }: Step<unknown>): Promise<void> {
    const { arrived, find, tellsInside } = this.options.journal;
    const mayCome = arrived !== undefined && !this.isFinal;
    const isTold = tellsInside === true && (mayCome || find?.(key) !== undefined);
    const told = isTold && retell ? Promise.resolve(this.telling().stop).then(retell) : undefined;
    const both = Promise.all([told, arrived?.(key)]).finally(() => this.retold.delete(key));
    if (told !== undefined) this.retold.set(key, both);
    await both;
  }

  /** @throws RunWaits for a step or a question that was left to another process when the run was stopped here */
  checkHandedOver(key: string): void {
    if (this.end()?.handedOver?.includes(key) === true) throw recall(handedOver());
  }

  /** True of a question whose answer, if any, came after the end. */
  isUnanswered(key: string): boolean {
    return this.end()?.unanswered?.includes(key) === true;
  }

  /** The error that a question without an answer ends in, if the run was stopped meanwhile. Undefined if the run waits for it. A run inside that waits asks no question again: only the end for good counts for it. */
  stoppedAt({ key, request }: Pick<JournalQuestion, "key" | "request">): Error | undefined {
    if (this.isRetold(key)) return this.telling().replay.stoppedAt({ key, request });
    const end = this.end();
    if (end?.stop === undefined || (request === insideWaits && !this.isFinal)) return undefined;
    return this.stopAs(end, end.stop);
  }

  /** The recorded end: the last of several. More ends come only in a run that is followed. */
  private end(): KeptEnd | undefined {
    const { journal } = this.options;
    return journal.arrived === undefined ? this.fixedEnd() : lastEnd(journal);
  }

  /**
   * Ends a step that was left without a result. A run inside may have been ended by one beside it that threw, which waits once itself. One that waits there
   * asks the runs around it: one that was cancelled waits for nothing.
   */
  private async leave({ key, fingerprint }: Step<unknown>): Promise<void> {
    const { journal, outer } = this.options;
    const { error, questions } = this.end() ?? {};
    if (error?.throws === true && isOfInner(key)) await this.others().then(() => this.others());
    if (!this.isLost(key)) return;
    if (outer !== undefined && questions !== undefined)
      await journal.ask?.({ key, fingerprint, request: insideWaits });
    throw this.missing(key);
  }

  /** The error for a step without a record: the run ended there, or its records do. */
  private missing(key: string): Error {
    const end = this.end();
    const isOpen = end?.open.includes(key) === true;
    if (end?.stop !== undefined && (isOpen || (this.isFinal && !isTakenOver(key, this.options.journal))))
      return this.stopAs(end, end.stop);
    const error = isOpen ? errorIn(end) : undefined;
    if (end === undefined || error === undefined)
      return new WritError("journal-ended", { run: this.options.runId, key });
    this.reached = end;
    return end.questions === undefined ? recall(error) : new RunWaits(end.questions);
  }

  /** True once the run has ended for good: no record follows. */
  get isFinal(): boolean {
    return keptEnd(this.options.journal, endKey) !== undefined;
  }

  private stopAs(end: KeptEnd, reason: StopReason): Error {
    this.reached = end;
    this.stop?.stop(reason);
    return recall(new Error("the run was stopped here"));
  }

  /** Stops a run that had nothing under way: once it has taken the last result, or with its next step. */
  private stopSoon(end: KeptEnd, reason: StopReason): void {
    this.isStopping = true;
    this.options.host.timer(0, () => void this.stopAs(end, reason));
  }

  /** Waits until everything beside a step has come as far as its records go: to an open step, a question, or its end. */
  async others(): Promise<void> {
    for (let before = -1; before < this.done.size;) {
      before = this.done.size;
      await new Promise<void>((resolve) => void this.options.host.timer(0, resolve));
    }
  }
}

function lastEnd(journal: Journal): KeptEnd | undefined {
  return keptEnd(journal, endKey) ?? pausesIn(journal).at(-1);
}

/** The ends that are not for good, in order. */
export function pausesIn(journal: Journal): readonly KeptEnd[] {
  const pauses: KeptEnd[] = [];
  for (;;) {
    const next = keptEnd(journal, pauseKey(pauses.length + 1));
    if (next === undefined) return pauses;
    pauses.push(next);
  }
}

/** The bounds of a replayed run: it meets the bound that it met, though its agent may have a larger one by now. */
export function boundsOfReplay(journal: Journal, limits: Limits): Limits {
  const outcome = lastEnd(journal)?.outcome;
  if (outcome?.type !== "exhausted" && outcome?.type !== "suspended") return limits;
  const { field, limit, account } = outcome;
  const isRaised = account === undefined && isBound(field, limits) && limits[field] > limit;
  return isRaised ? { ...limits, [field]: limit } : limits;
}

function isBound(field: string, limits: Limits): field is keyof Limits {
  return Object.hasOwn(limits, field);
}

/** The end that is kept under a key. */
export function keptEnd(journal: Journal, key: string): KeptEnd | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a run of this form wrote it
  return journal.find?.(key) as KeptEnd | undefined;
}

/** True of a step inside a call that has a record of its own: the call ended without the step. */
export function isTakenOver(key: string, { find }: Pick<Journal, "find">): boolean {
  return [...key.matchAll(/(?:^|\/)call\/\d+(?=\/)/g)].some(
    ({ 0: call, index }) => find?.(key.slice(0, index + call.length)) !== undefined,
  );
}

/** True of a step of a run inside. */
function isOfInner(key: string): boolean {
  return /~[^/]*\/\d+\//.test(key);
}

/** True of a question that nothing waits for any more: the call around it ended without it, or its run is a turn further. */
export function isPassed(key: string, journal: Pick<Journal, "find">): boolean {
  const has = (other: string): boolean => journal.find?.(other) !== undefined;
  const isLate = [...key.matchAll(/(?<=^|\/)turn\/(\d+)(?=\/)/g)].some(({ 1: turn, index }) =>
    has(`${key.slice(0, index)}turn/${Number(turn) + 1}/model`),
  );
  const isLoser = [...key.matchAll(/(?<=^|~[^/]*\/\d+\/)\d+(\/\d+)?(?=\/[^/]*~)/g)].some(
    ({ 1: round = "", index }) => has(`${key.slice(0, index)}settled${round}`),
  );
  return isLate || isLoser || isTakenOver(key, journal);
}

/** A step that is only looked up: it rejects if it has no record. */
export function lookUp<Result>({ lost: _lost, ...step }: Step<Result>, why: () => Error): Step<Result> {
  return { ...step, run: () => Promise.reject(why()) };
}

/** True if a run was stopped after a step, before anything else began. */
function isBetween(
  end: KeptEnd,
  after: string | undefined,
): end is KeptEnd & Required<Pick<KeptEnd, "stop">> {
  return end.stop !== undefined && end.open.length === 0 && end.after === after;
}
