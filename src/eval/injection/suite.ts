import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { messageOf, WritError } from "../../error/writ-error.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject, parseJson, toJson } from "../../util/json.ts";
import {
  fits,
  type Fitting,
  jsonObject,
  list,
  object,
  optional,
  orNull,
  type Shape,
  shapeOf,
  string,
  whole,
} from "../../util/shape.ts";

/** A tool as a suite describes it. */
export interface SuiteTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

/** A call, as an attack makes it. */
export interface SuiteCall {
  readonly tool: string;
  readonly args: JsonObject;
}

/** A call of a task with its result in the recording of the suite. */
export interface RecordedCall extends SuiteCall {
  /** The result of the tool: JSON if the recorded text is a JSON object or list, otherwise the text. */
  readonly result: Json;
  /** The error of the tool, if it failed. */
  readonly error?: string;
  /** The places in the result that an attacker can write into, by name. */
  readonly vectors: readonly Json[];
}

/** A user's request, and the calls that carry it out. */
export interface UserTask {
  readonly id: string;
  readonly prompt: string;
  readonly steps: readonly RecordedCall[];
}

/** An attacker's goal, and the calls that reach it; none if the suite does not have them. */
export interface InjectionTask {
  readonly id: string;
  readonly goal: string;
  readonly steps: readonly SuiteCall[];
}

/** An attack in a task. */
export interface Pair {
  readonly user: UserTask;
  readonly injection: InjectionTask;
  /** The calls of the task whose results carry the attack, by index; empty if none does. */
  readonly strikes: readonly number[];
  /** The calls of the attack in this task, if they differ from those of the injection task. */
  readonly attackCalls: readonly SuiteCall[];
}

/** A suite of tasks and attacks. */
export interface Suite {
  readonly name: string;
  readonly path: string;
  /** SHA-256 of the file, in hexadecimal. */
  readonly sha256: string;
  readonly tools: readonly SuiteTool[];
  readonly tasks: readonly UserTask[];
  readonly injections: readonly InjectionTask[];
  readonly pairs: readonly Pair[];
  /** The tools for which no call can be made. */
  readonly notTried?: readonly string[];
}

/**
 * Reads a suite in the form of the recorded suites of AgentDojo: `suite`, `tools`, `user_tasks`, `injection_tasks`, `pairs`.
 *
 * @throws WritError `file-unreadable`; `eval-suite-invalid` with the field that is wrong
 */
export function readSuite(path: string): Suite {
  const { text, sha256 } = readHashed(path);
  const parsed = parseJson(text);
  if (!parsed.ok) throw invalid(path)("", `it cannot be read as JSON: ${parsed.reason}`);
  return suiteOf(parsed.value, { path, sha256 });
}

/** A file with its SHA-256. @throws WritError `file-unreadable` */
export function readHashed(path: string): { readonly text: string; readonly sha256: string } {
  try {
    const bytes = readFileSync(path);
    const text = bytes.toString("utf8").replace(/^\ufeff/, ""); // some editors begin a file with a byte order mark
    return { text, sha256: createHash("sha256").update(bytes).digest("hex") };
  } catch (cause) {
    throw new WritError("file-unreadable", { path, reason: messageOf(cause) }, { cause });
  }
}

/** The value, if it fits. @throws the error that `fault` makes of the first place that does not fit */
export function fitting<Value>(
  shape: Shape<Value>,
  value: unknown,
  fault: (at: string, reason: string) => WritError,
): Value {
  if (fits(shape, value)) return value;
  const { path = "", reason = "" } = shape.misfit(value) ?? {};
  throw fault(path, `it ${reason}`);
}

function invalid(path: string): (at: string, reason: string) => WritError {
  return (at, reason) =>
    new WritError("eval-suite-invalid", { path, field: at === "" ? "(the whole file)" : at, reason });
}

/** Any JSON value. */
export const json: Shape<Json> = shapeOf("a value", (value) => value !== undefined);
const calls = list(object({ tool: string, args: jsonObject }));
const step = object({
  tool: string,
  args: jsonObject,
  result: optional(json),
  error: optional(json),
  injection_vectors_in_result: list(json),
});
const attack = object({ id: string, goal: string, steps: calls });
const pair = object({
  user: string,
  injection: string,
  attack_calls: orNull(calls),
  vectors: orNull(list(json)),
  reachable: optional(json),
  first_tainted_step: optional(json),
});
const suiteFile = object({
  suite: string,
  tools: list(object({ name: string, description: string, parameters: jsonObject })),
  user_tasks: list(object({ id: string, prompt: string, steps: list(step) })),
  injection_tasks: list(attack),
  pairs: list(pair),
});

/** Makes a suite from its JSON. @throws WritError `eval-suite-invalid` */
export function suiteOf(value: Json, file: { readonly path: string; readonly sha256: string }): Suite {
  const fault = invalid(file.path);
  const { suite, tools, ...written } = fitting(suiteFile, value, fault);
  if (tools.length === 0) throw fault("tools", "it is empty: there is nothing to call");
  if (written.user_tasks.length === 0) throw fault("user_tasks", "it is empty: there is nothing to measure");
  const names = tools.map(({ name }) => name);
  checkOnce(names, (index) => `tools[${index}].name`, fault);
  checkOnce(idsOf(written.user_tasks), (index) => `user_tasks[${index}].id`, fault);
  checkOnce(idsOf(written.injection_tasks), (index) => `injection_tasks[${index}].id`, fault);
  const known = (at: string, steps: readonly SuiteCall[] = []): void => {
    const index = steps.findIndex(({ tool }) => !names.includes(tool));
    if (index !== -1) throw fault(`${at}[${index}].tool`, `"${steps[index]?.tool}" is no tool of the suite`);
  };
  written.user_tasks.forEach(({ steps }, index) => known(`user_tasks[${index}].steps`, steps));
  written.injection_tasks.forEach(({ steps }, index) => known(`injection_tasks[${index}].steps`, steps));
  const tasks = written.user_tasks.map(taskOf);
  const injections = written.injection_tasks;
  const pairs = written.pairs.map((each, index) => {
    known(`pairs[${index}].attack_calls`, each.attack_calls ?? []);
    return pairOf(each, { at: `pairs[${index}]`, fault, tasks, injections });
  });
  return { name: suite, ...file, tools, tasks, injections, pairs };
}

function idsOf(entries: readonly { readonly id: string }[]): readonly string[] {
  return entries.map(({ id }) => id);
}

/** @throws WritError `eval-suite-invalid` for a name that occurs twice, and so is ambiguous */
function checkOnce(names: readonly string[], at: (index: number) => string, fault: PairPlace["fault"]): void {
  const index = names.findIndex((name, place) => names.indexOf(name) !== place);
  if (index !== -1) throw fault(at(index), `"${names[index]}" is there twice`);
}

function taskOf({ id, prompt, steps }: Fitting<typeof suiteFile>["user_tasks"][number]): UserTask {
  return {
    id,
    prompt,
    steps: steps.map(({ tool, args, result = null, error, injection_vectors_in_result: vectors }) => ({
      tool,
      args,
      result: givenBack(result),
      ...(typeof error === "string" ? { error } : {}),
      vectors,
    })),
  };
}

interface PairPlace {
  readonly at: string;
  readonly fault: (at: string, reason: string) => WritError;
  readonly tasks: readonly UserTask[];
  readonly injections: readonly InjectionTask[];
}

function pairOf(written: Fitting<typeof pair>, place: PairPlace): Pair {
  const { at, fault, tasks, injections } = place;
  const user = tasks.find(({ id }) => id === written.user);
  if (user === undefined) throw fault(`${at}.user`, "no user task has this id");
  const injection = injections.find(({ id }) => id === written.injection);
  if (injection === undefined) throw fault(`${at}.injection`, "no injection task has this id");
  const strikes = strikesOf(written, user, place);
  return { user, injection, attackCalls: written.attack_calls ?? [], strikes };
}

/** The step that the pair names, and those after it that an attacker can write into at one of the pair's places; without one, all such steps. */
function strikesOf(
  { reachable, first_tainted_step: first, vectors }: Fitting<typeof pair>,
  { id, steps }: UserTask,
  { at, fault }: PairPlace,
): readonly number[] {
  if (reachable === false) return [];
  const carriers = steps.flatMap((step, index) => (isCarrier(step, vectors ?? undefined) ? [index] : []));
  if (first === undefined || first === null) return carriers;
  if (fits(whole, first) && first < steps.length)
    return [first, ...carriers.filter((index) => index > first)];
  const reason = `it is not the index of a step of ${id}, which has ${steps.length}`;
  throw fault(`${at}.first_tainted_step`, reason);
}

function isCarrier({ vectors }: RecordedCall, named: readonly Json[] | undefined): boolean {
  return vectors.some((vector) => named === undefined || named.includes(vector));
}

/** Python's word for null, in place of a value. */
const none = /(?<=[:[,]\s?)None(?=\s?[,}\]])/g;

/** The value that a tool returned. Suites keep the text that a model was shown: JSON, the same in Python's notation, or a list in YAML. */
export function givenBack(result: Json): Json {
  if (typeof result !== "string" || !/^\s*(?:[[{]|- )/.test(result)) return result;
  const parsed = parseJson(result);
  if (parsed.ok) return parsed.value;
  try {
    const read = toJson(parse(result.replaceAll(none, "null"), { logLevel: "error" }));
    return read.ok && (isJsonObject(read.value) || isJsonList(read.value)) ? read.value : result;
  } catch {
    return result;
  }
}
