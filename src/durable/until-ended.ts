import { WritError } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";
import type { RunEnd, RunStore } from "./run-store.ts";

/** Whoever waits for something to happen to a run. */
export interface Waiter {
  readonly store: RunStore;
  readonly host: Host;
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
}

/** The delay after which a change is noticed that a store did not tell of. */
const lookMs = 1000;

/** Calls `look` now, and whenever something may have happened to a run, until it gives a value. @throws the reason of the signal */
export async function untilChanged<Value>(
  id: string,
  waiter: Waiter,
  look: () => Promise<Value | undefined>,
): Promise<Value> {
  for (;;) {
    const change = nextChange(id, waiter);
    try {
      waiter.signal?.throwIfAborted();
      const value = await look();
      if (value !== undefined) return value;
      await change.came;
    } finally {
      change.leave();
    }
  }
}

/** Listens for the next thing that may happen to a run. */
function nextChange(
  id: string,
  { store, host, signal }: Waiter,
): { readonly came: Promise<void>; readonly leave: () => void } {
  const { promise: came, resolve } = Promise.withResolvers<void>();
  const wake = (): void => resolve();
  const unwatch = store.watch((changed) => {
    if (changed === undefined || changed === id) wake();
  });
  const stopTimer = host.timer(lookMs, wake);
  signal?.addEventListener("abort", wake);
  return {
    came,
    leave() {
      unwatch();
      stopTimer();
      signal?.removeEventListener("abort", wake);
    },
  };
}

/** Waits for the end of a run. @throws WritError `run-missing`, `run-moved`; the reason of the signal */
export function untilEnded(id: string, waiter: Waiter): Promise<RunEnd> {
  return untilChanged(id, waiter, async () => {
    const run = await waiter.store.read(id);
    if (run === undefined) throw new WritError("run-missing", { id });
    if (run.end === undefined && run.status === "moved") throw new WritError("run-moved", { id });
    return run.end;
  });
}
