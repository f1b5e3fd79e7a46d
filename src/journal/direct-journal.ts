import type { Journal } from "./journal.ts";

/** Runs each effect and records nothing: a run that dies is lost. */
export const directJournal: Journal = {
  step: (step) => step.run(),
  all: (steps) => Promise.all(steps.map((step) => step.run())),
};
