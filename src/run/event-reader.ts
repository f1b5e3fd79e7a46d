import type { AgentEvent } from "../event/event.ts";
import type { LoopResult } from "./finished.ts";
import type { Framed } from "./frame.ts";

/** A run that was begun, and the result that its reader gets at its end. */
export interface Readable<Result> {
  readonly framed: Framed;
  readonly finish: (result: LoopResult) => Result;
}

/**
 * Reads a run event by event, and returns the result of the run. The run begins when the first event is asked for; leaving early
 * cancels it. It is an iterator of its own, not generators inside generators: an event costs one promise per reader.
 */
export class EventReader<Result> implements AsyncGenerator<AgentEvent, Result, undefined> {
  private readonly begin: () => Promise<Readable<Result>> | Readable<Result>;
  private reading: Readable<Result> | Promise<Readable<Result>> | undefined;
  private isOver = false;
  /** Called when the reader itself is awaited; returns what undoes that. */
  private readonly onAwaited: (() => () => void) | undefined;
  private takeBack: (() => void) | undefined;

  constructor(begin: () => Promise<Readable<Result>> | Readable<Result>, onAwaited?: () => () => void) {
    this.begin = begin;
    this.onAwaited = onAwaited;
  }

  /** Always undefined. An `await` reads it, and awaiting the reader itself begins no run. */
  // oxlint-disable-next-line unicorn/no-thenable -- the way in which an `await` can be noticed
  get then(): undefined {
    if (this.reading === undefined && !this.isOver) this.takeBack ??= this.onAwaited?.();
    return undefined;
  }

  next(): Promise<IteratorResult<AgentEvent, Result>> {
    const { reading } = this;
    return this.isOver || reading === undefined || reading instanceof Promise
      ? this.firstOf(reading)
      : this.nextOf(reading);
  }

  private async firstOf(
    reading: Readable<Result> | Promise<Readable<Result>> | undefined,
  ): Promise<IteratorResult<AgentEvent, Result>> {
    if (this.isOver) return over();
    this.takeBack?.();
    try {
      const begun = await (this.reading = reading ?? this.begin());
      this.reading = begun;
      void begun.framed.end(); // whoever reads to the end gets its error
      return await this.nextOf(begun);
    } catch (error) {
      this.isOver = true;
      throw error;
    }
  }

  /** One promise an event: the run resolves it. */
  private nextOf(reading: Readable<Result>): Promise<IteratorResult<AgentEvent, Result>> {
    const { events } = reading.framed;
    return new Promise((resolve) => {
      const end = (): void => resolve(this.ended(reading));
      if (events === undefined) end();
      else events.take({ item: (value) => resolve({ done: false, value }), end });
    });
  }

  private async ended({ framed, finish }: Readable<Result>): Promise<IteratorResult<AgentEvent, Result>> {
    try {
      return { done: true, value: finish(await framed.end()) };
    } finally {
      this.isOver = true;
    }
  }

  async return(value: Result | PromiseLike<Result>): Promise<IteratorResult<AgentEvent, Result>> {
    await this.leave();
    return { done: true, value: await value };
  }

  async throw(error: unknown): Promise<IteratorResult<AgentEvent, Result>> {
    await this.leave();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
  }

  private async leave(): Promise<void> {
    const isRead = !this.isOver && this.reading !== undefined;
    this.isOver = true;
    if (isRead) await (await this.reading)?.framed.leave();
  }
}

/** The result of a generator that has already ended. TypeScript types it as if it had a value. */
function over<Result>(): IteratorResult<AgentEvent, Result> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- such a generator gives undefined
  return { done: true, value: undefined as Result };
}
