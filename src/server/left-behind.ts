import { callerSignalOf } from "../durable/caller-tools.ts";
import type { JsonObject } from "../util/json.ts";
import { questionOf } from "./page-questions.ts";
import type { Asked } from "./route.ts";

/**
 * Ends the runs that wait for results which stand in the middle of a conversation: their client went on with the whole of it, in another run, and sends
 * no more results. Runs of earlier results were ended when the conversation first went on.
 */
export async function endLeftBehind(
  { caller, runs }: Pick<Asked, "caller" | "runs">,
  messages: readonly JsonObject[],
): Promise<void> {
  const keys = new Map<string, Set<string>>();
  for (const { tool_call_id: id } of lastResults(messages)) {
    const question = typeof id === "string" ? questionOf(id) : undefined;
    if (question?.run.startsWith(`${caller.prefix}v1/`) !== true) continue;
    keys.set(question.run, (keys.get(question.run) ?? new Set()).add(question.key));
  }
  for (const [run, brought] of keys) {
    const open = await runs.waiting(run);
    const waits = open.some(({ key, request }) => brought.has(key) && callerSignalOf(request) !== undefined);
    if (waits) await runs.cancel(run, "its client went on with the conversation in another run");
  }
}

/** The last results of calls in a conversation that follow one another. */
function lastResults(messages: readonly JsonObject[]): readonly JsonObject[] {
  const end = messages.findLastIndex(isResult) + 1;
  return messages.slice(messages.slice(0, end).findLastIndex((message) => !isResult(message)) + 1, end);
}

const isResult = ({ role }: JsonObject): boolean => role === "tool";
