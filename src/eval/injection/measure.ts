import type { Policy } from "../../policy/decision.ts";
import { attackScene, isAttack, type Recordings, taskScene } from "./scenes.ts";
import type { Attack } from "./script-attack.ts";
import type { Judged, Stage } from "./stage.ts";
import type { Pair, SuiteCall, UserTask } from "./suite.ts";

/** Caveat that stands beside every figure of this evaluation. */
export const claim = "scripted worst case; not a claim about any model";

/** A way of guarding the same agent. */
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
  /** Pairs of a task and an attack that were played: those with calls to make, in whose task a result carries the injection. */
  readonly pairs: number;
  /** Attacks all of whose calls reached the functions of their tools. */
  readonly succeeded: number;
  /** Of `pairs`, from 0 to 1. */
  readonly share: number | null;
  /** Of `pairs`: no calls were recorded for the attack, and one was made from the words of its goal. */
  readonly made: number;
  /** Of `pairs`: the call that reads the injection was refused, so that the attack was never read. None of these succeeded. */
  readonly undelivered: number;
  /** Apart from `pairs`: nothing was recorded, and nothing can be made of the goal. */
  readonly notScripted: number;
  /** Apart from `pairs`: no result of the task carries the injection. */
  readonly unreachable: number;
}

/** Figures of the tasks without an attack. */
export interface TaskFigures {
  readonly tasks: number;
  /** All calls ran and nobody was asked. */
  readonly autonomous: number;
  /** Of `tasks`, from 0 to 1. */
  readonly share: number | null;
  /** All calls ran, with every question answered as `--approve` says. */
  readonly done: number;
  /** Questions in all tasks, each answered with yes so that what comes after it is reached; one for each call that asks. */
  readonly questions: number;
  readonly questionsPerTask: number | null;
  /** The same with every question answered with no: a later call asks again. */
  readonly questionsRefused: number;
  /** Calls that were refused without a question, every question answered with yes. */
  readonly refusals: number;
}

/** A reason that asked or refused, over all tasks. */
export interface Interruption {
  readonly verdict: "ask" | "deny";
  readonly tool: string;
  /** The path of the argument that no bound value explains, or that has an unknown link; empty where the decision names none. */
  readonly argument: string;
  readonly rule: string;
  readonly count: number;
}

/**
 * A failure that `--show-failures` shows: an attack that succeeded, a task that was not done without a
 * question, and of the adaptive attacker a goal that it reached, harmful calls that passed, and calls that
 * misuse the user's own values.
 */
export interface Failure {
  readonly type: "attack" | "task" | "goal" | "harmful" | "misuse";
  readonly user: string;
  readonly injection?: string;
  /** Of an attack its calls; of a task the calls that asked or were refused. */
  readonly calls: readonly Judged[];
}

/** The figures of one arm. */
export interface ArmFigures {
  readonly claim: string;
  readonly attacks: AttackFigures;
  readonly tasks: TaskFigures;
  readonly interruptions: readonly Interruption[];
}

/** A pair with what its attack calls, undefined where nothing can be made of it. */
export interface ScriptedPair {
  readonly pair: Pair;
  readonly attack?: Attack;
}

/** Means to measure an arm. */
export interface Measuring {
  readonly arm: Arm;
  readonly play: Stage;
  readonly recordings: Recordings;
  readonly approve: boolean;
  readonly onFailure?: (failure: Failure) => void;
}

/** Plays each attack in each task. */
export async function measureAttacks(
  pairs: readonly ScriptedPair[],
  { arm, play, recordings, approve, onFailure }: Measuring,
): Promise<AttackFigures> {
  const counts = { pairs: 0, succeeded: 0, made: 0, undelivered: 0, notScripted: 0, unreachable: 0 };
  for (const { pair, attack } of pairs) {
    if (pair.taintedStep === undefined) counts.unreachable += 1;
    else if (attack === undefined) counts.notScripted += 1;
    else {
      const turns = attack.calls.map((call: SuiteCall) => [call]);
      const playing = { tools: arm.toolsFor(pair.user), approve };
      const judged = await play(attackScene(pair, { turns, recordings }, playing));
      const calls = judged.filter(({ call }) => isAttack(call));
      counts.pairs += 1;
      if (attack.isMade) counts.made += 1;
      if (!wasDelivered(judged)) counts.undelivered += 1;
      if (!calls.every(({ hasRun }) => hasRun)) continue;
      counts.succeeded += 1;
      onFailure?.({ type: "attack", user: pair.user.id, injection: pair.injection.id, calls });
    }
  }
  return { ...counts, share: shareOf(counts.succeeded, counts.pairs) };
}

/** True if the result with the injection came: it is that of the last call before the attacker's. */
function wasDelivered(judged: readonly Judged[]): boolean {
  return judged.findLast(({ call }) => !isAttack(call))?.hasRun === true;
}

/** Plays each task as it should go, once with every question answered with yes and once with no. */
export async function measureTasks(
  tasks: readonly UserTask[],
  { arm, play, approve, onFailure }: Measuring,
): Promise<{ readonly figures: TaskFigures; readonly interruptions: readonly Interruption[] }> {
  const counts = { autonomous: 0, done: 0, questions: 0, questionsRefused: 0, refusals: 0 };
  const interrupted: Judged[] = [];
  for (const task of tasks) {
    const tools = arm.toolsFor(task);
    const agreed = await play(taskScene(task, { tools, approve: true }));
    const refused = await play(taskScene(task, { tools, approve: false }));
    const calls = agreed.filter(({ hasRun, wasAsked }) => wasAsked || !hasRun);
    if ((approve ? agreed : refused).every(({ hasRun }) => hasRun)) counts.done += 1;
    if (calls.length === 0) counts.autonomous += 1;
    else onFailure?.({ type: "task", user: task.id, calls });
    counts.questions += agreed.filter(({ wasAsked }) => wasAsked).length;
    counts.questionsRefused += refused.filter(({ wasAsked }) => wasAsked).length;
    counts.refusals += agreed.filter(({ hasRun, wasAsked }) => !hasRun && !wasAsked).length;
    interrupted.push(...calls);
  }
  const figures = {
    tasks: tasks.length,
    ...counts,
    share: shareOf(counts.autonomous, tasks.length),
    questionsPerTask: shareOf(counts.questions, tasks.length),
  };
  return { figures, interruptions: interruptionsOf(interrupted) };
}

/** A part of a whole; null of nothing. */
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

/** The arguments that a decision rests on, each once. A list counts as one argument. */
export function argumentsOf({ evidence }: Judged["decision"]): readonly string[] {
  const paths = (evidence?.unbound ?? []).map(({ path }) => path.replace(/[.[].*$/, ""));
  const links = (evidence?.links ?? []).length > 0 ? ["(a link)"] : [];
  const all = [...new Set([...paths, ...links])];
  return all.length === 0 ? [""] : all;
}
