import { directJournal } from "./direct-journal.ts";
import type { Journal, Step } from "./journal.ts";
import { mapped } from "../util/mapped.ts";

/** The same journal for a run inside another one: its keys are prefixed with the place of that run, so that no two runs share a key. */
export function prefixedJournal(journal: Journal, prefix: string): Journal {
  if (journal === directJournal) return journal; // without records there are no keys
  const within = <Result>(step: Step<Result>): Step<Result> => ({ ...step, key: `${prefix}/${step.key}` });
  const { arrived, ask, find, hasBegun, mode, recall, tellsInside } = journal;
  return {
    ...(mode === undefined ? {} : { mode }),
    ...(tellsInside === undefined ? {} : { tellsInside }),
    ...(arrived === undefined ? {} : { arrived: (key) => arrived(`${prefix}/${key}`) }),
    ...(hasBegun === undefined ? {} : { hasBegun: (key) => hasBegun(`${prefix}/${key}`) }),
    ...(find === undefined ? {} : { find: (key) => find(`${prefix}/${key}`) }),
    ...(recall === undefined ? {} : { recall: (key, call) => recall(`${prefix}/${key}`, call) }),
    stopAt: (key) => journal.stopAt?.(`${prefix}/${key}`),
    step: (step) => journal.step(within(step)),
    all: (steps) => journal.all(mapped(steps, within)),
    recorded: (steps) => journal.recorded?.(mapped(steps, within)),
    ...(ask === undefined
      ? {}
      : { ask: (question) => ask({ ...question, key: `${prefix}/${question.key}` }) }),
  };
}
