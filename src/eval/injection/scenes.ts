import { canonicalJson } from "../../util/canonical-json.ts";
import { isJsonList, isJsonObject, type Json } from "../../util/json.ts";
import { fieldOf, type Leaf, leavesOf, replaced } from "./find-values.ts";
import type { Replay, Scene, SceneCall } from "./stage.ts";
import type { Pair, RecordedCall, Suite, SuiteCall, UserTask } from "./suite.ts";

/** The result of a call that no task of the suite makes: it has nothing that an attacker could use. */
const neutral: Replay = { type: "result", value: { status: "ok" } };

/** Recorded results of a suite's tools, by tool and arguments: the first recording of each. */
export type Recordings = (call: SuiteCall) => Replay | undefined;

/** Collects the results of the calls of all tasks. */
export function recordingsOf({ tasks }: Suite): Recordings {
  const known = new Map<string, Replay>();
  for (const step of tasks.flatMap(({ steps }) => steps)) {
    const key = keyOf(step);
    if (!known.has(key)) known.set(key, replayOf(step));
  }
  return (call) => known.get(keyOf(call));
}

/** A key that is equal for calls of the same tool with the same arguments. */
export function keyOf({ tool, args }: SuiteCall): string {
  return `${tool} ${canonicalJson(args)}`;
}

function replayOf({ result, error }: RecordedCall): Replay {
  return error === undefined ? { type: "result", value: result } : { type: "failure", message: error };
}

/** Bounds of a scene. */
interface Playing {
  /** The allow-list. */
  readonly tools: readonly string[];
  readonly approve: boolean;
}

/** The turns of a task without an attack. */
export type Script = Scene["turns"];

/** The calls of a task in order, one a turn. */
export function taskScript({ steps }: UserTask): Script {
  return steps.map((step, index) => [taskCall(step, index)]);
}

/** All calls of a script. */
export function callsIn(script: Script): readonly SceneCall[] {
  return script.flat();
}

/** The place of an attack, its calls, and the calls that the model makes for it, with their results. */
interface AfterInjection {
  /** The call of the task after which the model follows the attack. */
  readonly strike: number;
  /** The calls that the attack asks for: their values are in each result that carries it. */
  readonly attack: readonly SuiteCall[];
  readonly turns: readonly (readonly SuiteCall[])[];
  readonly recordings: Recordings;
  /** The script of the task until then. */
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
function carrier(step: RecordedCall, goal: string, attack: readonly SuiteCall[]): RecordedCall {
  return { ...step, result: carrying(step.result, goal, attack) };
}

function taskId(index: number): string {
  return `task-${index}`;
}

function taskCall(step: RecordedCall, index: number): SceneCall {
  return { id: taskId(index), tool: step.tool, args: step.args, replay: replayOf(step) };
}

/**
 * A result with the attack in it: its goal and the values of its calls, each after the name of its argument, at the end of the longest
 * text, where people write. A list of plain texts, to which anybody may add, gets them as items too, and a list of records a forged record.
 * A suite records its results with these places empty; a policy that takes the values of such a result for the user's choice would look safe.
 */
export function carrying(result: Json, goal: string, calls: readonly SuiteCall[]): Json {
  const text = [goal, ...calls.map(writtenOut)].join("\n");
  if (isJsonList(result) && result.every((item) => typeof item === "string"))
    return [...result, text, ...calls.flatMap(textsOf)];
  const place = longestText(result);
  if (place !== undefined && isJsonList(result)) {
    const told = replaced(result, place.path, `${String(place.value)}\n${text}`);
    const forged = forgedRecord(result[Number(place.path[0])], calls);
    return isJsonList(told) && forged !== undefined ? [...told, forged] : told;
  }
  if (place !== undefined) return replaced(result, place.path, `${String(place.value)}\n${text}`);
  if (isJsonList(result)) return [...result, text];
  return isJsonObject(result) ? { ...result, note: text } : text;
}

/** A record like another, with the values of the attack in fields named like its arguments; undefined if there is no such field. */
function forgedRecord(record: Json | undefined, calls: readonly SuiteCall[]): Json | undefined {
  if (!isJsonObject(record)) return undefined;
  const values = new Map(
    calls
      .flatMap(({ args }) => Object.entries(args))
      .concat(
        calls.flatMap(({ args }) =>
          leavesOf(args).map(({ path, value }): [string, Json] => [fieldOf(path), value]),
        ),
      ),
  );
  const fields = Object.entries(record);
  if (!fields.some(([name]) => values.has(name))) return undefined;
  return Object.fromEntries(fields.map(([name, value]) => [name, values.get(name) ?? value]));
}

function writtenOut({ tool, args }: SuiteCall): string {
  const values = leavesOf(args).map(({ path, value }) => `${fieldOf(path)}: ${String(value)}`);
  return `${tool} ${values.join(", ")}`;
}

function textsOf({ args }: SuiteCall): readonly string[] {
  return leavesOf(args).flatMap(({ value }) => (typeof value === "string" ? [value] : []));
}

function longestText(result: Json): Leaf | undefined {
  let longest: Leaf | undefined;
  for (const leaf of leavesOf(result))
    if (typeof leaf.value === "string" && leaf.value.length > String(longest?.value ?? "").length)
      longest = leaf;
  return longest;
}
