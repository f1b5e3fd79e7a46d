import { checkedElsewhere } from "./known-names.ts";
import type { Fault } from "./world.ts";

/** One in this many schedules that hold is played twice, which costs a hundredth of the time. */
const repeatedShare = 100;

/** True of a schedule that is played a second time at once. The first one is played again after all others. */
export function isRepeated(place: number): boolean {
  return place % repeatedShare === repeatedShare - 1;
}

/** The cause of schedules that are not repeatable, for their author. */
export const somethingElse =
  "Something else decides: a variable that stays from schedule to schedule, Math.random(), Date.now(). Make each world in `state`.";

/** A schedule that was played twice from its seed. */
interface Repeated {
  /** Its place among the schedules, from 1. */
  readonly number: number;
  readonly seed: number;
  /** The events of the first and of the second time. */
  readonly traces: readonly [string, string];
}

/** The fault of a schedule that did not play the same a second time. */
export function repetitionFault({ number, seed, traces }: Repeated): Fault | undefined {
  const [first, second] = [traces[0].split("\n"), traces[1].split("\n")];
  const place = Array.from({ length: Math.max(first.length, second.length) }).findIndex(
    (_, at) => first[at] !== second[at],
  );
  if (place === -1) return undefined;
  const line = (lines: readonly string[]): string =>
    lines[place] === undefined ? "nothing more" : `"${lines[place]}"`;
  const told = `It told ${line(first)} the first time, and ${line(second)} the second time.`;
  const message = `schedule ${number} (seed ${seed}) was played twice. ${told} ${somethingElse}`;
  return { invariant: checkedElsewhere.seed, message };
}
