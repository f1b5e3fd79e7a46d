import { isWritError } from "../error/writ-error.ts";
import type { RunEvent } from "../event/event.ts";
import { directJournal } from "../journal/direct-journal.ts";
import type { Host } from "../journal/host.ts";
import {
  type Asked,
  type Journal,
  onTerms,
  type JournalQuestion,
  type Step,
  type StepTerms,
  withWork,
} from "../journal/journal.ts";
import { recall } from "../journal/recalled.ts";
import { PatientSteps } from "../journal/patient-steps.ts";
import { checkForm, endKey, startKey } from "../journal/record-form.ts";
import type { Interrupt } from "../util/interrupt.ts";
import type { JsonObject } from "../util/json.ts";
import { mapped } from "../util/mapped.ts";
import { lazy } from "../util/remembered.ts";
import { waitForAll } from "../util/wait-for-all.ts";
import { callEnded, type End, type Ending, isCancelled, type StopReason, stopped } from "./end.ts";
import { endFrom, isSameEnd, type KeptEnd, keptFrom, pauseKey } from "./kept-end.ts";
import { keptEnd, lookUp, pausesIn, Replay } from "./recorded-end.ts";
import { Standing, type StandsAt } from "./standing.ts";
import { handedOver, RunWaits } from "./waits.ts";

/** The run that the steps belong to. */
export interface StepsOptions {
  readonly journal: Journal;
  readonly runId: string;
  readonly host: Pick<Host, "now" | "timer">;
  /** The parts of what its steps are asked that may differ from the record. */
  readonly accept?: readonly string[];
  /** The interrupt of the call around the run. Left out for an outermost run: only that one ends for good. */
  readonly outer?: Pick<Interrupt<unknown>, "reason">;
  /** Everything needed to begin the run again, kept with its beginning. Left out for a run inside. */
  readonly beginning?: () => JsonObject;
  /** Aborted when the run is to be handed over: steps that have begun end, and no other begins. */
  readonly leaving?: AbortSignal;
}

type Ask = NonNullable<Journal["ask"]>;
type Cancelled = StopReason & { readonly type: "cancelled" };

/**
 * The journal as one run uses it. It knows how the run ended before, keeps how it ends this time, and makes a run that has ended do nothing more.
 * In a run that is replayed or handed over, no step begins.
 */
export class StepsOfRun implements Journal {
  readonly ask?: Journal["ask"];
  /** The journal as far as it answers: told once the run is to end, whether or not it does. */
  readonly patient: PatientSteps;
  private readonly options: StepsOptions;
  private readonly terms: StepTerms;
  private stop: Interrupt<StopReason> | undefined;
  replay: Replay | undefined;
  private readonly standing = new Standing();
  private readonly unanswered = new Set<string>();
  private atStop: StandsAt | undefined;
  private cancelling: Promise<void> | undefined;
  private wasBegun = false;
  private isAtWork = false;

  constructor(options: StepsOptions) {
    this.options = options;
    const { journal, runId: run, accept = [] } = options;
    this.patient = new PatientSteps(journal, options.host);
    this.terms = { run, accept: new Set(accept) };
    if (journal.mode === "replay") this.replay = new Replay(options, undefined);
    const ask: Journal["ask"] = (question) => this.askFor(question);
    if (journal.ask !== undefined || journal.mode === "replay") this.ask = ask;
  }

  /** The steps behind the journal of a run; undefined for a journal that records nothing. */
  static of(journal: Journal | undefined): StepsOfRun | undefined {
    return journal instanceof StepsOfRun ? journal : undefined;
  }

  get mode(): Journal["mode"] {
    return this.replay === undefined ? undefined : "replay";
  }

  get find(): Journal["find"] {
    return this.options.journal.find;
  }

  get recall(): Journal["recall"] {
    return this.options.journal.recall;
  }

  get hasBegun(): Journal["hasBegun"] {
    return this.options.journal.hasBegun;
  }

  get arrived(): Journal["arrived"] {
    return this.replay?.isFinal === true ? undefined : this.options.journal.arrived;
  }

  stopAt(key: string): void {
    this.replay?.stopAt(key);
  }

  get tellsInside(): Journal["tellsInside"] {
    return this.options.journal.tellsInside;
  }

  /** In a replay: the run was stopped here, between two steps, and the stop is about to be told. */
  get isStopping(): boolean {
    return this.replay?.isStopping === true;
  }

  /** True once the time of the run is over. */
  get isOver(): boolean {
    return this.stop?.reason?.type === "duration";
  }

  /** In a replay of a run that was stopped: true of a call that had begun or ended by then. */
  hadBegun(key: string): boolean {
    return this.replay?.hadBegun(key) === true;
  }

  /** The fields, beside the time, that the record of the run's beginning has; undefined for a run inside. */
  get beginning(): JsonObject | undefined {
    return this.options.beginning?.();
  }

  /** True if the run was begun before and has done nothing new yet. */
  get isPast(): boolean {
    return !this.isAtWork && this.replay === undefined && this.wasBegun;
  }

  /** Begins the run. A run that has ended for good is replayed from here on. @throws WritError `journal-newer` */
  begin(stop: Interrupt<StopReason>): void {
    const { journal } = this.options;
    this.stop = stop;
    if (!this.isInside) checkForm(journal, this.options.runId);
    this.wasBegun = this.find?.(startKey) !== undefined;
    if (journal.mode === "replay" || keptEnd(journal, endKey) !== undefined)
      this.replay = new Replay(this.options, stop);
    stop.onStop(() => {
      this.atStop ??= this.standing.place();
      this.patient.hurry();
    });
  }

  step<Result>(given: Step<Result>): Promise<Result> {
    const step = onTerms(given, this.terms);
    if (this.replay !== undefined) return this.replay.step(step);
    return this.taken([step], this.patient.step(this.live(step)));
  }

  all<Result>(given: readonly Step<Result>[]): Promise<Result[]> {
    const { replay } = this;
    const steps = mapped(given, (step) => onTerms(step, this.terms));
    if (replay !== undefined) return waitForAll(steps, (step) => replay.step(step));
    return this.taken(steps, this.patient.all(mapped(steps, (step) => this.live(step))));
  }

  recorded<Result>(given: readonly Step<Result>[]): Result[] | undefined {
    const { replay } = this;
    const steps = mapped(given, (step) => onTerms(step, this.terms));
    if (replay !== undefined) return replay.recorded(steps);
    const results = this.options.journal.recorded?.(steps);
    if (results !== undefined) this.standing.end(steps);
    return results;
  }

  /** Keeps records for people to read later, which no replay reads. They are not steps of the run: a hand-over does not keep them from beginning. */
  async keepBeside(kept: readonly { readonly key: string; readonly value: object }[]): Promise<void> {
    const { find, replay } = this;
    if (find === undefined || replay !== undefined) return;
    const missing = kept.filter(({ key }) => find(key) === undefined);
    const steps = missing.map(({ key, value }) => ({ key, isOuter: true as const, run: async () => value }));
    await this.patient.all(steps).catch((error: unknown) => this.refused(error));
  }

  /** True if the run is being cancelled: the record of that is under way or made. */
  get isCancelling(): boolean {
    return this.cancelling !== undefined;
  }

  /** Notes a fact that a step told before it had a result. */
  note(key: string, fact: RunEvent): void {
    this.standing.note(key, fact);
  }

  /** In a replay: the facts told by a step that left no result. */
  toldIn(key: string): readonly RunEvent[] {
    return this.replay?.reached?.told?.[key] ?? [];
  }

  /** Cancels the run: first for good in the journal, then in its work. */
  cancel(reason: Cancelled): Promise<void> {
    return (this.cancelling ??= this.cancelOnce(reason));
  }

  /**
   * Keeps how the run ended, and returns its end: in a replay the recorded one. If a cancel was recorded while the run came to another end,
   * the run ends as cancelled.
   */
  async keep(end: End, run: Ending): Promise<End> {
    const told = await this.cancelledEnd(end, run);
    if (told !== undefined) return told;
    if (this.replay !== undefined) {
      const { reached } = this.replay;
      return reached === undefined ? end : endFrom(reached, end);
    }
    await this.keepStopInside(end);
    const key = this.keyOfEnd(end);
    if (key === undefined) return end;
    const stop = this.stop?.reason;
    const isStop = stop !== undefined && stop.type !== "failed";
    try {
      await this.write(key, { ...this.keptEnd(end), ...(isStop ? { stop } : {}) });
      return end;
    } catch (error) {
      const late = isWritError(error, "run-ended") ? await this.cancelledEnd(end, run) : undefined;
      if (late === undefined) throw error;
      return late;
    }
  }

  /** The end of a run that was cancelled while it came to another end; undefined if it was not. */
  private async cancelledEnd(end: End, run: Ending): Promise<End | undefined> {
    await this.cancelling;
    const reason = this.cancelling === undefined ? undefined : this.stop?.reason;
    if (reason?.type !== "cancelled" || end.throws === true) return undefined;
    const told = stopped(run, reason);
    await this.keepStopInside(told);
    return told;
  }

  /**
   * Keeps where a run inside was stopped, unless a run around it was cancelled. The end of the cancelled run says where it was stopped, and a replay that
   * stopped the inner run separately would end the work beside it. The call tells a failure of the journal.
   */
  private async keepStopInside(end: End): Promise<void> {
    const { outer } = this.options;
    const stop = this.stop?.reason;
    const isAlone = outer !== undefined && (outer.reason === callEnded || !isCancelled(outer.reason));
    if (!isAlone || stop?.type !== "cancelled" || this.replay !== undefined || this.find === undefined)
      return;
    await this.write(this.nextPause(), { ...this.keptEnd(end), stop }).catch(() => undefined);
  }

  /** The key of an end; undefined if earlier records give the end or it is already kept. A run with an earlier kept end keeps a different one too. */
  private keyOfEnd(end: End): string | undefined {
    const key = this.keyOfEndAlone(end);
    if (key !== undefined || this.find === undefined || this.stop?.reason?.type === "cancelled") return key;
    const before = pausesIn(this.options.journal).at(-1);
    if (before === undefined) return undefined;
    return before.stop === undefined && isSameEnd(before, keptFrom(end)) ? undefined : this.nextPause();
  }

  private keyOfEndAlone({ outcome, questions, throws }: End): string | undefined {
    const stop = this.stop?.reason;
    const { isLeft } = this.standing;
    if (stop?.type === "cancelled" || this.find === undefined) return undefined;
    if (questions !== undefined) {
      const waits = outcome.type === "suspended" && outcome.field === "answers";
      return isLeft && waits ? this.nextPause() : undefined;
    }
    if (isLeft || stop !== undefined) return this.nextPause();
    const isOpenEnd = throws === true || outcome.type === "suspended" || outcome.type === "exhausted";
    return this.isInside || isOpenEnd ? undefined : endKey;
  }

  private get isInside(): boolean {
    return this.options.outer !== undefined;
  }

  private nextPause(): string {
    return pauseKey(pausesIn(this.options.journal).length + 1);
  }

  private keptEnd(end: End): KeptEnd {
    const place = this.atStop ?? this.standing.place();
    return {
      ...keptFrom(end),
      at: this.options.host.now(),
      ...place,
      ...(this.unanswered.size === 0 ? {} : { unanswered: [...this.unanswered] }),
      ...this.standing.leftBehind(),
      ...this.standing.toldBy(place),
    };
  }

  private async cancelOnce(reason: Cancelled): Promise<void> {
    this.patient.hurry();
    try {
      if (!this.isInside && this.replay === undefined && this.find !== undefined)
        await this.write(endKey, { ...this.keptEnd({ outcome: reason }), stop: reason });
      this.stop?.stop(reason);
    } catch (cause) {
      this.stop?.stop(isWritError(cause, "run-ended") ? reason : { type: "failed", cause });
    }
  }

  private async write(key: string, kept: KeptEnd): Promise<void> {
    await this.patient.step({ key, mustLast: true, run: () => Promise.resolve(kept) });
  }

  /** Waits for results, and notes the steps that have ended: if one of several has none, the recorded ones. */
  private async taken<Value>(steps: readonly Step<unknown>[], recorded: Promise<Value>): Promise<Value> {
    try {
      const value = await recorded;
      this.standing.end(steps);
      return value;
    } catch (error) {
      this.standing.end(steps.filter(({ key }) => this.find?.(key) !== undefined));
      return this.refused(error);
    }
  }

  /** Throws the journal's error. If the journal refuses because the run was cancelled, the run has stopped by then. */
  private async refused(error: unknown): Promise<never> {
    if (isWritError(error, "run-ended")) await this.cancelling;
    throw error;
  }

  private live<Result>(step: Step<Result>): Step<Result> {
    const { lost, isOuter = false } = step;
    if (this.mayNotBegin(step)) return lookUp(step, () => this.keptBack(step));
    return withWork(step, (work) => {
      if (lost === undefined && this.mayNotBegin(step)) return Promise.reject(this.keptBack(step));
      this.isAtWork ||= !isOuter;
      this.standing.begin(step);
      return work().catch((error: unknown) => {
        if (!isOuter && error instanceof RunWaits && error.isHandedOver) this.standing.handOver(step);
        throw error;
      });
    });
  }

  /** True once the outermost run is handed over. Exceptions: steps inside an effect under way that may not happen twice, and the end of a stopped run. */
  private mayNotBegin({ key, isOuter }: Step<unknown>): boolean {
    const { leaving } = this.options;
    if (this.isInside || leaving?.aborted !== true || isOuter === true) return false;
    if (this.stop?.reason !== undefined) return false;
    return !this.standing.isInsideOnce(key);
  }

  private keptBack(step: Pick<Step<unknown>, "key">): Error {
    this.standing.handOver(step);
    return recall(handedOver());
  }

  /** Asks a question. In a replay, a question without an answer is one that the run waits for. */
  private async askFor<Answer>(question: JournalQuestion): Promise<Asked<Answer>> {
    const { journal, leaving } = this.options;
    const { replay } = this;
    const isOver = replay !== undefined || leaving?.aborted === true;
    if (replay?.isUnanswered(question.key) === true) return { waitsAt: question.key };
    replay?.checkHandedOver(question.key);
    if (journal.ask !== undefined && (this.isInside || !isOver)) return this.askLive(journal.ask, question);
    const notAnswered = lazy(handedOver);
    try {
      const { request: _request, ...asked } = onTerms(question, this.terms);
      return { answer: await journal.step({ ...asked, run: () => Promise.reject(notAnswered()) }) };
    } catch (error) {
      if (error !== notAnswered()) throw error;
      if (replay === undefined) throw this.keptBack(question);
      const stop = replay.stoppedAt(question);
      if (stop !== undefined) throw stop;
      return { waitsAt: question.key };
    }
  }

  private async askLive<Answer>(ask: Ask, question: JournalQuestion): Promise<Asked<Answer>> {
    const asked = await ask<Answer>(onTerms(question, this.terms)).catch((error) => this.refused(error));
    if ("waitsAt" in asked) this.unanswered.add(question.key);
    return asked;
  }
}

/** The journal of a run that knows its steps; a journal that records nothing stays as it is. */
export function stepsIn(options: StepsOptions): Journal {
  return options.journal === directJournal ? directJournal : new StepsOfRun(options);
}
