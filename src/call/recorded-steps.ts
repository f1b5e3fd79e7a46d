import { type Journal, type Step, withWork } from "../journal/journal.ts";
import { RunWaits } from "../run/waits.ts";
import type { CallRecord } from "./call.ts";

/** Runs steps side by side. If one cannot be recorded, the others that have begun end first, and are recorded if possible. */
export async function recorded(
  steps: readonly Step<CallRecord>[],
  journal: Journal,
): Promise<readonly CallRecord[]> {
  const running: Promise<CallRecord>[] = [];
  const noted = steps.map((step) =>
    withWork(step, (work) => {
      const started = work();
      running.push(started);
      return started;
    }),
  );
  try {
    return await journal.all(noted);
  } catch (error) {
    const ended = await Promise.allSettled(running);
    if (!(error instanceof RunWaits)) throw error;
    const broken = journal.mode === "replay" ? undefined : ended.find(isBroken);
    throw broken === undefined ? ended.reduce(alsoWaiting, error) : broken.reason;
  }
}

/** True of a call that the journal could not record. */
function isBroken(ended: PromiseSettledResult<unknown>): ended is PromiseRejectedResult {
  return ended.status === "rejected" && !(ended.reason instanceof RunWaits);
}

/** This wait, combined with that of another call. */
function alsoWaiting(waits: RunWaits, ended: PromiseSettledResult<unknown>): RunWaits {
  const isOther = ended.status === "rejected" && ended.reason instanceof RunWaits && ended.reason !== waits;
  return isOther ? waits.and(ended.reason) : waits;
}
