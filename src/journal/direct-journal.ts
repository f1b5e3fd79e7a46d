import type { Journal } from "./journal.ts";
import { mapped } from "../util/mapped.ts";

/** A journal that runs each effect and records nothing: a run that dies is lost. */
export const directJournal: Journal = {
  step: (step) => step.run(),
  all: (steps) => Promise.all(mapped(steps, (step) => step.run())),
};
