import { type Interrupt, untilStopped } from "../util/interrupt.ts";
import type { Journal, JournalQuestion, Step } from "./journal.ts";

/** A journal whose steps wait until it is released. */
export interface HeldJournal {
  readonly journal: Journal;
  /** Lets the steps begin, at the place that their call has now. */
  readonly release: (place: string) => void;
}

/**
 * The journal for a call that began before its reply is certain: the steps of runs inside it wait, so that nothing is recorded
 * under a place that another call may get. `place` is the current place of the call.
 */
export function heldJournal(journal: Journal, place: string, stop: Interrupt<unknown>): HeldJournal {
  const released = Promise.withResolvers<string>();
  let here: string | undefined;
  async function at<Given extends Step<unknown> | JournalQuestion>(given: Given): Promise<Given> {
    const now = here ?? (await untilStopped(released.promise, stop));
    if (now === "stopped") throw new Error("the reply that made the call was given up");
    return { ...given, key: now + given.key.slice(place.length) };
  }
  /** Looks up a record. Before the release there is none: the first process that has the reply begins the call. */
  const looked = <Found>(look: (key: string) => Found, key: string): Found | undefined =>
    here === undefined ? undefined : look(here + key.slice(place.length));
  const { ask, find, hasBegun, mode } = journal;
  return {
    journal: {
      mode,
      step: async (step) => journal.step(await at(step)),
      all: async (steps) => journal.all(await Promise.all(steps.map(at))),
      ask: ask && (async (question) => ask(await at(question))),
      find: find && ((key) => looked(find, key)),
      hasBegun: hasBegun && ((key) => looked(hasBegun, key) ?? false),
    },
    release(now) {
      here = now;
      released.resolve(now);
    },
  };
}
