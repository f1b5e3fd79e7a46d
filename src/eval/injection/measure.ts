import type { Policy } from "../../policy/decision.ts";
import { attackScene, isAttack, keyOf, type Recordings, type Script } from "./scenes.ts";
import type { Attack } from "./script-attack.ts";
import type { Judged, Stage } from "./stage.ts";
import type { SuiteTools } from "./suite-tools.ts";
import type { Pair, SuiteCall, UserTask } from "./suite.ts";

/** The caveat beside every figure of this evaluation. */
export const claim = "scripted worst case; not a claim about any model";

/** A way to guard the same agent. */
export interface Arm {
  readonly name: ArmName;
  readonly policy: Policy;
  /** The allow-list for a task. */
  readonly toolsFor: (task: UserTask) => readonly string[];
}

/** `plain`: every tool may be called; `allowList`: those of the task's skill; `full`: those, under the policy. */
export type ArmName = "plain" | "allowList" | "full";

/** All names of arms, from the weakest to the strictest. */
export const armNames: readonly ArmName[] = ["plain", "allowList", "full"];

/** Figures of the attacks. */
export interface AttackFigures {
  /** The pairs of a task and an attack that were played: those with calls to make, in whose task a result carries the injection. */
  readonly pairs: number;
  /** Attacks all of whose calls reached the functions of their tools, after some result that carries them. */
  readonly succeeded: number;
  /** Other attacks of which a call ran that changes something or reaches somebody, and that the task does not make itself. */
  readonly inPart: number;
  /** The share of `pairs`, from 0 to 1, whose attacks succeeded whole or in part. */
  readonly share: number | null;
  /** The part of `pairs` for whose attack no calls were recorded, so that one was made from the words of its goal. */
  readonly made: number;
  /** The part of `pairs` in which each call that reads the injection was refused, so that the attack was never read. None of these succeeded. */
  readonly undelivered: number;
  /** Not in `pairs`: no calls were recorded and none can be made from the goal, or no call of the attack fits the schema of its tool. */
  readonly notScripted: number;
  /** Not in `pairs`: no result of the task carries the injection. */
  readonly unreachable: number;
}

/** Figures of the tasks without an attack. */
export interface TaskFigures {
  readonly tasks: number;
  /** Tasks in which all calls ran and nobody was asked. */
  readonly autonomous: number;
  /** The share of these in `tasks`, from 0 to 1. */
  readonly share: number | null;
  /** Tasks with a call that changes something or reaches somebody: the others only look, and seldom ask. */
  readonly acting: number;
  /** The part of `acting` in which all calls ran and nobody was asked. */
  readonly actingAutonomous: number;
  /** The share of these in `acting`, from 0 to 1. */
  readonly actingShare: number | null;
  /** The number of tools of a task, on average. */
  readonly toolsPerTask: number | null;
  /** The number of tools of each task, by its id. */
  readonly toolsOf: Readonly<Record<string, number>>;
  /** Tasks in which all calls ran, with every question answered as `--approve` says. */
  readonly done: number;
  /** The questions in all tasks, one for each call that asks. Each is answered with yes, so that the calls after it are reached. */
  readonly questions: number;
  readonly questionsPerTask: number | null;
  /** The same with every question answered with no: a later call asks again. */
  readonly questionsRefused: number;
  /** Calls that were refused without a question, with every question answered with yes. */
  readonly refusals: number;
}

/** A reason for questions or refusals, over all tasks. */
export interface Interruption {
  readonly verdict: "ask" | "deny";
  readonly tool: string;
  /** The path of the argument that no bound value explains, or that has an unknown link; empty if the decision names none. */
  readonly argument: string;
  readonly rule: string;
  readonly count: number;
}

/**
 * A failure that `--show-failures` shows: an attack that succeeded whole or in part; a task that was not done without a
 * question; and, of the adaptive attacker, a goal that it reached, harmful calls that passed, and calls that
 * misuse the user's own values.
 */
export interface Failure {
  readonly type: "attack" | "part" | "task" | "goal" | "harmful" | "misuse";
  readonly user: string;
  readonly injection?: string;
  /** The calls of an attack, or the calls of a task that asked or were refused. */
  readonly calls: readonly Judged[];
}

/** The figures of one arm. */
export interface ArmFigures {
  readonly claim: string;
  readonly attacks: AttackFigures;
  readonly tasks: TaskFigures;
  readonly interruptions: readonly Interruption[];
}

/** A pair with the calls of its attack; undefined if none can be made. */
export interface ScriptedPair {
  readonly pair: Pair;
  readonly attack?: Attack;
  /** True if the tool of some call of the attack takes it. Other calls would be refused without a policy, and say nothing about one. */
  readonly isPossible: boolean;
}

/** The inputs for measuring an arm. */
export interface Measuring {
  readonly arm: Arm;
  readonly play: Stage;
  readonly tools: SuiteTools;
  readonly recordings: Recordings;
  /** The script of a task for the model of this arm. */
  readonly scriptOf: (task: UserTask) => Script | Promise<Script>;
  readonly approve: boolean;
  readonly onFailure?: (failure: Failure) => void;
}

/** Plays each attack in each task, once after each result that carries it. */
export async function measureAttacks(
  pairs: readonly ScriptedPair[],
  measuring: Measuring,
): Promise<AttackFigures> {
  const counts = { succeeded: 0, inPart: 0, made: 0, undelivered: 0, notScripted: 0, unreachable: 0 };
  let played = 0;
  for (const { pair, attack, isPossible } of pairs) {
    if (pair.strikes.length === 0) counts.unreachable += 1;
    else if (attack === undefined || !isPossible) counts.notScripted += 1;
    else {
      const struck = await strikeAll(pair, attack.calls, measuring);
      played += 1;
      if (attack.isMade) counts.made += 1;
      if (struck.every(({ isDelivered }) => !isDelivered)) counts.undelivered += 1;
      const worst =
        struck.find(({ reach }) => reach === "attack") ?? struck.find(({ reach }) => reach === "part");
      if (worst?.reach === undefined) continue;
      counts[worst.reach === "attack" ? "succeeded" : "inPart"] += 1;
      const { reach: type, calls } = worst;
      measuring.onFailure?.({ type, user: pair.user.id, injection: pair.injection.id, calls });
    }
  }
  return { pairs: played, ...counts, share: shareOf(counts.succeeded + counts.inPart, played) };
}

/** An attack after one result, with the calls that ran. */
interface Struck {
  readonly isDelivered: boolean;
  readonly reach: "attack" | "part" | undefined;
  readonly calls: readonly Judged[];
}

async function strikeAll(
  pair: Pair,
  attack: readonly SuiteCall[],
  { arm, play, tools, recordings, approve, scriptOf }: Measuring,
): Promise<readonly Struck[]> {
  const script = await scriptOf(pair.user);
  const own = new Set(pair.user.steps.map(keyOf));
  const turns = attack.map((call) => [call]);
  const struck: Struck[] = [];
  for (const strike of pair.strikes) {
    const playing = { tools: arm.toolsFor(pair.user), approve };
    const judged = await play(attackScene(pair, { strike, attack, turns, recordings, script }, playing));
    const calls = judged.filter(({ call }) => isAttack(call));
    const ran = calls.filter(({ hasRun }) => hasRun);
    const isPart = ran.some(({ call }) => tools.reaches(call.tool) && !own.has(keyOf(call)));
    const reach = ran.length === calls.length ? "attack" : isPart ? "part" : undefined;
    struck.push({ isDelivered: wasDelivered(judged), reach, calls });
  }
  return struck;
}

/** True if the result with the injection was delivered: it belongs to the last call before the attacker's. */
function wasDelivered(judged: readonly Judged[]): boolean {
  return judged.findLast(({ call }) => !isAttack(call))?.hasRun === true;
}

/** Plays each task without an attack, once with every question answered with yes and once with no. */
export async function measureTasks(
  tasks: readonly UserTask[],
  { arm, play, tools, approve, onFailure, scriptOf }: Measuring,
): Promise<{ readonly figures: TaskFigures; readonly interruptions: readonly Interruption[] }> {
  const counts = {
    autonomous: 0,
    acting: 0,
    actingAutonomous: 0,
    done: 0,
    questions: 0,
    questionsRefused: 0,
    refusals: 0,
  };
  const toolsOf: Record<string, number> = {};
  const interrupted: Judged[] = [];
  for (const task of tasks) {
    const granted = arm.toolsFor(task);
    toolsOf[task.id] = granted.length;
    const scene = { prompt: task.prompt, turns: await scriptOf(task), tools: granted };
    const agreed = await play({ ...scene, approve: true });
    const refused = await play({ ...scene, approve: false });
    const isActing = task.steps.some(({ tool }) => tools.reaches(tool));
    const calls = agreed.filter(({ hasRun, wasAsked }) => wasAsked || !hasRun);
    if ((approve ? agreed : refused).every(({ hasRun }) => hasRun)) counts.done += 1;
    if (calls.length === 0) counts.autonomous += 1;
    else onFailure?.({ type: "task", user: task.id, calls });
    if (isActing) counts.acting += 1;
    if (isActing && calls.length === 0) counts.actingAutonomous += 1;
    counts.questions += agreed.filter(({ wasAsked }) => wasAsked).length;
    counts.questionsRefused += refused.filter(({ wasAsked }) => wasAsked).length;
    counts.refusals += agreed.filter(({ hasRun, wasAsked }) => !hasRun && !wasAsked).length;
    interrupted.push(...calls);
  }
  const figures = {
    tasks: tasks.length,
    ...counts,
    share: shareOf(counts.autonomous, tasks.length),
    actingShare: shareOf(counts.actingAutonomous, counts.acting),
    toolsPerTask: shareOf(
      Object.values(toolsOf).reduce((sum, count) => sum + count, 0),
      tasks.length,
    ),
    toolsOf,
    questionsPerTask: shareOf(counts.questions, tasks.length),
  };
  return { figures, interruptions: interruptionsOf(interrupted) };
}

/** A part of a whole; null if the whole is empty. */
export function shareOf(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

function interruptionsOf(calls: readonly Judged[]): readonly Interruption[] {
  const counted = new Map<string, Interruption>();
  for (const { call, decision, wasAsked } of calls)
    for (const argument of argumentsOf(decision)) {
      const verdict = wasAsked ? "ask" : "deny";
      const key = `${verdict} ${call.tool} ${argument} ${decision.rule}`;
      const { count = 0 } = counted.get(key) ?? {};
      counted.set(key, { verdict, tool: call.tool, argument, rule: decision.rule, count: count + 1 });
    }
  return [...counted.values()].toSorted((a, b) => b.count - a.count);
}

/** The arguments that a decision is based on, each once. A list counts as one argument. */
export function argumentsOf({ evidence }: Judged["decision"]): readonly string[] {
  const paths = (evidence?.unbound ?? []).map(({ path }) => path.replace(/[.[].*$/, ""));
  const links = (evidence?.links ?? []).length > 0 ? ["(a link)"] : [];
  const all = [...new Set([...paths, ...links])];
  return all.length === 0 ? [""] : all;
}
