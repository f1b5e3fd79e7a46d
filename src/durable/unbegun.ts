import type { AgentEvent } from "../event/event.ts";
import { noUsage } from "../message/usage.ts";
import type { StoredRun } from "./run-store.ts";

/**
 * The only fact of a run that ended before it began: what it was given could not be taken. Nobody was told of an event, and its store alone has its end. None
 * while it has not ended.
 */
export function endOfUnbegun({ id, agent, session, end, endedAt = 0 }: StoredRun): readonly AgentEvent[] {
  if (end === undefined) return [];
  const { outcome, usage = noUsage } = end;
  const inSession = session === undefined ? {} : { sessionId: session };
  return [{ type: "run-end", seq: 1, agent, runId: id, ...inSession, at: endedAt, outcome, usage }];
}
