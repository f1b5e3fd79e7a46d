import { WritError } from "../error/writ-error.ts";
import { type Envelope, isFact, type RunEvent } from "../event/event.ts";
import type { Outcome } from "../event/outcome.ts";
import type { Approve } from "../executor/options.ts";
import { directJournal } from "../journal/direct-journal.ts";
import type { Host } from "../journal/host.ts";
import type { Journal } from "../journal/journal.ts";
import { loop } from "../loop/loop.ts";
import type { LoopResult } from "../loop/options.ts";
import { userMessage } from "../message/message.ts";
import { addUser, emptyTranscript, type ReadyTranscript } from "../message/transcript.ts";
import type { Usage } from "../message/usage.ts";
import { describeIssues } from "../schema/schema.ts";
import { drain } from "../util/drain.ts";
import { type Json, toJson } from "../util/json.ts";
import { answerReader, contentText } from "./answer.ts";
import { runPlain } from "./plain.ts";
import { type AgentPlan, type AnyDefinition, planAgent, type ResolveModel, type SkillPlan } from "./plan.ts";
import type { PlainSkill } from "./skill.ts";

/** What one run is given beside its input. */
export interface RunOptions {
  /** Cancels the run. */
  readonly signal?: AbortSignal;
  /** The same as `signal`, under the name that the AI SDK uses. */
  readonly abortSignal?: AbortSignal;
  /** Asks a person about calls that the policy is not sure of. Without it they are denied. */
  readonly approve?: Approve;
  /** Where the effects of the run are recorded, or replayed from. Default: nowhere. */
  readonly journal?: Journal;
  /** The skill to use, instead of `selectSkill`. */
  readonly skill?: string;
  /** Default: a new one. */
  readonly runId?: string;
}

/** What a run gave. */
export interface RunResult<Output> {
  readonly runId: string;
  readonly outcome: Outcome;
  /** There when the outcome is `answered`. */
  readonly output?: Output;
  /** The answer as text; empty when there is none. */
  readonly text: string;
  /** Why there is no answer. */
  readonly error?: WritError;
  readonly transcript: ReadyTranscript;
  readonly usage: Usage;
  readonly turns: number;
}

/** What a watcher gets: the event with its envelope. */
export type AgentEvent = RunEvent & Envelope;

/** An agent: a function from input to output, and the same run to look into. */
export interface Agent<Input = never, Output = unknown> {
  /**
   * Runs and gives the output.
   *
   * @throws WritError for anything but an answer; its code says what happened.
   */
  (input: Input, options?: RunOptions): Promise<Output>;
  readonly agentName: string;
  /** Provider and name of the model; undefined when all skills are plain. */
  readonly modelId?: string;
  /** Runs to the end. The end of a run is data: only the world's failures throw (a provider, the journal), and a wrong input. */
  run(input: Input, options?: RunOptions): Promise<RunResult<Output>>;
  /** The same run, event by event; what the generator returns is what `run` gives. Leaving it early cancels the run. */
  stream(input: Input, options?: RunOptions): AsyncGenerator<AgentEvent, RunResult<Output>>;
  /** The same agent with parts of its definition replaced; bounds of the budget that are not named stay. @throws WritError as `agent()` does. */
  with(changes: Partial<AnyDefinition>): Agent<Input, Output>;
  /** The skills and the tools that each may call. */
  readonly skills: readonly {
    readonly name: string;
    readonly type: "agentic" | "plain";
    readonly tools: readonly string[];
  }[];
}

/** What the core needs from outside to make agents. */
export interface Wiring {
  readonly host: Host;
  readonly resolveModel: ResolveModel;
}

interface Prepared {
  readonly runId: string;
  readonly generator: AsyncGenerator<RunEvent, LoopResult>;
}

/** Makes an agent for a host. `adapters/node.ts` has the one for Node, under the name `agent`. */
export function makeAgent<Input, Output>(definition: AnyDefinition, wiring: Wiring): Agent<Input, Output> {
  const plan = planAgent(definition, wiring.resolveModel);
  async function begin(input: Input, options: RunOptions, watched: boolean): Promise<Prepared> {
    const runId = options.runId ?? wiring.host.randomId();
    const value = await readInput(plan, definition.name, input);
    const skill = chooseSkill(plan, definition, { input, wanted: options.skill });
    const started = { input: value, runId, options, watched };
    if (skill.type === "plain") {
      const { limits } = plan;
      const { journal = directJournal, signal = options.abortSignal } = options;
      const plain = { agent: definition.name, input: value, limits, journal, signal, host: wiring.host };
      return { runId, generator: runPlain(skill, plain) };
    }
    return { runId, generator: runAgentic(skill, { definition, plan, wiring }, started) };
  }
  async function run(input: Input, options: RunOptions = {}): Promise<RunResult<Output>> {
    const { runId, generator } = await begin(input, options, false);
    return resultOf(runId, await drain(generator));
  }
  async function* stream(
    input: Input,
    options: RunOptions = {},
  ): AsyncGenerator<AgentEvent, RunResult<Output>> {
    const { runId, generator } = await begin(input, options, true);
    return resultOf(runId, yield* withEnvelope(generator, runId, wiring.host));
  }
  async function call(input: Input, options?: RunOptions): Promise<Output> {
    const result = await run(input, options);
    if (result.outcome.type === "answered") return result.output as Output;
    throw (
      result.error ?? new WritError("run-refused", { name: definition.name, reason: result.outcome.type })
    );
  }
  const skills = [...plan.skills.values()].map((skill) => ({
    name: skill.name,
    type: skill.type,
    tools: skill.type === "agentic" ? [...skill.gate.allowed.tools.keys()] : [],
  }));
  const withChanges = (changes: Partial<AnyDefinition>): Agent<Input, Output> =>
    makeAgent({ ...definition, ...changes, budget: { ...definition.budget, ...changes.budget } }, wiring);
  return Object.freeze(
    Object.assign(call, {
      agentName: definition.name,
      modelId: plan.modelId,
      run,
      stream,
      with: withChanges,
      skills,
    }),
  );
}

interface Started {
  readonly input: Json;
  readonly runId: string;
  readonly options: RunOptions;
  readonly watched: boolean;
}

interface Around {
  readonly definition: AnyDefinition;
  readonly plan: AgentPlan;
  readonly wiring: Wiring;
}

function runAgentic(
  skill: SkillPlan,
  { definition, plan, wiring }: Around,
  started: Started,
): AsyncGenerator<RunEvent, LoopResult> {
  const { input, runId, options, watched } = started;
  return loop({
    runId,
    gate: skill.gate,
    model: skill.model,
    drivers: skill.drivers(),
    limits: plan.limits,
    price: definition.budget?.price,
    settings: definition.settings ?? {},
    examples: definition.examples ?? [],
    toolChoice: definition.toolChoice ?? "auto",
    lastTurn: definition.lastTurn ?? "tools",
    concurrency: definition.concurrency ?? Infinity,
    onUnknownTool: definition.onUnknownTool ?? "feedback",
    throwOnToolFailure: definition.throwOnToolFailure ?? false,
    journal: options.journal ?? directJournal,
    host: wiring.host,
    signal: options.signal ?? options.abortSignal,
    watched,
    approve: options.approve,
    transcript: addUser(emptyTranscript(skill.system), userMessage(contentText(input))),
    input,
    readAnswer: answerReader(skill.output),
  });
}

async function readInput(plan: AgentPlan, name: string, input: unknown): Promise<Json> {
  const parsed = plan.input === undefined ? undefined : await plan.input.parse(input);
  if (parsed?.ok === false)
    throw new WritError("input-invalid", { name, issues: describeIssues(parsed.issues) });
  const json = toJson(parsed === undefined ? input : parsed.value);
  if (!json.ok) throw new WritError("input-invalid", { name, issues: json.reason });
  return json.value;
}

function chooseSkill(
  plan: AgentPlan,
  definition: AnyDefinition,
  from: { input: unknown; wanted?: string },
): SkillPlan | PlainSkill {
  const { name } = definition;
  const names = [...plan.skills.keys()];
  const only = names.length === 1 ? names[0] : undefined;
  const chosen = from.wanted ?? definition.selectSkill?.(from.input) ?? only;
  if (chosen === undefined) throw new WritError("skill-not-chosen", { name, skills: names.join(", ") });
  const skill = plan.skills.get(chosen);
  if (skill === undefined)
    throw new WritError("skill-unknown", { name, skill: chosen, skills: names.join(", ") });
  return skill;
}

async function* withEnvelope(
  events: AsyncGenerator<RunEvent, LoopResult>,
  runId: string,
  host: Host,
): AsyncGenerator<AgentEvent, LoopResult> {
  let seq = 0;
  let finished = false;
  try {
    for (;;) {
      const next = await events.next();
      finished = next.done === true;
      if (next.done === true) return next.value;
      if (isFact(next.value)) seq += 1;
      yield { ...next.value, seq, runId, at: host.now() };
    }
  } finally {
    // oxlint-disable-next-line typescript/no-confusing-void-expression -- the loop's own clean-up
    if (!finished) await events.return(undefined as never);
  }
}

function resultOf<Output>(runId: string, result: LoopResult): RunResult<Output> {
  const { outcome, error, transcript, usage, turns } = result;
  const text = outcome.type === "answered" ? contentText(outcome.content) : "";
  return {
    runId,
    outcome,
    output: result.output as Output | undefined,
    text,
    error,
    transcript,
    usage,
    turns,
  };
}
