import type { QuestionFilter, RunStore, WaitingQuestion } from "./run-store.ts";

/**
 * The wanted open questions of all runs. It leaves out what a store gives beyond them: one of the author's own may not know the filter, and a server shows its
 * caller what comes back. It reads the run of a question only if the store does not name its agent.
 */
export async function wantedQuestions(
  store: Pick<RunStore, "questions" | "read">,
  wanted: QuestionFilter,
): Promise<readonly WaitingQuestion[]> {
  const { agents, prefix = "", after, limit } = wanted;
  const given = await store.questions(undefined, wanted);
  const last = given.findIndex(({ runId, key }) => runId === after?.runId && key === after.key);
  const behind = given.slice(last + 1).filter(({ since }) => since >= (after?.since ?? 0));
  const found = behind.filter(({ runId }) => runId.startsWith(prefix));
  if (agents === undefined) return found.slice(0, limit);
  const seen: WaitingQuestion[] = [];
  for (const question of found) {
    if (seen.length >= (limit ?? Infinity)) break;
    const agent = question.agent ?? (await store.read(question.runId))?.agent;
    if (agent !== undefined && agents.includes(agent)) seen.push(question);
  }
  return seen;
}
