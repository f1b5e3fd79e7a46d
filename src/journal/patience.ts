import type { Host } from "./host.ts";

/** The milliseconds that a store has to keep what a run did, once that run is to end. A busy SQLite file takes five seconds to say that it is busy. */
export const patienceMs = 10_000;

/** The error of a run whose journal or session was silent for as long. */
export function silenceOf(who: string): Error {
  return new Error(`${who} kept nothing for ${patienceMs / 1000} s when the run was to end`);
}

/** Waits for a store of a run that is to end, but no longer than it has. @throws the error of the silence */
export function inPatience<Value>(
  keeping: Promise<Value>,
  who: string,
  host: Pick<Host, "timer">,
): Promise<Value> {
  const { promise: silent, reject } = Promise.withResolvers<never>();
  const stopTimer = host.timer(patienceMs, () => reject(silenceOf(who)));
  return Promise.race([keeping, silent]).finally(stopTimer);
}
