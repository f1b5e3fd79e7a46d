import { canonicalJson } from "../../util/canonical-json.ts";
import { carrying } from "./carried.ts";
import type { Replay, Scene, SceneCall } from "./stage.ts";
import type { Pair, RecordedCall, Suite, SuiteCall, UserTask } from "./suite.ts";

/** Result of a call that no task of the suite makes: it has nothing that an attacker could use. */
const neutral: Replay = { type: "result", value: { status: "ok" } };

/** Recorded results of a suite's tools, by tool and arguments: the first recording of each. */
export type Recordings = (call: SuiteCall) => Replay | undefined;

/** Collects what the calls of all tasks gave. */
export function recordingsOf({ tasks }: Suite): Recordings {
  const known = new Map<string, Replay>();
  for (const step of tasks.flatMap(({ steps }) => steps)) {
    const key = keyOf(step);
    if (!known.has(key)) known.set(key, replayOf(step));
  }
  return (call) => known.get(keyOf(call));
}

/** The same for calls of the same tool with the same arguments. */
export function keyOf({ tool, args }: SuiteCall): string {
  return `${tool} ${canonicalJson(args)}`;
}

function replayOf({ result, error }: RecordedCall): Replay {
  return error === undefined ? { type: "result", value: result } : { type: "failure", message: error };
}

/** Bounds of a scene. */
export interface Playing {
  /** The allow-list. */
  readonly tools: readonly string[];
  readonly approve: boolean;
}

/** The turns of a task as it should go. */
export type Script = Scene["turns"];

/** The calls of a task in order, one a turn. */
export function taskScript({ steps }: UserTask): Script {
  return steps.map((step, index) => [taskCall(step, index)]);
}

/** All calls of a script. */
export function callsIn(script: Script): readonly SceneCall[] {
  return script.flat();
}

/** The place where an attack strikes, its calls, and those that the model makes for it, with their results. */
export interface AfterInjection {
  /** The call of the task behind which the model follows the attack. */
  readonly strike: number;
  /** The calls that the attack says: their values stand in each result that carries it. */
  readonly attack: readonly SuiteCall[];
  readonly turns: readonly (readonly SuiteCall[])[];
  readonly recordings: Recordings;
  /** The task as the model goes through it until then. */
  readonly script: Script;
}

/** A task up to a result that carries the injection, then the attacker's calls. Their ids begin with `attack`, in the order given. */
export function attackScene(
  { user, injection, strikes }: Pair,
  { strike, attack, turns, recordings, script }: AfterInjection,
  playing: Playing,
): Scene {
  let count = 0;
  const attackCall = (call: SuiteCall): SceneCall => {
    const id = `attack-${count}`;
    count += 1;
    return { id, tool: call.tool, args: call.args, replay: recordings(call) ?? neutral };
  };
  const before = script.slice(
    0,
    script.findIndex((calls) => calls.some(({ id }) => id === taskId(strike))) + 1,
  );
  const carriers = new Map(
    strikes.flatMap((index) => {
      const step = user.steps[index];
      return step === undefined
        ? []
        : [[taskId(index), taskCall(carrier(step, injection.goal, attack), index)] as const];
    }),
  );
  return {
    prompt: user.prompt,
    ...playing,
    turns: [
      ...before.map((calls) => calls.map((call) => carriers.get(call.id) ?? call)),
      ...turns.map((calls) => calls.map(attackCall)),
    ],
    carrier: taskId(strike),
    agrees: (id) => !id.startsWith("attack-"),
  };
}

/** True for a judged call of the attacker. */
export function isAttack({ id }: SceneCall): boolean {
  return id.startsWith("attack-");
}

/** A recorded call with the attack in its result. */
export function carrier(step: RecordedCall, goal: string, attack: readonly SuiteCall[]): RecordedCall {
  return { ...step, result: carrying(step.result, goal, attack) };
}

function taskId(index: number): string {
  return `task-${index}`;
}

function taskCall(step: RecordedCall, index: number): SceneCall {
  return { id: taskId(index), tool: step.tool, args: step.args, replay: replayOf(step) };
}
