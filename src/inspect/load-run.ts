import type { Agent } from "../agent/agent.ts";
import type { AgentManifest } from "../agent/describe/manifest-data.ts";
import type { DurableAround } from "../durable/durable-options.ts";
import { isOfAnotherProgram, replayedFacts } from "../durable/follow.ts";
import type { StoredRun } from "../durable/run-store.ts";
import { messageOf, WritError } from "../error/writ-error.ts";
import { isFact } from "../event/event.ts";
import type { PolicyJson } from "../policy/rules/rule.ts";
import { policyFromJson } from "../policy/study/policy.ts";
import type { DescribedTool } from "../policy/study/simulate.ts";
import type { Json } from "../util/json.ts";
import { inspectRun } from "./inspect-run.ts";
import type { KnownRun } from "./known-run.ts";
import type { RulePlaces } from "./rule-places.ts";
import type { InspectedRun, TriedCall } from "./view.ts";

/** An agent whose program the inspector has. */
export interface KnownAgent {
  /** The agent itself, if calls can be tried on it. Compositions of agents have none. */
  readonly agent?: Agent;
  readonly manifest?: AgentManifest;
  /** Left out if a function makes them. */
  readonly instructions?: string;
  /** Its tools, as far as its definition lists them. */
  readonly tools?: readonly DescribedTool[];
  /** Its policy as data. Left out for a policy that is a function. */
  readonly policy?: PolicyJson;
  /** The places where its rules are written. */
  readonly places?: RulePlaces;
}

/** A store of runs, with the programs of some of their agents. */
export interface RunsToInspect extends DurableAround {
  readonly known: ReadonlyMap<string, KnownAgent>;
}

/**
 * Reads a run, replays it if its program is there, and makes its view. A replay repeats no call. With `isQuick` the run is not replayed, for a first look at a
 * long one.
 *
 * @throws WritError `run-missing`
 */
export async function loadRun(id: string, around: RunsToInspect, isQuick = false): Promise<InspectedRun> {
  const { store, known, host } = around;
  const run = await store.read(id);
  if (run === undefined) throw new WritError("run-missing", { id });
  const [records, questions, replayed] = await Promise.all([
    store.records(id),
    store.questions(id),
    isQuick ? {} : factsOf(run, around),
  ]);
  const { agent: _agent, ...about } = known.get(run.agent) ?? {};
  return inspectRun({ run, records, questions, ...about, ...replayed, now: host.now() });
}

async function factsOf(run: StoredRun, around: RunsToInspect): Promise<Pick<KnownRun, "facts" | "notes">> {
  if (!around.known.has(run.agent)) return {};
  try {
    const { facts, error } = await replayedFacts(run.id, around);
    if (!isOfAnotherProgram(error))
      return { facts: facts.flatMap((event) => (isFact(event) ? [event] : [])), notes: aboutSession(run) };
    const reason = messageOf(error);
    return {
      notes: [
        `The run was made by another program than the one that is given here, so what follows is what its records say alone: ${reason}`,
      ],
    };
  } catch (error) {
    return {
      notes: [
        `The run could not be replayed, so what follows is what its records say alone: ${messageOf(error)}`,
      ],
    };
  }
}

function aboutSession({ session }: StoredRun): readonly string[] {
  if (session === undefined) return [];
  return [
    `The run belongs to the session "${session}". Messages of earlier runs in it are not shown in the prompts.`,
  ];
}

/**
 * Decides each call of a run again with another policy, from what the run knew at that time. No tool is called. The model might have
 * continued differently after another decision; that is unknown.
 *
 * @throws WritError `request-invalid` for a value that is not a policy; `run-missing`, `run-agent-missing`
 */
export async function tryPolicy(
  id: string,
  policy: Json,
  around: RunsToInspect,
): Promise<readonly TriedCall[]> {
  const run = await around.store.read(id);
  const { tools = [] } = around.known.get(run?.agent ?? "") ?? {};
  const { facts } = await replayedFacts(id, around);
  return readPolicy(policy)
    .simulate(facts, { tools })
    .map(({ turn, callId, tool, was, would, differs }) => ({ turn, callId, tool, was, would, differs }));
}

function readPolicy(policy: Json): ReturnType<typeof policyFromJson> {
  try {
    return policyFromJson(policy);
  } catch (cause) {
    throw new WritError("request-invalid", { where: "`policy`", reason: messageOf(cause) }, { cause });
  }
}
