import type { Journal } from "../journal/journal.ts";
import { startKey } from "../journal/record-form.ts";
import { isPassed } from "../run/recorded-end.ts";
import type { RunJournal, RunStore } from "./run-store.ts";

/**
 * The same journal. It withdraws a question of its run as soon as nothing waits for it any more, even while the run goes on: an answer would do nothing, and
 * a signal would not reach the next wait. Questions asked by a process that died are withdrawn in the same way.
 */
export async function withdrawingPassed(
  journal: Journal,
  run: Pick<RunJournal, "run" | "withdraw">,
  store: Pick<RunStore, "questions">,
): Promise<Journal> {
  const { ask } = journal;
  if (ask === undefined || run.withdraw === undefined) return journal;
  const isBegun = journal.find?.(startKey) !== undefined;
  const open = new Set(isBegun ? await keysOf(run.run.id, store) : []);
  async function withdraw(): Promise<void> {
    const passed = [...open].filter((key) => isPassed(key, journal));
    for (const key of passed) open.delete(key);
    if (passed.length > 0) await run.withdraw?.(passed).catch(() => undefined); // they are removed when the run waits or ends
  }
  async function passing<Result>(kept: Promise<Result>): Promise<Result> {
    const result = await kept;
    await withdraw();
    return result;
  }
  await withdraw();
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

/** The keys of a run's open questions. If the store fails, they are removed when the run waits or ends. */
async function keysOf(id: string, store: Pick<RunStore, "questions">): Promise<readonly string[]> {
  return (await store.questions(id).catch(() => [])).map(({ key }) => key);
}
