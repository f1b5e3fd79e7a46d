import type { DurableAround } from "./durable-options.ts";
import type { StoredRun } from "./run-store.ts";
import { tellDispatcherFailed } from "./store-failed.ts";

/**
 * Tells the dispatcher that a run is ready, and returns the run. A run that is being carried out picks up news by itself. A dispatcher that fails loses nothing:
 * the run is in the store, where the dispatcher looks again.
 */
export async function woken(run: StoredRun, { dispatcher, host }: DurableAround): Promise<StoredRun> {
  if (run.status === "ready")
    await dispatcher?.wake(run).catch((error: unknown) => tellDispatcherFailed(error, host));
  return run;
}

/** Tells the dispatcher that a run got something that it waited for. */
export async function wakeById(id: string, around: DurableAround): Promise<void> {
  const run = around.dispatcher && (await around.store.read(id));
  if (run !== undefined) await woken(run, around);
}
