import type { Maybe } from "./maybe.ts";

/**
 * A way to stop work that is under way, once. Like an `AbortController`, with listeners that are cheap to add and take back: a run adds one
 * for every call it makes.
 */
export interface Interrupt<Reason> {
  /** The reason for which it was stopped; undefined while it was not. */
  readonly reason: Reason | undefined;
  /** For code that wants a signal; made when it is first asked for, since it is the dearest part of a run. */
  readonly signal: AbortSignal;
  stop(reason: Reason): void;
  /** Calls `listener` when stopped (at once if it is already); what it returns takes the listener back. */
  onStop(listener: () => void): () => void;
}

/** Makes an interrupt that nobody has stopped yet. */
export function interrupt<Reason>(): Interrupt<Reason> {
  return new OneStop<Reason>();
}

/** A class, since every run has one: its members live once, on the prototype. */
class OneStop<Reason> implements Interrupt<Reason> {
  private why: Reason | undefined;
  private controller: AbortController | undefined;
  private first: (() => void) | undefined;
  /** The listeners that were added while there was a first. */
  private others: Set<() => void> | undefined;

  get reason(): Reason | undefined {
    return this.why;
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.why !== undefined) this.controller.abort(this.why);
    }
    return this.controller.signal;
  }

  stop(why: Reason): void {
    if (this.why !== undefined) return;
    this.why = why;
    this.controller?.abort(why);
    const { first, others = [] } = this;
    this.first = undefined;
    this.others = undefined;
    first?.();
    for (const listener of others) listener();
  }

  onStop(listener: () => void): () => void {
    if (this.why !== undefined) listener();
    else if (this.first === undefined && this.others === undefined) this.first = listener;
    else (this.others ??= new Set()).add(listener);
    return () => this.forget(listener);
  }

  private forget(listener: () => void): void {
    if (this.first === listener) this.first = undefined;
    this.others?.delete(listener);
    if (this.others?.size === 0) this.others = undefined;
  }
}

/** Waits for a promise, but not after the interrupt: then it gives `"stopped"`, and what the promise does later is ignored. A value that is there is given at once. */
export function untilStopped<Value, Reason>(
  work: Promise<Value>,
  stop: Interrupt<Reason>,
): Promise<Value | "stopped">;
export function untilStopped<Value, Reason>(
  work: Maybe<Value>,
  stop: Interrupt<Reason>,
): Maybe<Value | "stopped">;
export function untilStopped<Value, Reason>(
  work: Maybe<Value>,
  stop: Interrupt<Reason>,
): Maybe<Value | "stopped"> {
  if (!(work instanceof Promise)) return work;
  return new Promise((resolve, reject) => {
    const forget = stop.onStop(() => resolve("stopped"));
    work.then(
      (value) => {
        forget();
        resolve(value);
      },
      (error: Error) => {
        forget();
        reject(error);
      },
    );
  });
}

/** Waits for a promise, but not after the signal: then it throws what `why` makes, and what the promise does later is ignored. */
export function untilAborted<Value>(
  work: Promise<Value>,
  signal: AbortSignal | undefined,
  why: () => Error,
): Promise<Value> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(why());
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}

/** Whatever was thrown, as an error. What is thrown can be made so that it throws when it is looked at. */
export function asError(thrown: unknown): Error {
  try {
    return thrown instanceof Error ? thrown : new Error(String(thrown), { cause: thrown });
  } catch {
    return new Error("something was thrown that cannot be shown");
  }
}

/** An interrupt that a caller's signal stops. `unlink` lets go of the signal, which may live much longer. */
export function interruptBy(signal: AbortSignal | undefined): {
  readonly stop: Interrupt<unknown>;
  readonly unlink: () => void;
} {
  const stop = interrupt<unknown>();
  if (signal === undefined) return { stop, unlink: () => undefined };
  const abort = (): void => stop.stop(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return { stop, unlink: () => signal.removeEventListener("abort", abort) };
}
