import { messageOf } from "../error/writ-error.ts";
import { isNeeded } from "../event/capability-audit.ts";
import type { AgentEvent, Listeners } from "../event/event.ts";
import { isReader, readsWith } from "../event/only-reads.ts";
import { frozenCopy } from "../hook/freeze-input.ts";
import type { Host } from "../journal/host.ts";
import { asRuntime } from "../run/around.ts";

/** The observers of a definition. */
export interface Observed {
  readonly name: string;
  readonly onEvent?: (event: AgentEvent) => unknown;
  readonly on?: Listeners;
}

/**
 * Makes one observer of those of a definition; undefined without any. Each observer gets a copy of the event that it cannot change, unless it only reads.
 * An observer does not act for the call whose event it gets. An error that it throws, at once or later, is a warning: it neither ends the run nor keeps
 * other observers from the event.
 */
export function observerOf(
  { name, onEvent, on }: Observed,
  host: Host,
): ((event: AgentEvent) => void) | undefined {
  if (onEvent === undefined && on === undefined) return undefined;
  const failed = warning(`An observer of agent "${name}"`, host.warn);
  const hearing = (tell: Listener) => (event: AgentEvent) =>
    asRuntime(host, () => hear(tell, isReader(tell) ? event : frozenCopy(event), failed));
  const hearAll = onEvent && readsWith(hearing(onEvent), [onEvent]);
  if (on === undefined) return hearAll;
  const listeners = new Map(Object.entries(on));
  return (event) => {
    hearAll?.(event);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is the listener of this type
    const own = listeners.get(event.type) as Listener | undefined;
    if (own !== undefined) hearing(own)(event);
  };
}

type Listener = (event: AgentEvent) => unknown;

/**
 * Makes the listener of one run from the caller's function: an error that it throws, at once or later, is a warning. Only an audit may end the run that way.
 */
export function listenerOf(onEvent: Listener, name: string, { warn }: Host): (event: AgentEvent) => unknown {
  if (isNeeded(onEvent)) return onEvent;
  const failed = warning(`\`onEvent\` of a run of "${name}"`, warn);
  return (event) => hear(onEvent, event, failed);
}

function hear(tell: Listener, event: AgentEvent, failed: (error: unknown) => void): void {
  try {
    const given = tell(event);
    if (given instanceof Promise) given.catch(failed);
  } catch (error) {
    failed(error);
  }
}

function warning(who: string, warn: Host["warn"]): (error: unknown) => void {
  return (error) =>
    warn?.({
      code: "WRIT_OBSERVER_FAILED",
      text: `${who} failed, and the run went on: ${messageOf(error)}`,
      isDeprecation: false,
    });
}
