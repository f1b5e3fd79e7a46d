import { isWritError } from "../error/writ-error.ts";
import { othersBefore } from "./after-others.ts";
import type { RunStore, StoredRun, WaitingQuestion } from "./run-store.ts";

/** The ways in which a question is not to be withdrawn any more: somebody was faster. */
const settled: ReadonlySet<string> = new Set([
  "question-answered",
  "question-expired",
  "question-unknown",
  "run-missing",
  "run-moved",
]);

/**
 * Answers the questions with no that runs of a session have asked before this one was begun, and gives the ids of those runs. Questions that name who may answer
 * stand, and so do those that came later: its user had said nothing else since, though it is started again.
 */
export async function withdrawQuestions(begun: StoredRun, store: RunStore): Promise<readonly string[]> {
  const withdrawn: string[] = [];
  for (const run of await othersBefore(begun, store))
    for (const question of await store.questions(run.id))
      if (isFree(question) && question.since <= begun.begunAt && (await withdraw(question, store)))
        withdrawn.push(run.id);
  return withdrawn;
}

/** True of an approval that anybody may give: what waits for a signal, or is to be settled, is no question of the user's. */
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
