import type { Host } from "../journal/host.ts";
import type { DurableOptions } from "./durable-options.ts";
import type { StoredRun } from "./run-store.ts";
import { tellDispatcherFailed } from "./store-failed.ts";

/**
 * Tells the dispatcher that a run is ready. A run that is being carried out picks up news by itself. A dispatcher that fails loses nothing:
 * the run is in the store, where the dispatcher looks again.
 */
export function waking({ dispatcher }: DurableOptions, host: Host): (run: StoredRun) => Promise<StoredRun> {
  return async (run) => {
    if (run.status === "ready")
      await dispatcher?.wake(run).catch((error: unknown) => tellDispatcherFailed(error, host));
    return run;
  };
}

/** Tells the dispatcher that a run got something that it waited for. */
export function wakingById(around: DurableOptions, host: Host): (id: string) => Promise<void> {
  const woken = waking(around, host);
  return async (id) => {
    const run = around.dispatcher && (await around.store.read(id));
    if (run !== undefined) await woken(run);
  };
}
