import { directJournal } from "./direct-journal.ts";
import { isRecalled } from "./recalled.ts";
import { type Journal, type Step, withWork } from "./journal.ts";
import { mapped } from "../util/mapped.ts";

/**
 * The same journal, reporting its own failures: a record that cannot be written, or that was made from another request. An error that
 * the work of a step throws is not a failure of the journal.
 */
export function watchedJournal(journal: Journal, onFailure: (error: unknown) => void): Journal {
  if (journal === directJournal) return journal; // it keeps nothing, so it cannot fail
  async function watch<Result>(record: (watched: Watched) => Promise<Result>): Promise<Result> {
    let hasThrown = false;
    const noteThrown = (error: unknown): never => {
      hasThrown = true;
      throw error;
    };
    try {
      return await record((step) => withWork(step, (work) => work().catch(noteThrown)));
    } catch (error) {
      if (!hasThrown && !isRecalled(error)) onFailure(error);
      throw error;
    }
  }
  const { arrived, ask, find, hasBegun, mode, recall, tellsInside } = journal;
  return {
    mode,
    tellsInside,
    arrived,
    ask: ask && ((question) => watch(() => ask(question))),
    find,
    hasBegun,
    recall,
    stopAt: (key) => journal.stopAt?.(key),
    step: (step) => watch((watched) => journal.step(watched(step))),
    all: (steps) => watch((watched) => journal.all(mapped(steps, watched))),
    recorded(steps) {
      try {
        return journal.recorded?.(steps);
      } catch (error) {
        onFailure(error);
        throw error;
      }
    },
  };
}

type Watched = <Result>(step: Step<Result>) => Step<Result>;
