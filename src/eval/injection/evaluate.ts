import type { Policy } from "../../policy/decision.ts";
import { policyFromJson } from "../../policy/study/policy.ts";
import { type AdaptiveFigures, measureAdaptive } from "./adaptive.ts";
import { perPair, perTool } from "./candidates.ts";
import { chooseTools } from "./choose-tools.ts";
import {
  claim,
  type Arm,
  type ArmFigures,
  type ArmName,
  type Failure,
  measureAttacks,
  measureTasks,
  type Measuring,
  type ScriptedPair,
} from "./measure.ts";
import type { PolicyFile } from "./policy-file.ts";
import { plannedScript } from "./planning.ts";
import { recordingsOf, type Script, taskScript } from "./scenes.ts";
import { attackOf } from "./script-attack.ts";
import { stage } from "./stage.ts";
import { suiteTools, type SuiteTools } from "./suite-tools.ts";
import type { Suite, UserTask } from "./suite.ts";
import { takenBy } from "./taken-by.ts";

export interface EvaluateOptions {
  readonly suite: Suite;
  readonly file: PolicyFile;
  /** The answer of a person who is asked during an attack. */
  readonly approve: "always" | "never";
  /** Plays the adaptive attacker too. */
  readonly adaptive: boolean;
  /** Has the scripted model of the full arm plan its acts (see `planTool`), as a model that plans well would. */
  readonly plans?: boolean;
  /** The seed of the mixtures that the adaptive attacker makes up. The same seed gives the same figures. */
  readonly seed: number;
  /** Called with each attack that succeeded, each task with questions, and each result of the adaptive attacker. */
  readonly onFailure?: (arm: ArmName, failure: Failure) => void;
}

/** The figures of an evaluation. All but `durationMs` are the same at every run. */
export interface InjectionReport {
  readonly claim: string;
  readonly suite: {
    readonly name: string;
    readonly sha256: string;
    readonly tools: number;
    readonly tasks: number;
    readonly injections: number;
    readonly pairs: number;
    /** The tools of a suite made from tools that are not tried, because no call can be made that fits their schema. */
    readonly notTried: readonly string[];
  };
  readonly policy: { readonly name: string; readonly sha256: string; readonly skills: readonly string[] };
  readonly approve: "always" | "never";
  /** True if the scripted model of the full arm planned its acts. */
  readonly plans: boolean;
  readonly arms: Readonly<Record<ArmName, ArmFigures>>;
  /** Left out if the adaptive attacker was not played. */
  readonly adaptive?: {
    readonly claim: string;
    readonly seed: number;
    /** The most calls that were made up for a tool, and tried in a pair. */
    readonly perTool: number;
    readonly perPair: number;
    readonly arms: Readonly<Record<ArmName, AdaptiveFigures>>;
  };
  readonly durationMs: number;
}

/** The policy of the arms without one. */
const allowAll: Policy = () => ({ verdict: "allow", rule: "all", reason: "this arm has no policy" });

/**
 * Plays every attack of a suite, and every task without an attack, with the real agent, executor and policy, and a model that does whatever the attack
 * says. Three arms: every tool without a policy; the task's skill without a policy; the task's skill under the policy.
 *
 * @throws WritError `schema-invalid`, `name-invalid` for a tool of the suite; `eval-scene-failed`
 */
export async function evaluateInjection(options: EvaluateOptions): Promise<InjectionReport> {
  const begun = performance.now();
  const { suite, file, approve, adaptive, seed, plans = false } = options;
  const tools = suiteTools(suite.tools, file.policy.tools);
  const recordings = recordingsOf(suite);
  const pairs = await scriptedPairs(suite, tools);
  const { constants = [] } = file.policy;
  const measurings = await byArm(armsOf(suite, file), (arm): Measuring => {
    const isPlanning = plans && arm.name === "full";
    const play = stage({ suite, policy: arm.policy, plans: isPlanning });
    const scripts = new Map<UserTask, Promise<Script>>();
    const planned = (task: UserTask): Promise<Script> => {
      const scene = { prompt: task.prompt, tools: arm.toolsFor(task), approve: true };
      const made = scripts.get(task) ?? plannedScript(task, tools, (turns) => play({ ...scene, turns }));
      scripts.set(task, made);
      return made;
    };
    return {
      arm,
      play,
      tools,
      recordings,
      scriptOf: isPlanning ? planned : taskScript,
      approve: approve === "always",
      onFailure: (failure) => options.onFailure?.(arm.name, failure),
    };
  });
  const arms = await byArm(measurings, async (measuring) => {
    const attacks = await measureAttacks(pairs, measuring);
    const { figures: tasks, interruptions } = await measureTasks(suite.tasks, measuring);
    return { claim, attacks, tasks, interruptions };
  });
  const reached = adaptive
    ? await byArm(measurings, (each) => measureAdaptive(pairs, { ...each, suite, constants, seed }))
    : undefined;
  return {
    claim,
    suite: {
      name: suite.name,
      sha256: suite.sha256,
      tools: suite.tools.length,
      tasks: suite.tasks.length,
      injections: suite.injections.length,
      pairs: suite.pairs.length,
      notTried: suite.notTried ?? [],
    },
    policy: { name: file.policy.name, sha256: file.sha256, skills: Object.keys(file.skills ?? {}) },
    approve,
    plans,
    arms,
    ...(reached && { adaptive: { claim, seed, perTool, perPair, arms: reached } }),
    durationMs: performance.now() - begun,
  };
}

/** The pairs with their attacks. */
async function scriptedPairs(suite: Suite, tools: SuiteTools): Promise<readonly ScriptedPair[]> {
  const takes = takenBy(suite.tools);
  const pairs: ScriptedPair[] = [];
  for (const pair of suite.pairs) {
    const attack = attackOf(pair, suite, tools);
    let isPossible = false;
    for (const call of attack?.calls ?? []) isPossible ||= await takes(call);
    pairs.push({ pair, attack, isPossible });
  }
  return pairs;
}

type ByArm<Value> = Readonly<Record<ArmName, Value>>;

/** A value for each arm, made one after another. */
async function byArm<From, Value>(
  { plain, allowList, full }: ByArm<From>,
  make: (from: From) => Value | Promise<Value>,
): Promise<ByArm<Value>> {
  return { plain: await make(plain), allowList: await make(allowList), full: await make(full) };
}

function armsOf(suite: Suite, { policy, skills }: PolicyFile): ByArm<Arm> {
  const all = suite.tools.map(({ name }) => name);
  const chosen = new Map(
    suite.tasks.map((task) => {
      const needed = task.steps.map(({ tool }) => tool);
      return [task.id, skills === undefined ? all : chooseTools(skills, needed).tools] as const;
    }),
  );
  const skillFor = (task: UserTask): readonly string[] => chosen.get(task.id) ?? all;
  return {
    plain: { name: "plain", policy: allowAll, toolsFor: () => all },
    allowList: { name: "allowList", policy: allowAll, toolsFor: skillFor },
    full: { name: "full", policy: policyFromJson(policy), toolsFor: skillFor },
  };
}
