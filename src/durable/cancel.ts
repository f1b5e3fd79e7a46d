import { recordParts } from "../journal/parts.ts";
import { isWritError } from "../error/writ-error.ts";
import { wakeAfter } from "./after-others.ts";
import type { DurableAround } from "./durable-options.ts";
import { recordedRun } from "./follow.ts";
import type { StoredRun } from "./run-store.ts";
import { tellCancelUntold } from "./store-failed.ts";

/** The milliseconds that a cancel waits until others were told of it: a session may be busy for long. */
const patienceMs = 1000;

/** Cancels a run. Then tells its session, unless a process that has the run does, and the runs that wait for its end. */
export async function cancelRun(id: string, reason: string, around: DurableAround): Promise<StoredRun> {
  const { agents = [], sessions, store } = around;
  const before = await store.read(id);
  const run = await store.cancel(id, reason);
  await patiently(run, around, async () => {
    const isKnown = agents.some(({ name }) => name === run.agent);
    const hasSession = run.session !== undefined && sessions !== undefined;
    if (before?.end === undefined && hasSession && isKnown && (await isFree(run, around)))
      await tellCancelled(run, around);
  });
  return run;
}

/**
 * Tells the end of a run that was cancelled while its worker gave it up to wait: its session, and the observers of its events, which get all of them again.
 * Then tells the runs that wait for its end.
 */
export function tellGivenUp(run: StoredRun, around: DurableAround): Promise<void> {
  const { onEvent } = around;
  return patiently(run, around, () => tellCancelled(run, around, onEvent));
}

/** Has others told of a cancelled run, and wakes the runs that wait for its end, but does not wait for that for ever. */
async function patiently(run: StoredRun, around: DurableAround, telling: () => Promise<void>): Promise<void> {
  const { host } = around;
  const untold = (error: unknown): void => tellCancelUntold(error, host);
  const told = telling()
    .catch(untold)
    .then(() => wakeAfter(run, around))
    .catch(untold);
  const { promise, resolve } = Promise.withResolvers<void>();
  const stopTimer = host.timer(patienceMs, resolve);
  await Promise.race([told, promise]);
  stopTimer();
}

/** Tells what a cancelled run did, from its records. Needs its agent, and the function that opens its session. */
export async function tellCancelled(
  run: StoredRun,
  around: DurableAround,
  onEvent?: DurableAround["onEvent"],
): Promise<void> {
  const { agent, input, options, journal } = await recordedRun(run, around);
  const { session } = options;
  const keeping = session === undefined ? {} : { session: { ...session, keepsReplay: true as const } };
  await agent.run(input, { ...options, journal, onEvent, accept: recordParts, ...keeping }); // nothing new happens, whatever the code is by now
}

/** False while a live process has the run: that process tells. False also if the run was erased meanwhile: opening made an ownerless run, erased here. */
export async function isFree({ id }: StoredRun, { store }: DurableAround): Promise<boolean> {
  try {
    const journal = await store.open(id);
    const { agent, end } = journal.run;
    await journal.close();
    if (end === undefined && agent === "") await store.erase({ id });
    return end !== undefined;
  } catch (error) {
    if (isWritError(error, "run-claimed")) return false;
    throw error;
  }
}
