/**
 * A way to stop work that is under way, once. Like an `AbortController`, with listeners that are cheap to add and take back: a run adds one
 * for every call it makes.
 */
export interface Interrupt<Reason> {
  /** Why it was stopped; undefined while it was not. */
  readonly reason: Reason | undefined;
  /** For code that wants a signal; made when it is first asked for, since it is the dearest part of a run. */
  readonly signal: AbortSignal;
  stop(reason: Reason): void;
  /** Calls `listener` when stopped (at once if it is already); what it returns takes the listener back. */
  onStop(listener: () => void): () => void;
}

/** Makes an interrupt that nobody has stopped yet. */
export function interrupt<Reason>(): Interrupt<Reason> {
  let controller: AbortController | undefined;
  const listeners = new Set<() => void>();
  let reason: Reason | undefined;
  return {
    get reason() {
      return reason;
    },
    get signal() {
      if (controller === undefined) {
        controller = new AbortController();
        if (reason !== undefined) controller.abort(reason);
      }
      return controller.signal;
    },
    stop(why) {
      if (reason !== undefined) return;
      reason = why;
      controller?.abort(why);
      for (const listener of listeners) listener();
      listeners.clear();
    },
    onStop(listener) {
      if (reason !== undefined) listener();
      else listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Waits for a promise, but not after the interrupt: then it gives `"stopped"`, and what the promise does later is ignored. */
export function untilStopped<Value, Reason>(
  work: Promise<Value>,
  stop: Interrupt<Reason>,
): Promise<Value | "stopped"> {
  return new Promise((resolve, reject) => {
    const forget = stop.onStop(() => resolve("stopped"));
    work.then(
      (value) => {
        forget();
        resolve(value);
      },
      (error: unknown) => {
        forget();
        reject(asError(error));
      },
    );
  });
}

/** Whatever was thrown, as an error. What is thrown can be made so that it throws when it is looked at. */
function asError(thrown: unknown): Error {
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
