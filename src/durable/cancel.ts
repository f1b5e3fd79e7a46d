import { memoryJournal } from "../journal/memory-journal.ts";
import { isWritError } from "../error/writ-error.ts";
import { wakeAfter } from "./after-others.ts";
import type { DurableAround } from "./durable-options.ts";
import { journalOfRun } from "./forked-journal.ts";
import { withEnd } from "./known-end.ts";
import { askedRun } from "./run-of.ts";
import type { StoredRun } from "./run-store.ts";
import { tellCancelUntold } from "./store-failed.ts";

/** The time for which others are told of a cancel before nobody waits for that any more: a session may be busy for long. */
const patienceMs = 1000;

/** Cancels a run, and tells of it: its session, where no process has the run that does so, then the runs that wait for its end. */
export async function cancelRun(id: string, reason: string, around: DurableAround): Promise<StoredRun> {
  const { agents = [], sessions, store } = around;
  const before = await store.read(id);
  const run = await store.cancel(id, reason);
  await patiently(run, around, async () => {
    const isKnown = agents.some(({ name }) => name === run.agent);
    const hasSession = run.session !== undefined && sessions !== undefined;
    if (before?.end === undefined && hasSession && isKnown && (await isFree(run, around)))
      await tell(run, around);
  });
  return run;
}

/**
 * Tells of a run that was cancelled while whoever carried it out gave it up where it waits: its session, and those who are told its events, again and to its end.
 * Then the runs that wait for its end.
 */
export function tellGivenUp(run: StoredRun, around: DurableAround): Promise<void> {
  const { onEvent } = around;
  return patiently(run, around, () => tell(run, around, onEvent));
}

/** Has others told of a run that is cancelled, and the runs go on that wait for its end, but does not wait for ever. */
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

/** Tells what a cancelled run did, from its records. Needs its agent, and what opens its session. */
async function tell(
  run: StoredRun,
  around: DurableAround,
  onEvent?: DurableAround["onEvent"],
): Promise<void> {
  const { agent, input, options } = askedRun(run, around);
  const { session } = options;
  const records = withEnd(await around.store.records(run.id), run);
  const journal = journalOfRun(memoryJournal(records, { mode: "replay" }), run);
  const keeping = session === undefined ? {} : { session: { ...session, keepsReplay: true as const } };
  await agent.run(input, { ...options, journal, onEvent, ...keeping });
}

/** False while a process that lives has the run: that one tells. False too of one that was erased meanwhile: opening it began another one, of nobody, which goes. */
async function isFree({ id }: StoredRun, { store }: DurableAround): Promise<boolean> {
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
