import type { ErrorCode } from "../error/codes.ts";
import { isWritError } from "../error/writ-error.ts";
import type { QuestionAnswer, WaitingQuestion } from "../durable/run-store.ts";
import type { Settlement } from "../tool/after-crash.ts";
import type { Asked } from "./route.ts";

/** A question as a page gets it: the page sends all of this back with its answer. */
export interface PageQuestion {
  readonly run: string;
  readonly key: string;
  readonly hash: string;
  /** The `seq` of the last fact that the page was told. */
  readonly after: number;
}

/** The id of a question, for a page. */
export function questionId({ runId: run, key, request }: WaitingQuestion, after: number): string {
  const question: PageQuestion = { run, key, hash: request.hash, after };
  return Buffer.from(JSON.stringify(question)).toString("base64url");
}

/** The question of an id; undefined if {@link questionId} did not make the id. */
export function questionOf(id: string): PageQuestion | undefined {
  try {
    const { run, key, hash, after } = JSON.parse(Buffer.from(id, "base64url").toString());
    return { run: String(run), key: String(key), hash: String(hash), after: Number(after) };
  } catch {
    return undefined;
  }
}

/** Answers a question in the name of the caller. The same page may send an answer twice: the answer that was taken stays. */
export async function answerOnce(
  { runs, caller }: Asked,
  { run, key }: PageQuestion,
  answer: QuestionAnswer,
): Promise<void> {
  await once(() => runs.answer(run, key, { ...answer, by: caller.name }));
}

/** Settles a call in the same way: the question is whether it happened. */
export async function settleOnce(
  { runs, caller }: Asked,
  { run, key }: PageQuestion,
  settled: Settlement,
): Promise<void> {
  await once(() => runs.settle(run, key, { ...settled, by: caller.name }));
}

/** The codes of the errors of an answer that came after another one. */
const late: ReadonlySet<ErrorCode> = new Set(["question-answered", "question-unknown", "call-not-unknown"]);

async function once(answering: () => Promise<void>): Promise<void> {
  try {
    await answering();
  } catch (error) {
    if (!isWritError(error) || !late.has(error.code)) throw error;
  }
}
