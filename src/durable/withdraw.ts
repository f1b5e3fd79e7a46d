import { isWritError } from "../error/writ-error.ts";
import { othersBefore } from "./after-others.ts";
import type { RunStore, StoredRun, WaitingQuestion } from "./run-store.ts";

/** Codes that mean that a question cannot be withdrawn any more: somebody was faster. */
const settled: ReadonlySet<string> = new Set([
  "question-answered",
  "question-expired",
  "question-unknown",
  "run-missing",
  "run-moved",
]);

/**
 * Answers with no the questions that runs of the session asked before this run was begun, and returns the ids of those runs. Questions that name who may answer
 * stand. Later questions stand too: if this run is started again, its user has said nothing new since they were asked.
 */
export async function withdrawQuestions(begun: StoredRun, store: RunStore): Promise<readonly string[]> {
  const withdrawn: string[] = [];
  for (const run of await othersBefore(begun, store))
    for (const question of await store.questions(run.id))
      if (isFree(question) && question.since <= begun.begunAt && (await withdraw(question, store)))
        withdrawn.push(run.id);
  return withdrawn;
}

/** True of an approval that anybody may give. A wait for a signal, and a call to settle, are not questions to the user. */
const isFree = ({ by, request }: WaitingQuestion): boolean =>
  by === undefined && request.waitsFor === undefined && request.unsettled !== true;

async function withdraw({ runId, key, request }: WaitingQuestion, store: RunStore): Promise<boolean> {
  const reason = "it was withdrawn: the user said something else meanwhile";
  try {
    await store.answer(runId, key, { approved: false, reason, hash: request.hash });
    return true;
  } catch (error) {
    if (isWritError(error) && settled.has(error.code)) return false;
    throw error;
  }
}
