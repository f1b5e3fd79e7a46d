import { memoryJournal } from "../journal/memory-journal.ts";
import { isWritError } from "../error/writ-error.ts";
import { wakeAfter } from "./after-others.ts";
import type { DurableAround } from "./durable-options.ts";
import { withEnd } from "./known-end.ts";
import { askedRun } from "./run-of.ts";
import type { StoredRun } from "./run-store.ts";
import { tellCancelUntold } from "./store-failed.ts";

/** The time for which a cancel waits until others have been told of it: a session may be busy for long. */
const patienceMs = 1000;

/** Cancels a run, and tells of it: its session, where no process has the run that does so, then the runs that wait for its end. */
export async function cancelRun(id: string, reason: string, around: DurableAround): Promise<StoredRun> {
  const { store, host } = around;
  const before = await store.read(id);
  const run = await store.cancel(id, reason);
  const isOver = before?.end !== undefined;
  const telling = (isOver ? Promise.resolve() : tellSession(run, around))
    .then(() => wakeAfter(run, around))
    .catch((error: unknown) => tellCancelUntold(error, host));
  const { promise, resolve } = Promise.withResolvers<void>();
  const stopTimer = host.timer(patienceMs, resolve);
  await Promise.race([telling, promise]);
  stopTimer();
  return run;
}

/** Tells the session of a run what it did, from its records: it was cancelled where nobody has it. Needs its agent, and what opens its session. */
async function tellSession(run: StoredRun, around: DurableAround): Promise<void> {
  const { agents = [], sessions, store } = around;
  const isKnown = agents.some(({ name }) => name === run.agent);
  if (run.session === undefined || sessions === undefined || !isKnown || !(await isFree(run, around))) return;
  const { agent, input, options } = askedRun(run, around);
  const { session } = options;
  if (session === undefined) return;
  const journal = memoryJournal(withEnd(await store.records(run.id), run), { mode: "replay" });
  await agent.run(input, { ...options, journal, session: { ...session, keepsReplay: true } });
}

/** False while a process that lives has the run: that one tells. */
async function isFree({ id }: StoredRun, { store }: DurableAround): Promise<boolean> {
  try {
    await (await store.open(id)).close();
    return true;
  } catch (error) {
    if (isWritError(error, "run-claimed")) return false;
    throw error;
  }
}
