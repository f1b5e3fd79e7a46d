import { WritError } from "../error/writ-error.ts";
import { applyMode } from "../executor/gate.ts";
import { consult } from "../hook/consult.ts";
import type { Host } from "../journal/host.ts";
import type { Checkpoint } from "../loop/checkpoint.ts";
import { refusedBy } from "../loop/end.ts";
import { type Finished, type Frame, frame } from "../loop/frame.ts";
import { cycle } from "../loop/loop.ts";
import type { LoopOptions } from "../loop/options.ts";
import { priceOf } from "../loop/price.ts";
import type { End } from "../loop/options.ts";
import { userMessage } from "../message/message.ts";
import {
  addReply,
  addUser,
  emptyTranscript,
  type ReadyTranscript,
  readTranscript,
} from "../message/transcript.ts";
import { noUsage, type Usage } from "../message/usage.ts";
import { emptyLedger, type Ledger, spend } from "../policy/budget.ts";
import { strictest } from "../policy/decision.ts";
import { describeIssues } from "../schema/schema.ts";
import { transcriptAfter } from "../session/history.ts";
import type { LoadedSession, SessionHandle } from "../session/session.ts";
import { type Json, toJson } from "../util/json.ts";
import { contentText } from "./answer.ts";
import { type Choice, chooseSkill } from "./choose-skill.ts";
import { runPlain } from "./plain.ts";
import type { AgenticPlan, AgentPlan, AnyDefinition, PlannedSkill } from "./plan.ts";
import { type Begun, frameOf, type RunFrame, type RunOptions } from "./runnable.ts";

/** An agent as it was defined and checked. */
export interface AroundAgent {
  readonly definition: AnyDefinition;
  readonly plan: AgentPlan;
  readonly host: Host;
}

/** One run that is wanted of it. */
export interface Wanted {
  readonly input: unknown;
  readonly options: RunOptions;
  readonly watched: boolean;
  readonly onTurn?: LoopOptions["onTurn"];
}

/** One run of an agent: what it works with from its beginning to its end. */
interface AgentRun extends AroundAgent, Omit<Wanted, "input"> {
  readonly input: Json;
  readonly base: RunFrame;
}

/** Begins a run. @throws WritError `input-invalid`, `delegation-too-deep` */
export async function beginAgent(around: AroundAgent, wanted: Wanted): Promise<Begun> {
  const { plan, host } = around;
  const base = frameOf(plan.name, wanted.options, { host, watched: wanted.watched });
  const run = { ...around, ...wanted, base, input: await readInput(plan, wanted.input) };
  const options = { ...base, agent: plan.name, input: run.input, durationMs: plan.limits.durationMs };
  return { runId: base.runId, generator: frame(options, (inside) => runAgent(run, inside)) };
}

/** Goes on with a run from a checkpoint. @throws WritError `checkpoint-invalid` */
export function resumeAgent(around: AroundAgent, checkpoint: Checkpoint, options: RunOptions): Begun {
  const { plan, host } = around;
  const { input, runId, elapsedMs } = checkpoint;
  const skill = plan.skills.get(checkpoint.skill);
  const transcript = readTranscript(checkpoint.transcript);
  const wrong =
    checkpoint.agent !== plan.name
      ? `it is of the agent "${checkpoint.agent}"`
      : skill?.type !== "agentic"
        ? `the agent has no skill "${checkpoint.skill}" that asks a model`
        : transcript.state === "open"
          ? "calls in it have no result"
          : undefined;
  if (wrong !== undefined || skill?.type !== "agentic" || transcript.state === "open")
    throw new WritError("checkpoint-invalid", { name: plan.name, reason: wrong ?? "it cannot be read" });
  const base = frameOf(plan.name, { runId, ...options }, { host, watched: false });
  const run: AgentRun = { ...around, options, watched: false, base, input };
  const durationMs = Math.max(1, plan.limits.durationMs - elapsedMs);
  const generator = frame({ ...base, agent: plan.name, input, durationMs }, (inside) => {
    inside.tell?.({ type: "skill-chosen", skill: skill.name, by: "caller" });
    const whole = { ...inside, durationMs: () => plan.limits.durationMs };
    return cycle({ ...loopOptions(skill, run), transcript, from: checkpoint }, whole);
  });
  return { runId: base.runId, generator };
}

/** A run from its input to its end: hooks, the choice of a skill, what was said before, the skill itself. */
async function runAgent(begun: AgentRun, inside: Frame): Promise<Finished> {
  const run = await askBeforeRun(begun, inside);
  const { plan, options, base } = run;
  const { journal } = base;
  const choice = await chooseSkill({
    plan,
    input: run.input,
    wanted: options.skill,
    journal,
    stop: inside.stop,
  });
  const spent = bookChoice(choice, run, inside);
  const { skill, fact, denied } = await askBeforeSkill(choice, run, inside);
  if (denied !== undefined) return { ...spent, transcript: emptyTranscript(), end: denied };
  inside.tell?.(fact);
  const session = await openSession(run);
  const finished = await runSkill(skill, { run, session, spent }, inside);
  const ended = await askAfterRun(finished, run, inside);
  if (session !== undefined) {
    const { end, usage, transcript } = ended;
    const about = { runId: base.runId, agent: plan.name, skill: skill.name, outcome: end.outcome, usage };
    await session.handle.save({ ...about, transcript }, session.loaded);
  }
  return ended;
}

interface OpenSession {
  readonly handle: SessionHandle;
  readonly loaded: LoadedSession;
}

/** What was said before is read once: a replay goes on from what the first run was given. */
async function openSession({ options, base }: AgentRun): Promise<OpenSession | undefined> {
  const { session: handle } = options;
  if (handle === undefined) return undefined;
  const loaded = await base.journal.step({ key: "session", run: () => handle.load() });
  return { handle, loaded };
}

interface Opened {
  readonly run: AgentRun;
  readonly session: OpenSession | undefined;
  readonly spent: Spent;
}

async function runSkill(
  skill: PlannedSkill,
  { run, session, spent }: Opened,
  inside: Frame,
): Promise<Finished> {
  const { plan, base, input } = run;
  const before = transcriptAfter(
    session?.loaded.messages ?? [],
    skill.type === "plain" ? undefined : skill.system,
  );
  const asked = addUser(before, userMessage(contentText(input)));
  if (skill.type === "agentic") {
    inside.extendDuration = extension(run, inside);
    return cycle({ ...loopOptions(skill, run), transcript: asked, spent }, inside);
  }
  const end = await runPlain(skill, { agent: plan.name, input, journal: base.journal }, inside);
  if (end.outcome.type !== "answered") return { ...spent, end, transcript: asked };
  const reply = contentText(end.outcome.content);
  const said = {
    role: "assistant" as const,
    parts: [{ type: "text" as const, text: reply === "" ? "(empty)" : reply }],
  };
  return { ...spent, end, transcript: addReply(asked, said) as ReadyTranscript };
}

async function askBeforeRun(run: AgentRun, inside: Frame): Promise<AgentRun> {
  const { plan, input } = run;
  const at = { agent: plan.name, input };
  const answer = await consult(consulting(run, inside), { place: "beforeRun", at, turn: 0 });
  return answer.input === undefined ? run : { ...run, input: await readInput(plan, answer.input) };
}

type Chosen = Pick<Choice, "skill" | "fact"> & { readonly denied?: End };

async function askBeforeSkill({ skill, fact }: Choice, run: AgentRun, inside: Frame): Promise<Chosen> {
  const { plan, input } = run;
  const at = { skill: skill.name, input };
  const answer = await consult(consulting(run, inside), { place: "beforeSkill", at, turn: 0 });
  if (answer.deny !== undefined)
    return {
      skill,
      fact,
      denied: refusedBy({ gate: { agent: plan.name }, limits: plan.limits }, answer.deny),
    };
  if (answer.skill === undefined || answer.skill === skill.name) return { skill, fact };
  const other = plan.skills.get(answer.skill);
  if (other !== undefined)
    return { skill: other, fact: { type: "skill-chosen", skill: other.name, by: "hook" } };
  throw new WritError("skill-unknown", {
    name: plan.name,
    skill: answer.skill,
    skills: [...plan.skills.keys()].join(", "),
  });
}

async function askAfterRun(finished: Finished, run: AgentRun, inside: Frame): Promise<Finished> {
  const { end, usage } = finished;
  if (run.plan.hooks.afterRun === undefined || inside.stop.reason !== undefined) return finished;
  const output = toJson(end.output);
  const at = { outcome: end.outcome, output: output.ok ? output.value : null, usage };
  const answer = await consult(consulting(run, inside), {
    place: "afterRun",
    at,
    turn: finished.ledger.turns,
  });
  return answer.output === undefined || end.outcome.type !== "answered"
    ? finished
    : { ...finished, end: { ...end, output: answer.output } };
}

function consulting({ plan, base }: AgentRun, { stop, tell }: Frame): Parameters<typeof consult>[0] {
  return { hooks: plan.hooks, journal: base.journal, stop, tell };
}

interface Spent {
  readonly ledger: Ledger;
  readonly usage: Usage;
}

/** A choice that the model made is paid for like any reply, though it is no turn. */
function bookChoice({ usage }: Choice, { plan, definition, base }: AgentRun, inside: Frame): Spent {
  if (usage === undefined || plan.model === undefined) return { ledger: emptyLedger, usage: noUsage };
  const costUsd = priceOf(usage, { price: definition.budget?.price, model: plan.model });
  inside.tell?.({
    type: "usage-add",
    turn: 0,
    usage,
    total: usage,
    ...(costUsd === undefined ? {} : { costUsd }),
  });
  base.parent?.purse.spend({ usage, costUsd: costUsd ?? Infinity, toolCalls: 0 });
  return { ledger: spend(emptyLedger, { usage, costUsd }), usage };
}

/** Asks the author's hooks for more time when it is over in the middle of a turn. */
function extension(run: AgentRun, inside: Frame): Frame["extendDuration"] {
  if (run.plan.hooks.onBudgetExceeded === undefined) return undefined;
  return async (durationMs) => {
    const message = `exceeded duration budget of ${durationMs} ms`;
    const at = { turn: 0, field: "durationMs" as const, limit: durationMs, used: durationMs, message };
    const place = { place: "onBudgetExceeded" as const, at, turn: 0, part: `duration/${durationMs}` };
    return (await consult(consulting(run, inside), place)).extend;
  };
}

function loopOptions(skill: AgenticPlan, run: AgentRun): Omit<LoopOptions, "transcript"> {
  const { definition, plan, base, options, input, onTurn } = run;
  const { parent } = base;
  const outer =
    parent === undefined
      ? skill.gate
      : { ...skill.gate, policy: strictest(skill.gate.policy, parent.policy) };
  const gate = options.tools === undefined ? outer : applyMode(outer, { restrictTo: options.tools });
  return {
    ...base,
    gate,
    model: skill.model,
    drivers: skill.drivers(),
    limits: plan.limits,
    price: definition.budget?.price,
    warnAt: definition.budget?.warnAt ?? 0.8,
    settings: plan.settings,
    examples: definition.examples ?? [],
    toolChoice: definition.toolChoice ?? "auto",
    lastTurn: definition.lastTurn ?? "tools",
    concurrency: definition.concurrency ?? Infinity,
    onUnknownTool: definition.onUnknownTool ?? "feedback",
    throwOnToolFailure: definition.throwOnToolFailure ?? false,
    stopOnToolBlock: definition.stopOnToolBlock ?? false,
    stopOn: definition.stopOn ?? [],
    compact: plan.compact,
    hooks: plan.hooks,
    recoveryOf: plan.recoveryOf,
    onTurn,
    input,
    output: skill.output,
    readAnswer: skill.readAnswer,
  };
}

async function readInput(plan: AgentPlan, input: unknown): Promise<Json> {
  const { name } = plan;
  const parsed = await plan.input?.parse(input);
  if (parsed?.ok === false)
    throw new WritError("input-invalid", { name, issues: describeIssues(parsed.issues) });
  const json = toJson(parsed === undefined ? input : parsed.value);
  if (!json.ok) throw new WritError("input-invalid", { name, issues: json.reason });
  return json.value;
}
