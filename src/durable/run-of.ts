import { aboutOf, type Runnable } from "../agent/runnable.ts";
import type { RunOptions } from "../agent/run-options.ts";
import { WritError } from "../error/writ-error.ts";
import type { DurableAround } from "./durable-options.ts";
import type { SessionHandle } from "../session/session.ts";
import { canChange, withCallerTools } from "./caller-tools.ts";
import type { ForkOrigin, StoredRun } from "./run-store.ts";

/** A stored run, with the agent and the options to carry it out. */
export interface AskedRun {
  readonly agent: Runnable;
  readonly input: never;
  readonly options: RunOptions;
}

/** The agent of a run, and everything that it is called with. @throws WritError `run-agent-missing` */
export function askedRun(
  { id, agent: name, input, options, session, fork }: StoredRun,
  around: DurableAround,
): AskedRun {
  const { agents = [], sessions, accept } = around;
  const known = agents.find((one) => one.name === name);
  if (known === undefined) throw new WritError("run-agent-missing", { id, name });
  const { callerTools = [], whenWaiting: _others, ...kept } = options;
  const agent = withCallerTools(fork === undefined ? known : changed(known, fork), callerTools);
  const hasConversation = session !== undefined && keepsConversation(known);
  const given = hasConversation ? sessions?.(session) : undefined;
  const handle = given === undefined || fork === undefined ? given : readOnly(given);
  const more = {
    ...(handle === undefined ? {} : { session: handle }),
    ...(accept === undefined ? {} : { accept }),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was held against the agent's schema when it was started
  return { agent, input: input as never, options: { ...kept, ...more, runId: id } };
}

/** True of an agent that is sent the conversation of its run's session. */
export function keepsConversation(agent: Runnable): boolean {
  return aboutOf(agent)?.keepsNoConversation !== true;
}

/** The agent with the changes of a fork. */
function changed(agent: Runnable, { instructions, model }: ForkOrigin): Runnable {
  const changes = {
    ...(instructions === undefined ? {} : { instructions }),
    ...(model === undefined ? {} : { model }),
  };
  if (Object.keys(changes).length === 0) return agent;
  if (canChange(agent)) return agent.with(changes);
  const reason = "a fork of it has other instructions or another model, and it has none itself.";
  throw new WritError("definition-invalid", { where: `"${agent.name}"`, reason });
}

const nothing = async (): Promise<void> => undefined;

/** A session that is only read: the run of a fork did not happen. */
function readOnly(handle: SessionHandle): SessionHandle {
  return {
    id: handle.id,
    enter: async () => nothing,
    load: () => handle.load(),
    check: nothing,
    save: nothing,
  };
}
