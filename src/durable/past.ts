import { type Journal, type Step, withWork } from "../journal/journal.ts";
import { startKey } from "../journal/record-form.ts";

/** A journal, with what tells whether its run only repeats what an earlier process recorded. */
export interface WithPast {
  readonly journal: Journal;
  /** True until the run does something new. False from the beginning if no process had begun it. */
  readonly isPast: () => boolean;
}

/** The same journal, knowing when its run does something new. */
export function withPast(journal: Journal): WithPast {
  let isNew = false;
  const seen = <Result>(step: Step<Result>): Step<Result> =>
    step.isOuter === true
      ? step
      : withWork(step, (work) => {
          isNew = true;
          return work();
        });
  return {
    isPast: () => !isNew && journal.find?.(startKey) !== undefined,
    journal: {
      ...journal,
      step: (step) => journal.step(seen(step)),
      all: (steps) => journal.all(steps.map(seen)),
    },
  };
}
