import type { ShownRun, StoredRun } from "../durable/run-store.ts";
import type { AgentEvent } from "../event/event.ts";
import type { Caller } from "./callers.ts";
import { toldEvent, toldRun } from "./told-failures.ts";

/** A run with the ids of it and its session as the caller knows them. */
export function shownRun(stored: StoredRun, caller: Caller): ShownRun {
  const { prefix } = caller;
  const {
    id,
    session,
    fork: origin,
    options: _options,
    protocol: _protocol,
    ...run
  } = toldRun(stored, caller);
  return {
    id: own(id, prefix),
    ...run,
    ...(session === undefined ? {} : { session: own(session, prefix) }),
    ...(origin === undefined ? {} : { fork: { ...origin, run: own(origin.run, prefix) } }),
  };
}

/** An id without the part that is the caller's in the store. */
export const own = (text: string, prefix: string): string =>
  text.startsWith(prefix) ? text.slice(prefix.length) : text;

/** The event with the ids of the runs and the session as the caller knows them. */
export function shownEvent(event: AgentEvent, caller: Caller): object {
  const { prefix } = caller;
  const { runId, parentRunId, sessionId } = event;
  return {
    ...toldEvent(event, caller),
    runId: own(runId, prefix),
    ...(parentRunId === undefined ? {} : { parentRunId: own(parentRunId, prefix) }),
    ...(sessionId === undefined ? {} : { sessionId: own(sessionId, prefix) }),
    ...("delegation" in event
      ? { delegation: { ...event.delegation, runId: own(event.delegation.runId, prefix) } }
      : {}),
  };
}
