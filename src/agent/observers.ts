import { messageOf } from "../error/writ-error.ts";
import type { AgentEvent, Listeners } from "../event/event.ts";
import { frozenCopy } from "../hook/freeze-input.ts";
import type { Host } from "../journal/host.ts";

/** The observers of a definition. */
export interface Observed {
  readonly name: string;
  readonly onEvent?: (event: AgentEvent) => unknown;
  readonly on?: Listeners;
}

/**
 * Makes one observer of those of a definition; undefined where there is none. Each is given a copy that cannot be changed. What one throws, at once or
 * later, is a warning: it neither ends the run nor keeps others from being told.
 */
export function observerOf(
  { name, onEvent, on }: Observed,
  { warn }: Host,
): ((event: AgentEvent) => void) | undefined {
  if (onEvent === undefined && on === undefined) return undefined;
  const listeners = new Map(Object.entries(on ?? {}));
  const failed = (error: unknown): void =>
    warn?.({
      code: "WRIT_OBSERVER_FAILED",
      text: `An observer of agent "${name}" failed, and the run went on: ${messageOf(error)}`,
      isDeprecation: false,
    });
  return (event) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is the listener of this type
    const own = listeners.get(event.type) as ((event: AgentEvent) => unknown) | undefined;
    if (onEvent === undefined && own === undefined) return;
    for (const tell of [onEvent, own]) {
      try {
        const given: unknown = tell?.(frozenCopy(event));
        if (given instanceof Promise) given.catch(failed);
      } catch (error) {
        failed(error);
      }
    }
  };
}
