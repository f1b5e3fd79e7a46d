import type { Journal } from "./journal.ts";

/** A journal that runs each effect and records nothing: a run that dies is lost. */
export const directJournal: Journal = {
  step: (step) => step.run(),
  all: (steps) => Promise.all(steps.map((step) => step.run())),
};
