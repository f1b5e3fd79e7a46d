import type { AgentEvent } from "./event.ts";

type Listener = (event: AgentEvent) => unknown;

/** Register: the listeners of this package itself that change nothing of what they are told, and keep nothing that could be changed later. */
const readers = new WeakSet<Listener>();

/** Says that a listener only reads: it is told events as they are, and no copies. */
export function onlyReads<Given extends Listener>(listener: Given): Given {
  readers.add(listener);
  return listener;
}

/** Tells whether a listener only reads. */
export function isReader(listener: Listener): boolean {
  return readers.has(listener);
}
