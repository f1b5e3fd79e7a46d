import type { Runnable } from "../agent/runnable.ts";
import type { RunOptions } from "../agent/run-options.ts";
import { WritError } from "../error/writ-error.ts";
import type { DurableAround } from "./durable-options.ts";
import type { StoredRun } from "./run-store.ts";

/** A stored run as an agent is asked to carry it out. */
export interface AskedRun {
  readonly agent: Runnable;
  readonly input: never;
  readonly options: RunOptions;
}

/** The agent of a run, and all that it is given. @throws WritError `run-agent-missing` */
export function askedRun(
  { id, agent: name, input, options, session }: StoredRun,
  around: DurableAround,
): AskedRun {
  const { agents = [], sessions, accept } = around;
  const agent = agents.find((one) => one.name === name);
  if (agent === undefined) throw new WritError("run-agent-missing", { id, name });
  const handle = session === undefined ? undefined : sessions?.(session);
  const more = {
    ...(handle === undefined ? {} : { session: handle }),
    ...(accept === undefined ? {} : { accept }),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was held against the agent's schema when it was started
  return { agent, input: input as never, options: { ...options, ...more, runId: id } };
}
