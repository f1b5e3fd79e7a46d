import { isWritError } from "../error/writ-error.ts";
import type { Journal } from "../journal/journal.ts";

/** The same journal. If it refuses because somebody has ended the run meanwhile, `look` finds out the reason before the run gets the error. */
export function toldOfEnd(journal: Journal, look: () => Promise<void>): Journal {
  const known = async (error: unknown): Promise<never> => {
    if (isWritError(error, "run-ended")) await look();
    throw error;
  };
  const { ask } = journal;
  return {
    ...journal,
    ask: ask && ((question) => ask<never>(question).catch(known)),
    step: (step) => journal.step(step).catch(known),
    all: (steps) => journal.all(steps).catch(known),
  };
}
