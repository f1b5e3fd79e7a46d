import type { Host } from "../journal/host.ts";
import type { Checkpoint } from "../loop/checkpoint.ts";
import type { Tool } from "../tool/tool.ts";
import { drain } from "../util/drain.ts";
import { agentAsTool, type AsToolOptions, checkAsTool } from "./as-tool.ts";
import { describeAgent, nameAgent } from "./describe-agent.ts";
import { type AnyDefinition, planAgent, type ResolveModel } from "./plan.ts";
import { beginAgent, resumeAgent } from "./run-agent.ts";
import { type Runnable, runnable, type RunOptions, type RunResult, resultOf } from "./runnable.ts";
import { walkTurns } from "./turns.ts";

/** An agent: a function from input to output, and the same run to look into. */
export interface Agent<Input = never, Output = unknown> extends Runnable<Input, Output> {
  /** Provider and name of the model; undefined when all skills are plain. */
  readonly modelId?: string;
  /** The skills and the tools that each may call. */
  readonly skills: readonly {
    readonly name: string;
    readonly type: "agentic" | "plain";
    readonly tools: readonly string[];
  }[];
  /**
   * The agent for people, a line a thing: model, bounds, rules, and what each skill may call. Never a key.
   */
  describe(): string;
  /** Name and model: `agent "calculator" (ollama/qwen2.5:7b)`. */
  toString(): string;
  /**
   * The same run, turn by turn: yields where it stands after each turn, as JSON, and waits there until the next is asked for. Leaving it early
   * cancels the run.
   */
  turns(input: Input, options?: RunOptions): AsyncGenerator<Checkpoint, RunResult<Output>>;
  /**
   * Goes on with a run that was suspended, or with any state of `turns`, as this agent is defined now.
   *
   * @throws WritError `checkpoint-invalid` when it belongs to another agent, or is none.
   */
  resume(checkpoint: Checkpoint, options?: RunOptions): Promise<RunResult<Output>>;
  /** The agent as a tool of others: a run inside theirs, which shares their bounds and may do no more than they. */
  asTool(options?: AsToolOptions): Tool;
  /** The same agent with parts of its definition replaced; bounds of the budget that are not named stay. @throws WritError as `agent()` does. */
  with(changes: Partial<AnyDefinition>): Agent<Input, Output>;
}

/** What the core needs from outside to make agents. */
export interface Wiring {
  readonly host: Host;
  readonly resolveModel: ResolveModel;
}

/** Makes an agent for a host. `adapters/node.ts` has the one for Node, under the name `agent`. */
export function makeAgent<Input, Output>(definition: AnyDefinition, wiring: Wiring): Agent<Input, Output> {
  const { name, description = "" } = definition;
  const plan = planAgent(definition, wiring.resolveModel);
  const around = { definition, plan, host: wiring.host };
  const skills = [...plan.skills.values()].map((skill) => ({
    name: skill.name,
    type: skill.type,
    tools: skill.type === "agentic" ? [...skill.gate.allowed.tools.keys()] : [],
  }));
  const base = runnable<Input, Output>({
    name,
    description,
    begin: (input, options, watched) => beginAgent(around, { input, options, watched }),
    about: {
      host: wiring.host,
      input: plan.input,
      outputs: [...plan.skills.values()].map(({ output }) => output),
      tools: skills.flatMap(({ tools }) => tools),
    },
  });
  async function resume(checkpoint: Checkpoint, options: RunOptions = {}): Promise<RunResult<Output>> {
    const { runId, generator } = resumeAgent(around, checkpoint, options);
    return resultOf(runId, await drain(generator));
  }
  async function* turns(
    input: Input,
    options: RunOptions = {},
  ): AsyncGenerator<Checkpoint, RunResult<Output>> {
    return yield* walkTurns<Output>(options, async (walking) => {
      const { runId, generator } = await beginAgent(around, { input, watched: false, ...walking });
      return resultOf(runId, await drain(generator));
    });
  }
  const withChanges = (changes: Partial<AnyDefinition>): Agent<Input, Output> =>
    makeAgent({ ...definition, ...changes, budget: { ...definition.budget, ...changes.budget } }, wiring);
  return Object.freeze(
    Object.assign(base, {
      modelId: plan.model?.id,
      skills,
      describe: () => describeAgent(plan, definition),
      toString: () => nameAgent(plan),
      turns,
      resume,
      asTool: (options: AsToolOptions = {}) => {
        checkAsTool(options, name);
        return agentAsTool(base, { input: plan.input, skills, ...options });
      },
      with: withChanges,
    }),
  );
}
