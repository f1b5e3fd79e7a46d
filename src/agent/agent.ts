import { checkShape } from "../error/check-shape.ts";
import { named, record } from "../util/shape.ts";
import { surrounded } from "../run/around.ts";
import type { Checkpoint } from "../run/checkpoint.ts";
import type { Tool } from "../tool/tool.ts";
import type { DriverChoice } from "../driver/choose.ts";
import type { SchemaSource } from "../schema/to-schema.ts";
import { agentAsTool, type AsToolOptions, checkAsTool } from "./as-tool.ts";
import type { ChangedInput, ChangedOutput, Changes, Kept } from "./changed.ts";
import type { Audit } from "./describe/audit-data.ts";
import { auditOf } from "./describe/audit.ts";
import { describeAgent, nameAgent } from "./describe/describe-agent.ts";
import { enforcementOf, type ToolEnforcement } from "./describe/enforcement.ts";
import type { AgentManifest } from "./describe/manifest-data.ts";
import type { AgentInside } from "./describe/manifest-origin.ts";
import { manifestOf } from "./describe/manifest.ts";
import { checkRunOptions } from "./check-definition.ts";
import { listenerOf } from "./observers.ts";
import type { AnyDefinition } from "./definition.ts";
import { planAgent, type Wiring } from "./plan.ts";
import { type AroundAgent, beginAgent, beginnerOf, resumeAgent } from "./run-agent.ts";
import { type Runnable, runnable, type RunResult, endOf } from "./runnable.ts";
import type { RunOptions } from "./run-options.ts";
import { walkTurns } from "./turns.ts";

/** Makes the replaced parts of a definition from the current definition. */
type DefinitionChange = (definition: AnyDefinition) => Partial<AnyDefinition>;

/** An agent: a function from input to output, with ways to inspect its runs. */
export interface Agent<Input = never, Output = unknown> extends Runnable<Input, Output> {
  /** Provider and name of the model; undefined if all skills are plain. */
  readonly modelId?: string;
  /** The skills and the tools that each may call. */
  readonly skills: readonly {
    readonly name: string;
    readonly type: "agentic" | "plain";
    readonly tools: readonly string[];
  }[];
  /**
   * The agent in words for people, one fact per line: model, bounds, rules, and the tools of each skill. Never a key.
   */
  describe(): string;
  /**
   * The powers of the agent, as data. The same agent always has the same manifest, and `writ manifest --check`
   * fails if one manifest is wider than another.
   */
  manifest(): Promise<AgentManifest>;
  /**
   * Finds dangers in the definition: strangers' words, private data and a way out in one skill; undeclared
   * effects; grants that are too wide. Runs nothing.
   */
  audit(): Audit;
  /**
   * The enforcement of each tool's declaration on this machine: level, mechanism, and the ways out that
   * were tried.
   */
  enforcement(): Promise<readonly ToolEnforcement[]>;
  /** Name and model: `agent "calculator" (ollama/qwen2.5:7b)`. */
  toString(): string;
  /**
   * The same run, turn by turn: yields the state after each turn, as JSON, and waits until the next one is asked for. Leaving the loop before the
   * last turn cancels the run, and waits for its end.
   */
  turns(input: Input, options?: RunOptions): AsyncGenerator<Checkpoint, RunResult<Output>>;
  /**
   * Continues a run that was suspended, or any state from `turns`, with the current definition of this agent.
   *
   * @throws WritError `checkpoint-invalid` if the value is not a checkpoint, or is one of another agent
   */
  resume(checkpoint: Checkpoint, options?: RunOptions): Promise<RunResult<Output>>;
  /** The agent as a tool of others: a run inside theirs, which shares their bounds and may do no more than they may. */
  asTool(options?: AsToolOptions): Tool;
  /**
   * The same agent with parts of its definition replaced, possibly computed from the current ones; bounds of the budget that are not named stay.
   *
   * @throws WritError as `agent()` does
   */
  with<
    OwnInput,
    OwnOutput,
    In extends SchemaSource | Kept | undefined = Kept,
    Out extends SchemaSource | Kept | undefined = Kept,
    Driver extends DriverChoice | Kept = Kept,
  >(
    this: Pick<Runnable<OwnInput, OwnOutput>, "run">,
    changes: Changes<In, Out, Driver> | DefinitionChange,
  ): Agent<ChangedInput<OwnInput, In>, ChangedOutput<OwnOutput, Out, Driver>>;
}

/** The methods of an agent that describe it and run nothing. */
function lookingInto({
  plan,
  definition,
  host,
}: AroundAgent): Pick<Agent, "describe" | "manifest" | "audit" | "enforcement" | "toString"> {
  return {
    describe: () => describeAgent(plan, definition),
    manifest: () => manifestOf(plan, definition),
    audit: () => auditOf(plan, definition),
    enforcement: () => Promise.resolve(enforcementOf(plan, host)),
    toString: () => nameAgent(plan),
  };
}

function agentInside({ plan, definition }: AroundAgent): AgentInside {
  return {
    name: plan.name,
    enforces: definition.enforce === "isolated",
    madeOf: { definition },
    manifest: () => manifestOf(plan, definition),
    audit: (only) => auditOf(plan, definition, only),
  };
}

function heard(
  { onEvent }: RunOptions,
  { plan, host }: AroundAgent,
): ReturnType<typeof listenerOf> | undefined {
  return onEvent && listenerOf(onEvent, plan.name, host);
}

const changesShape = named("an object of what is other", record);

/** Makes an agent for a host. `adapters/node.ts` makes those for Node, under the name `agent`. */
export function makeAgent<Input, Output>(definition: AnyDefinition, wiring: Wiring): Agent<Input, Output> {
  const plan = planAgent(definition, wiring);
  const { name, description = "", grants } = definition;
  const around = { definition, plan, host: wiring.host };
  const skills = [...plan.skills.values()].map((skill) => ({
    name: skill.name,
    type: skill.type,
    tools: skill.type === "agentic" ? [...skill.gate.allowed.tools.keys()] : [],
  }));
  const outputs = [...plan.skills.values()].map(({ output }) => output);
  const base = runnable<Input, Output>({
    name,
    description,
    begin: beginnerOf(around),
    about: {
      host: wiring.host,
      input: plan.input,
      outputs,
      tools: skills.flatMap(({ tools }) => tools),
      skills: skills.map((skill) => skill.name),
      grants,
      inside: [agentInside(around)],
    },
  });
  async function resume(checkpoint: Checkpoint, options: RunOptions = {}): Promise<RunResult<Output>> {
    checkRunOptions(options, name, plan.tools);
    return endOf(resumeAgent(around, checkpoint, options), heard(options, around));
  }
  function turns(input: Input, options: RunOptions = {}): AsyncGenerator<Checkpoint, RunResult<Output>> {
    checkRunOptions(options, name, plan.tools);
    const walk = walkTurns<Output>(options, async (walking) => {
      const listen = heard(options, around);
      return endOf(await beginAgent(around, { input, watched: listen !== undefined, ...walking }), listen);
    });
    return surrounded(wiring.host, walk);
  }
  function withChanges(given: Partial<AnyDefinition> | DefinitionChange): Agent<Input, Output> {
    const changes = typeof given === "function" ? given(definition) : given;
    checkShape(`with() of agent "${name}"`, changes, changesShape);
    return makeAgent(
      { ...definition, ...changes, budget: { ...definition.budget, ...changes.budget } },
      wiring,
    );
  }
  return Object.freeze(
    Object.assign(base, lookingInto(around), {
      modelId: plan.model?.id,
      skills,
      turns,
      resume,
      asTool: (options: AsToolOptions = {}) => {
        checkAsTool(options, name);
        return agentAsTool(base, { input: plan.input, skills, outputs, grants, ...options });
      },
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the changed definition takes and gives only types say
      with: withChanges as Agent<Input, Output>["with"],
    }),
  );
}
