import { WritError } from "../error/writ-error.ts";
import { withoutSecrets } from "../run/secrets.ts";
import type { Host } from "../journal/host.ts";
import { startKey } from "../journal/record-form.ts";
import { type Checkpoint, checkpointFault } from "../run/checkpoint.ts";
import { type End, endBy, exhausted } from "../run/end.ts";
import type { Finished } from "../run/finished.ts";
import { type Frame, Framed } from "../run/frame.ts";
import { termsIn } from "../run/approval.ts";
import { driversFor } from "../turn/ask-model.ts";
import { cycle } from "../turn/cycle.ts";
import type { LoopOptions } from "../turn/options.ts";
import { isAsked, type SystemMessage } from "../message/message.ts";
import { readTranscript } from "../message/read-transcript.ts";
import { addSaid, emptyTranscript, type ReadyTranscript } from "../message/transcript.ts";
import { noUsage, priceOf } from "../message/usage.ts";
import { emptyLedger, spend } from "../policy/account/budget.ts";
import { transcriptAfter } from "../session/history.ts";
import type { Json } from "../util/json.ts";
import { after, type Maybe, rescue } from "../util/maybe.ts";
import {
  askAfterRun,
  askBeforeRun,
  askBeforeSkill,
  checkAlone,
  checkTakes,
  type ReadInput,
  readInput,
} from "./around-run.ts";
import { type Choice, chooseSkill } from "./choose-skill.ts";
import { beganWithout, inSession, keep, type OpenSession, sessionKey } from "./in-session.ts";
import { answerPlainly } from "./plain.ts";
import { forcedCall } from "./forced-call.ts";
import { type AgenticPlan, isTalk, type PlannedSkill } from "./plan-skill.ts";
import { type AgentPlan, begunPlan, type ChosenSkill } from "./plan.ts";
import type { AnyDefinition } from "./definition.ts";
import { askedMessage, declareIntent, type Declaring, gateOf, isWhole, saidBefore } from "./run-intent.ts";
import { type Begin, type Begun, frameOf, type RunFrame } from "./runnable.ts";
import type { RunOptions } from "./run-options.ts";

/** An agent as it was defined and checked. */
export interface AroundAgent {
  readonly definition: AnyDefinition;
  readonly plan: AgentPlan;
  readonly host: Host;
}

/** A run that a caller wants. */
export interface Wanted {
  readonly input: unknown;
  readonly options: RunOptions;
  readonly watched: boolean;
  readonly onTurn?: LoopOptions["onTurn"];
}

/** One run of an agent, with everything that it works with from beginning to end. */
interface AgentRun extends AroundAgent, Omit<Wanted, "input">, ReadInput {
  /** The input as the caller passed it, before a schema parsed it. */
  readonly given?: unknown;
  readonly base: RunFrame;
}

/** The beginning of the runs of an agent. */
export function beginnerOf(around: AroundAgent): Begin<unknown> {
  return (input, options, watched) => beginAgent(around, { input, options, watched });
}

/** Begins a run. @throws WritError `input-invalid`, `delegation-too-deep` */
export function beginAgent(around: AroundAgent, wanted: Wanted): Maybe<Begun> {
  const { definition, host } = around;
  const { name, tools } = around.plan;
  const base = frameOf(name, wanted.options, { ...wanted, host, tools, account: definition.account });
  const plan = base.journal.find?.(startKey) === undefined ? around.plan : begunPlan(around.plan);
  const { input: given } = wanted;
  const isRead = typeof given === "string" && plan.input === undefined;
  const reading = isRead ? { input: given } : readInput(given, { name, schema: plan.input });
  return after(reading, (read: ReadInput) => {
    const { input, asked } = host.powers?.holdsSecrets === true ? withoutSecrets(read, host) : read;
    const { options, watched, onTurn } = wanted;
    if (asked !== undefined) checkAlone(asked, options, name);
    const { limits, observe } = plan;
    const framing = { ...base, agent: name, input, durationMs: limits.durationMs, observe };
    const run = { definition, plan, host, options, watched, onTurn, base: framing, given, input, asked };
    return { runId: base.runId, framed: new Framed(framing, runAgent.bind(undefined, run)) }; // a closure would hold on to all that it can see, as long as the run lives
  });
}

/** Continues a run from a checkpoint. @throws WritError `checkpoint-invalid`, `transcript-invalid` */
export function resumeAgent(around: AroundAgent, checkpoint: Checkpoint, options: RunOptions): Begun {
  const { plan, host } = around;
  const fault = checkpointFault(checkpoint);
  if (fault !== undefined) throw unusable(plan, fault);
  const { agent, input, runId, skill: name, intent } = checkpoint;
  if (!isWhole(intent, host.digest)) throw unusable(plan, "its intent is not the one that was hashed");
  const skill = plan.skills.get(name);
  const transcript = readTranscript(checkpoint.transcript);
  if (agent !== plan.name) throw unusable(plan, `it is of the agent "${agent}"`);
  if (skill?.type !== "agentic") throw unusable(plan, `the agent has no skill "${name}" that asks a model`);
  if (!transcript.messages.some(isAsked)) throw unusable(plan, "nobody asks anything in its transcript");
  if (transcript.state === "open") throw unusable(plan, "calls in it have no result");
  const wanted = { input, options: { runId, ...options }, watched: options.onEvent !== undefined };
  return beginCycle(around, { skill, transcript, from: checkpoint }, wanted);
}

function unusable({ name }: AgentPlan, reason: string): WritError<"checkpoint-invalid"> {
  return new WritError("checkpoint-invalid", { name, reason });
}

/** The beginning of a turn cycle whose skill is already chosen. */
export interface CycleBeginning {
  readonly skill: AgenticPlan;
  /** The conversation so far, with its system message. */
  readonly transcript: ReadyTranscript;
  readonly from?: Checkpoint;
}

/** Begins the turn cycle of one skill from a transcript. */
export function beginCycle(
  around: AroundAgent,
  { skill, transcript, from }: CycleBeginning,
  wanted: Wanted & { readonly input: Json },
): Begun {
  const { definition, plan, host } = around;
  const { options } = wanted;
  const input = withoutSecrets(wanted.input, host);
  const { account } = definition;
  const base = frameOf(plan.name, options, { ...wanted, host, tools: plan.tools, account });
  const run: AgentRun = { ...around, ...wanted, base, input };
  const cycling = loopOptions(skill, run, { transcript, from });
  const { durationMs } = plan.limits;
  const { observe } = plan;
  const framing = { ...base, agent: plan.name, input, durationMs, observe, elapsedMs: from?.elapsedMs };
  const framed = new Framed(framing, async (inside) => {
    inside.tell?.({ type: "skill-chosen", skill: skill.name, by: "caller" });
    const work = (session?: OpenSession): Maybe<Finished> => {
      const running = runCycle({ ...cycling, beforeEffect: session?.beforeEffect }, inside);
      return ended(running, session, { run, skill, inside });
    };
    const { session } = options;
    const key = `session/${from?.ledger.turns ?? 0}`;
    return session === undefined ? work() : inSession(session, run, { key, work, stop: inside.stop });
  });
  return { runId: base.runId, framed };
}

/** Runs the turn cycle; from here on events have its intent. */
function runCycle(options: LoopOptions, inside: Frame): Promise<Finished> {
  inside.intent = options.gate.intent;
  return cycle(options, inside);
}

/** A run from its input to its end: hooks, the choice of a skill, the earlier conversation, the skill itself. */
function runAgent(begun: AgentRun, inside: Frame): Maybe<Finished> {
  const { plan, options } = begun;
  if (plan.hooks.beforeRun === undefined) return withSkill(begun, inside);
  return askBeforeRun(begun, inside).then((changed) => {
    if (changed?.asked !== undefined) checkAlone(changed.asked, options, plan.name);
    return withSkill({ ...begun, ...changed }, inside);
  });
}

/** Runs the chosen skill. The cost of the choice is kept, however the run ends. */
function withSkill(run: AgentRun, inside: Frame): Maybe<Finished> {
  const { definition, plan, options, base, host, input } = run;
  const { skill: wanted } = options;
  if (plan.only !== undefined && wanted === undefined)
    return carryOut(plan.only, { run, spent: nothingSpent }, inside);
  const { journal, parent, accounts } = base;
  const excess = parent?.purse.turnExcess();
  const bounds = { accounts, price: definition.budget?.price, timeout: definition.timeout, host };
  const retry = options.retry ?? plan.retry;
  const choosing = { plan, input, wanted, journal, stop: inside.stop, excess, host, bounds, retry };
  return after(chooseSkill(choosing), (choice) => {
    const spent = bookChoice(choice, run, inside);
    return rescue(
      () => {
        if (choice.type === "failed") throw choice.error;
        if (choice.type === "chosen") return carryOut(choice.chosen, { run, spent }, inside);
        const end = exhausted({ gate: { agent: plan.name } }, choice.excess);
        return askAfterRun(endedBefore(end, spent), run, inside);
      },
      (error) => endedBefore(endBy(error, { gate: { agent: plan.name }, stop: inside.stop }), spent),
    );
  });
}

/** The end of a run before its first turn. */
function endedBefore(end: End, { ledger, usage }: Spent): Finished {
  return { end, transcript: emptyTranscript(), ledger, usage };
}

interface Beginning {
  readonly run: AgentRun;
  readonly spent: Spent;
}

function carryOut(chosen: ChosenSkill, { run, spent }: Beginning, inside: Frame): Maybe<Finished> {
  if (run.plan.hooks.beforeSkill === undefined) return carryOutSkill(chosen, { run, spent }, inside);
  return askBeforeSkill(chosen, run, inside).then((answered) =>
    "outcome" in answered
      ? askAfterRun(endedBefore(answered, spent), run, inside)
      : carryOutSkill(answered, { run, spent }, inside),
  );
}

function carryOutSkill(
  { skill, fact }: ChosenSkill,
  { run, spent }: Beginning,
  inside: Frame,
): Maybe<Finished> {
  const checking = skill.input === undefined ? undefined : checkTakes(skill, run, inside);
  return after(checking, () => {
    inside.tell?.(fact);
    const work = (session?: OpenSession): Maybe<Finished> =>
      ended(runSkill(skill, { run, session, spent }, inside), session, { run, skill, inside });
    const { session } = run.options;
    if (session === undefined || beganWithout(run.base.journal)) return work();
    return inSession(session, run, { key: sessionKey, work, stop: inside.stop });
  });
}

/** Asks the author's hooks about the end of a run, and saves it in its session. */
function ended(
  running: Maybe<Finished>,
  session: OpenSession | undefined,
  { run, skill, inside }: { readonly run: AgentRun; readonly skill: PlannedSkill; readonly inside: Frame },
): Maybe<Finished> {
  if (session === undefined && run.plan.hooks.afterRun === undefined) return running;
  return after(running, (finished) =>
    finished.end.questions !== undefined
      ? finished
      : after(askAfterRun(finished, { ...run, skill }, inside), (asked) =>
          keep(session, asked, { run, skill, inside }),
        ),
  );
}

interface Opened {
  readonly run: AgentRun;
  readonly session: OpenSession | undefined;
  readonly spent: Spent;
}

function runSkill(skill: PlannedSkill, { run, session, spent }: Opened, inside: Frame): Promise<Finished> {
  const said = session?.loaded.messages ?? (run.asked === undefined ? [] : saidBefore(run.asked, run));
  const asked = askedMessage(run, run.options);
  if (skill.type === "plain") {
    const { plan, base, input } = run;
    const about = { agent: plan.name, input, journal: base.journal };
    return answerPlainly(skill, { ...about, said: transcriptAfter(said), asked, spent }, inside);
  }
  const { host, options } = run;
  const words = systemFor(skill, options);
  const system = host.powers?.holdsSecrets === true ? withoutSecrets(words, host) : words;
  const before = said.length === 0 ? emptyTranscript(system) : transcriptAfter(said, system);
  const previous = session?.loaded.intent;
  const { beforeEffect } = session ?? {};
  const cycling = { transcript: addSaid(before, asked), spent, previous, beforeEffect };
  return runCycle(loopOptions(skill, run, cycling), inside);
}

/** The system message of a run: the agent's own instructions, then those of this run only. */
function systemFor({ system }: AgenticPlan, { instructions = "" }: RunOptions): SystemMessage {
  if (instructions === "") return system;
  return { ...system, text: [system.text, instructions].filter((text) => text !== "").join("\n\n") };
}

type Spent = Pick<Finished, "ledger" | "usage">;

const nothingSpent: Spent = { ledger: emptyLedger, usage: noUsage };

/** Books the model's choice of a skill: it is paid for like any reply, but it is not a turn. */
function bookChoice({ usage }: Choice, { plan, definition, base }: AgentRun, inside: Frame): Spent {
  if (usage === undefined || plan.model === undefined) return nothingSpent;
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

const none: readonly never[] = [];

function loopOptions(
  skill: AgenticPlan,
  run: AgentRun,
  cycling: Pick<LoopOptions, "transcript" | "spent" | "from" | "beforeEffect"> & Pick<Declaring, "previous">,
): LoopOptions {
  const { transcript, spent, from, previous, beforeEffect } = cycling;
  const { definition, plan, base, options, input, asked, onTurn } = run;
  const intent = declareIntent({ plan, skill, base, options, input, asked, from, previous });
  const gate = gateOf(skill.gate, base, { intent, powers: base.powers.concat([plan.grants]) });
  return {
    runId: base.runId,
    host: base.host,
    journal: base.journal,
    parent: base.parent,
    accounts: base.accounts,
    level: base.level,
    approve: base.approve,
    onWait: base.onWait,
    approvals: definition.approvals ? termsIn(base.approvals, definition.approvals) : base.approvals,
    leaving: base.leaving,
    transcript,
    spent,
    from,
    beforeEffect,
    gate,
    modes: options.tools === undefined ? none : [{ restrictTo: options.tools }],
    model: skill.model,
    drivers: driversFor(skill.driver, skill.model, () => isTalk(skill, transcript)),
    limits: plan.limits,
    price: definition.budget?.price,
    warnAt: definition.budget?.warnAt ?? 0.8,
    settings: plan.settings,
    examples: definition.examples ?? none,
    toolChoice:
      definition.toolChoice === undefined
        ? "auto"
        : forcedCall(definition.toolChoice, skill, { options, from }),
    marks: definition.markResults ?? true,
    lastTurn: definition.lastTurn ?? "tools",
    concurrency: definition.concurrency,
    retry: options.retry ?? plan.retry,
    timeout: definition.timeout,
    endOn: definition.endOn ?? none,
    compact: plan.compact,
    hooks: plan.hooks,
    executor: definition.executor,
    onTurn,
    input,
    output: skill.output,
    readAnswer: skill.readAnswer,
  };
}
