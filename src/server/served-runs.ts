import type { Runnable } from "../agent/runnable.ts";
import { type DurableOptions, durableShapes } from "../durable/durable-options.ts";
import { type DurableRuns, durableRunsWith } from "../durable/durable-runs.ts";
import { type RunWorker, type WorkOptions, workShape } from "../durable/worker.ts";
import type { AgentEvent } from "../event/event.ts";
import type { Host } from "../journal/host.ts";
import { callable, optional, type Shape } from "../util/shape.ts";
import { WritError } from "../error/writ-error.ts";
import { LiveRuns } from "./live-runs.ts";
import type { RunsAround } from "./route.ts";

/** The runs of a server, and the worker that carries them out in its process. */
export interface RunsServed extends RunsAround {
  readonly worker: RunWorker | undefined;
}

interface Serving {
  readonly work: WorkOptions | false | undefined;
  readonly host: Host;
  /** The agents that carry out single calls for clients; callers are not told of them. */
  readonly callers?: readonly Runnable[] | undefined;
  /** Called with the failure of each run that fails in this process. */
  readonly onFailure?: (failure: unknown) => void;
}

/** The shapes of the options that all functions which serve runs have. */
export const servingShapes: Readonly<Record<string, Shape<unknown>>> = {
  ...durableShapes,
  work: optional({
    wanted: "{ concurrency }, or false",
    misfit: (value: unknown) => (value === false ? undefined : workShape.misfit(value)),
  }),
  onError: optional(callable),
};

/** Begins to carry out runs, and to tell their events. */
export function serveRuns(
  options: DurableOptions,
  { work, host, callers = [], onFailure }: Serving,
): RunsServed {
  const { agents = [], sessions = () => undefined } = options; // by default a session only groups runs
  const live = new LiveRuns();
  const durable = { ...options, agents: [...agents, ...callers] };
  const onEvent = (event: AgentEvent): unknown => {
    live.tell(event);
    const failure = onFailure && failureIn(event);
    if (failure !== undefined) onFailure?.(failure);
    return options.onEvent?.(event);
  };
  const runs: DurableRuns = durableRunsWith({ ...durable, sessions, onEvent }, host);
  const worker = work === false ? undefined : runs.work(work);
  return { runs, worker, served: { ...durable, host, live, shown: agents } };
}

/** The failure that an event tells, if it is the end of a run that somebody began. */
function failureIn(event: AgentEvent): WritError | undefined {
  if (event.type !== "run-end" || event.outcome.type !== "failed" || event.parentRunId !== undefined)
    return undefined;
  const { code, message } = event.outcome;
  return new WritError("run-unanswered", { name: event.runId, reason: `${code}: ${message}` });
}
