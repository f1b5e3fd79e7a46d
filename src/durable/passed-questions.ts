import type { Journal } from "../journal/journal.ts";
import { isPassed } from "../run/recorded-end.ts";
import type { RunJournal } from "./run-store.ts";

/**
 * The same journal, which takes a question of its run out as soon as nothing waits for it any more, though the run is at work: an answer would do nothing, and
 * a signal would not reach what waits for it next.
 */
export function withdrawingPassed(journal: Journal, run: Pick<RunJournal, "withdraw">): Journal {
  const { ask } = journal;
  if (ask === undefined || run.withdraw === undefined) return journal;
  const open = new Set<string>();
  async function passing<Result>(kept: Promise<Result>): Promise<Result> {
    const result = await kept;
    const passed = [...open].filter((key) => isPassed(key, journal));
    for (const key of passed) open.delete(key);
    if (passed.length > 0) await run.withdraw?.(passed).catch(() => undefined); // they go when the run waits or ends
    return result;
  }
  return {
    ...journal,
    async ask(question) {
      const asked = await ask<never>(question);
      if ("waitsAt" in asked) open.add(question.key);
      return asked;
    },
    step: (step) => passing(journal.step(step)),
    all: (steps) => passing(journal.all(steps)),
  };
}
