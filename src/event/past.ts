import type { AgentEvent } from "./event.ts";

/**
 * Register: events of a run that goes on which it told before, or which came of an answer, up to what it does anew. They are the same as they were,
 * so that it stands beside them.
 */
const told = new WeakSet<AgentEvent>();

/** Says that an event is of the past of its run. */
export function markPast(event: AgentEvent): void {
  told.add(event);
}

/** Tells whether an event is of the past of its run. A copy of it is not known. */
export function isPast(event: AgentEvent): boolean {
  return told.has(event);
}
