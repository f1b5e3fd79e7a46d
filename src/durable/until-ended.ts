import type { Host } from "../journal/host.ts";
import { runEndingHere } from "./readable-run.ts";
import type { RunEnd, RunStore } from "./run-store.ts";
import { tellUntaken } from "./untaken.ts";

/** The means of waiting for changes of a run. */
export interface Waiter {
  readonly store: RunStore;
  readonly host: Host;
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
}

/** The milliseconds after which a change is noticed that the store did not report. */
const lookMs = 1000;

/** Calls `look` now, and whenever a run may have changed, until it returns a value. @throws the reason of the signal */
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

/** Waits for the next possible change of a run. */
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

/** The milliseconds after which a caller that waits for a run is told that no worker takes it. */
const untakenMs = 10_000;

/** Waits for the end of a run. @throws WritError `run-missing`, `run-moved`; the reason of the signal */
export function untilEnded(id: string, waiter: Waiter): Promise<RunEnd> {
  const { host } = waiter;
  let readySince = host.now();
  let isTold = false;
  return untilChanged(id, waiter, async () => {
    const run = await runEndingHere(id, waiter.store);
    if (run.status !== "ready") readySince = host.now();
    else if (!isTold && host.now() - readySince >= untakenMs) {
      isTold = true;
      await tellUntaken(run, waiter);
    }
    return run.end;
  });
}
