import { agentShape } from "../agent/agent-shape.ts";
import type { Runnable } from "../agent/runnable.ts";
import { checkShape, closed } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import type { AgentEvent } from "../event/event.ts";
import type { Host } from "../journal/host.ts";
import { type RecordPart, recordParts } from "../journal/parts.ts";
import type { SessionHandle } from "../session/session.ts";
import { callable, count, having, list, named, oneOf, optional, type Shape, shapeOf } from "../util/shape.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { RunStore } from "./run-store.ts";

/** Options of {@link durableRuns}. */
export interface DurableOptions {
  /** The store of the runs: `sqliteRuns(file)`, or another one. */
  readonly store: RunStore;
  /** Decides which worker goes on with which run: `dbosDispatcher(url)`, or one of your own. Default: each worker takes the oldest from the store. */
  readonly dispatcher?: Dispatcher;
  /** The agents that carry out runs, found by their names. A process that only starts, answers or reads runs needs none. Default: none. */
  readonly agents?: readonly Runnable[];
  /**
   * Opens the session that a run was started with; `() => undefined` if a session only groups runs, as it does for compositions of agents. A worker without it
   * leaves runs of a session to others, and warns of the first.
   */
  readonly sessions?: (id: string) => SessionHandle | undefined;
  /** Receives each event of the runs that this process carries out. When a run goes on, its earlier events are told again. An error is a process warning. */
  readonly onEvent?: (event: AgentEvent) => unknown;
  /** The parts of runs that were changed on purpose since the runs began: new instructions, other tools. Bounds may always change. Default: none. */
  readonly accept?: readonly RecordPart[];
  /** The days for which workers keep a run after its end. Default 30. `false`: for ever. */
  readonly keep?: { readonly endedDays: number } | false;
}

/** The options, with the machine. */
export interface DurableAround extends DurableOptions {
  readonly host: Host;
}

const agents = list(agentShape, "a list of agents");
/** The shapes of the options. */
export const durableShapes: Readonly<Record<keyof DurableOptions, Shape<unknown>>> = {
  store: having("a store of runs, like sqliteRuns(path)", "claim"),
  dispatcher: optional(having("a dispatcher", "wake")),
  agents: optional(agents),
  sessions: optional(named("a function of an id, like `(id) => session(store, id)`", callable)),
  onEvent: optional(callable),
  accept: optional(list(oneOf(...recordParts))),
  keep: optional(
    shapeOf(
      "{ endedDays }, or false",
      (value) => value === false || count.misfit(Object(value).endedDays) === undefined,
    ),
  ),
};
const optionsShape = closed(durableShapes, { owner: "durable" });

/** Checks the options of the named function, which may have others as well. @throws WritError `definition-invalid` */
export function checkDurable(
  options: DurableOptions,
  where: string,
  shape: Shape<unknown> = optionsShape,
): void {
  checkShape(where, options, shape);
  const names = (options.agents ?? []).map(({ name }) => name);
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined)
    throw new WritError("definition-invalid", { where, reason: `two agents have the name "${twice}".` });
}
