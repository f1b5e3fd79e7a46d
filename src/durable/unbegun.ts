import type { AgentEvent } from "../event/event.ts";
import { noUsage } from "../message/usage.ts";
import type { StoredRun } from "./run-store.ts";

/**
 * The only fact of a run that ended before it began, because its input or options could not be taken. No events were told of it, and only its store has its
 * end. Empty while it has not ended.
 */
export function endOfUnbegun({ id, agent, session, end, endedAt = 0 }: StoredRun): readonly AgentEvent[] {
  if (end === undefined) return [];
  const { outcome, usage = noUsage } = end;
  const inSession = session === undefined ? {} : { sessionId: session };
  return [{ type: "run-end", seq: 1, agent, runId: id, ...inSession, at: endedAt, outcome, usage }];
}
