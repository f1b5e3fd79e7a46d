import type { Runnable } from "../agent/runnable.ts";
import { followRun, pastOf } from "../durable/follow.ts";
import type { DurableAround } from "../durable/durable-options.ts";
import type { RunStatus, StoredRun } from "../durable/run-store.ts";
import { untilChanged } from "../durable/until-ended.ts";
import { WritError } from "../error/writ-error.ts";
import type { AgentEvent } from "../event/event.ts";
import type { LiveRuns, Reading } from "./live-runs.ts";

/** The runs of a server: those of its store, and those that its own process carries out. */
export interface ServedRuns extends DurableAround {
  readonly live: LiveRuns;
  /** The agents that callers may know of. */
  readonly shown: readonly Runnable[];
}

/**
 * Tells the facts of a run by their `seq`, in whatever process it is carried out, until it ends; and its live events while this process has it. Each fact comes
 * once. Live events come after the fact whose `seq` they have, and those of a message begin with `message-start`, also for a reader who comes in the middle.
 *
 * @throws WritError `run-missing`, `run-agent-missing`, `run-moved` after the known facts of a run that goes on in another store; the reason of the signal
 */
export async function* runEvents(
  id: string,
  served: ServedRuns,
  { after, signal, untilItWaits = false }: Reading,
): AsyncGenerator<AgentEvent, void> {
  let last = after;
  for (;;) {
    const here = served.live.get(id);
    const run = here === undefined ? await known(id, served) : undefined;
    const reading = { after: last, signal, untilItWaits };
    for await (const event of here?.after(reading) ?? inStore(id, served, { ...reading, run })) {
      last = Math.max(last, event.seq);
      yield event;
      if (event.type === "run-end") return;
    }
    if (here !== undefined) {
      const { end } = await afterLeaving(id, served, signal);
      const ending = end && here.ended(end.outcome, last);
      if (ending === undefined) continue; // the store has all of it
      yield* ending;
      return;
    }
    if (isTold(run, untilItWaits)) return;
    if (run?.status === "moved") throw new WritError("run-moved", { id });
    await untilItGoesOn(id, served, { signal, wasRunning: run?.status === "running" });
  }
}

/** True if nothing more comes. A reader that knew the end gets nothing. */
const isTold = (run: StoredRun | undefined, untilItWaits: boolean): boolean =>
  run?.end !== undefined || (untilItWaits && run?.status === "waiting");

function inStore(
  id: string,
  served: ServedRuns,
  { run, ...reading }: Reading & { readonly run: StoredRun | undefined },
): AsyncIterable<AgentEvent> {
  return run?.status === "running" ? elsewhere(id, served, reading) : pastOf(id, served, reading.after);
}

/** The facts of a run that another process carries out, until this process has it, or it waits and the reader does not. */
async function* elsewhere(
  id: string,
  served: ServedRuns,
  { after, signal, untilItWaits = false }: Reading,
): AsyncGenerator<AgentEvent, void> {
  const over = new AbortController();
  const leave = served.live.await(id, () => over.abort());
  const following = AbortSignal.any([signal, over.signal]);
  if (untilItWaits)
    void untilStatus(id, { ...served, signal: following }, isWaiting).then(() => over.abort(), ignore);
  try {
    yield* followRun(id, served, { after, signal: following });
  } catch (error) {
    if (!over.signal.aborted || signal.aborted) throw error;
  } finally {
    leave();
    over.abort();
  }
}

/** The run after this process has given it up and the store knows. */
function afterLeaving(id: string, served: ServedRuns, signal: AbortSignal): Promise<StoredRun> {
  let looks = 0;
  return untilChanged(id, { ...served, signal }, async () => {
    const run = await known(id, served);
    looks += 1;
    return run.status === "running" && looks === 1 ? undefined : run;
  });
}

/**
 * Waits until there may be more to tell of a run, all of which was told: until somebody takes a run that nobody carries out, or it has ended; or until the end
 * of a run that is carried out elsewhere, whose steps are all recorded, is stored.
 */
async function untilItGoesOn(
  id: string,
  served: ServedRuns,
  { signal, wasRunning }: { readonly signal: AbortSignal; readonly wasRunning: boolean },
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const waiting = new AbortController();
  const leave = served.live.await(id, () => resolve());
  const changed = untilStatus(
    id,
    { ...served, signal: AbortSignal.any([signal, waiting.signal]) },
    wasRunning ? (status) => status !== "running" : (status) => status !== "waiting" && status !== "ready",
  );
  try {
    await Promise.race([promise, changed]);
  } finally {
    waiting.abort();
    changed.catch(ignore);
    leave();
  }
}

/** Waits until the status of a run is a wanted one. @throws WritError `run-missing`; the reason of the signal */
function untilStatus(
  id: string,
  waiter: ServedRuns & { readonly signal: AbortSignal },
  isWanted: (status: RunStatus) => boolean,
): Promise<RunStatus> {
  return untilChanged(id, waiter, async () => {
    const { status } = await known(id, waiter);
    return isWanted(status) ? status : undefined;
  });
}

const isWaiting = (status: RunStatus): boolean => status === "waiting";
const ignore = (): void => undefined;

async function known(id: string, { store }: ServedRuns): Promise<StoredRun> {
  const run = await store.read(id);
  if (run === undefined) throw new WritError("run-missing", { id });
  return run;
}
