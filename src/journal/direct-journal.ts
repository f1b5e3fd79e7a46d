import type { Journal } from "./journal.ts";

/** Runs each effect and records nothing: a run that dies is lost. The key stands in for an idempotency key. */
export function directJournal(runId: string): Journal {
  return {
    step: (step) => step.run({ idempotencyKey: `${runId}/${step.key}` }),
    all: (steps) => Promise.all(steps.map((step) => step.run({ idempotencyKey: `${runId}/${step.key}` }))),
  };
}
