import { isWritError } from "../error/writ-error.ts";
import { startKey } from "../journal/record-form.ts";
import { isFree, tellCancelled } from "./cancel.ts";
import type { DurableAround } from "./durable-options.ts";
import { untilChanged } from "./until-ended.ts";
import type { RunJournal, RunStatus, StoredRun } from "./run-store.ts";
import { tellCancelUntold } from "./store-failed.ts";

/** The most earlier runs that are looked at. */
const most = 100;

/** The milliseconds that a cancelled run may be at work until the next one begins without it. */
const patienceMs = 10_000;

/** The states of runs that did not begin, or may not have. */
const unbegun: ReadonlySet<RunStatus> = new Set(["ready", "cancelled", "moved"]);

/**
 * The cancelled runs of a session that may not have been told to it, the first first: they were cancelled by a process without their agent, or while no process
 * had them. Asked before another run of the session begins, which would know nothing of what they did.
 */
export async function untoldBefore(
  { run, find }: RunJournal,
  { sessions, store, agents = [] }: DurableAround,
): Promise<readonly StoredRun[]> {
  const { id, session, fork } = run;
  if (session === undefined || sessions === undefined || fork !== undefined || find?.(startKey) !== undefined)
    return [];
  const known = await store.list({ session, before: id, limit: most });
  const before = known.filter(({ fork: origin }) => origin === undefined); // a fork tells its session nothing
  const since = Math.max(
    ...before.filter(({ status }) => !unbegun.has(status)).map(({ begunAt }) => begunAt),
  );
  const isUntold = ({ agent, status, endedAt = 0 }: StoredRun): boolean =>
    status === "cancelled" && endedAt > since && agents.some(({ name }) => name === agent);
  return before.filter(isUntold).toReversed();
}

/** Tells their session of cancelled runs that it lacks. @throws the error of its store */
export async function tellUntold(
  cancelled: readonly StoredRun[],
  around: DurableAround,
  leaving: readonly AbortSignal[],
): Promise<void> {
  for (const one of cancelled)
    if ((await lacks(one, around)) && (await isLeft(one, around, leaving)) && (await lacks(one, around)))
      await tellCancelled(one, around).catch((error: unknown) => tellCancelUntold(error, around.host));
}

/** Waits until no process carries the run out any more: the one that does tells what its calls have done since. False if it still does, or the run was erased. */
async function isLeft(
  run: StoredRun,
  around: DurableAround,
  leaving: readonly AbortSignal[],
): Promise<boolean> {
  const { store, host } = around;
  const signal = AbortSignal.any([...leaving]);
  const until = host.now() + patienceMs;
  const look = async (): Promise<boolean | undefined> => {
    if (host.now() >= until || (await store.read(run.id)) === undefined) return false;
    return (await isFree(run, around)) || undefined;
  };
  return untilChanged(run.id, { store, host, signal }, look).catch((error: unknown) => {
    if (signal.aborted) return false;
    throw error;
  });
}

/** No version of a session: one that lacks the run was changed since. */
const noVersion = -1;

/** True if its session does not have the run. A session that was deleted is left alone. */
async function lacks({ id, session = "" }: StoredRun, { sessions }: DurableAround): Promise<boolean> {
  try {
    await sessions?.(session)?.check(id, { version: noVersion });
    return false;
  } catch (error) {
    if (isWritError(error, "session-conflict")) return true;
    if (isWritError(error, "session-missing")) return false;
    throw error;
  }
}
