import type { AgentEvent } from "./event.ts";

/**
 * Register: events of a resumed run that it told before, or that follow from an answer, up to the first new work. The events equal the earlier ones,
 * so the mark is kept beside them.
 */
const told = new WeakSet<AgentEvent>();

/** Marks an event as part of the past of its run. */
export function markPast(event: AgentEvent): void {
  told.add(event);
}

/** Tells whether an event is part of the past of its run. A copy of it is not recognised. */
export function isPast(event: AgentEvent): boolean {
  return told.has(event);
}
