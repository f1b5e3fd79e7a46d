import { directJournal } from "./direct-journal.ts";
import type { Journal, Step } from "./journal.ts";
import { mapped } from "../util/mapped.ts";

/** The same journal for a run inside another one: its keys are prefixed with the place of that run, so that no two runs share a key. */
export function prefixedJournal(journal: Journal, prefix: string): Journal {
  if (journal === directJournal) return journal; // without records there are no keys
  const inside = (key: string): string => `${prefix}/${key}`;
  const within = <Result>(step: Step<Result>): Step<Result> => ({ ...step, key: inside(step.key) });
  const { arrived, ask, find, hasBegun, mode, recall, tellsInside } = journal;
  return {
    mode,
    tellsInside,
    arrived: arrived && ((key) => arrived(inside(key))),
    ask: ask && ((question) => ask({ ...question, key: inside(question.key) })),
    find: find && ((key) => find(inside(key))),
    hasBegun: hasBegun && ((key) => hasBegun(inside(key))),
    recall: recall && ((key, call) => recall(inside(key), call)),
    stopAt: (key) => journal.stopAt?.(inside(key)),
    step: (step) => journal.step(within(step)),
    all: (steps) => journal.all(mapped(steps, within)),
    recorded: (steps) => journal.recorded?.(mapped(steps, within)),
  };
}
