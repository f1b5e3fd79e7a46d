import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { messageOf, WritError } from "../../error/writ-error.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import { type Json, type JsonObject, parseJson } from "../../util/json.ts";
import { type Field, fieldOf, type FieldReader, fieldReader } from "./read-fields.ts";

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

/** A call of a task with what it gave when the suite was recorded. */
export interface RecordedCall extends SuiteCall {
  /** What the tool gave: JSON where the recorded text is a JSON object or list, else the text. */
  readonly result: Json;
  /** What the tool failed with, when it did. */
  readonly error?: string;
  /** Whether an attacker can write into the result. */
  readonly isInjected: boolean;
}

/** What a user asks, and the calls that do it. */
export interface UserTask {
  readonly id: string;
  readonly prompt: string;
  readonly steps: readonly RecordedCall[];
}

/** What an attacker wants, and the calls that do it; none where the suite does not know them. */
export interface InjectionTask {
  readonly id: string;
  readonly goal: string;
  readonly steps: readonly SuiteCall[];
}

/** An attack in a task. */
export interface Pair {
  readonly user: UserTask;
  readonly injection: InjectionTask;
  /** The first call of the task whose result carries the attack; undefined where none does. */
  readonly taintedStep?: number;
  /** The calls of the attack in this task, where they differ from those of the injection task. */
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
}

/**
 * Reads a suite that is laid out like the recorded suites of AgentDojo: `suite`, `tools`, `user_tasks`, `injection_tasks`, `pairs`.
 *
 * @throws WritError `file-unreadable`; `eval-suite-invalid` with the field that is wrong
 */
export function readSuite(path: string): Suite {
  const { text, sha256 } = readHashed(path);
  const parsed = parseJson(text);
  if (!parsed.ok) throw invalid(path)("", `it cannot be read as JSON: ${parsed.reason}`);
  return suiteOf(parsed.value, { path, sha256 });
}

/**
 * A file with its SHA-256.
 *
 * @throws WritError `file-unreadable`
 */
export function readHashed(path: string): { readonly text: string; readonly sha256: string } {
  try {
    const bytes = readFileSync(path);
    return { text: bytes.toString("utf8"), sha256: createHash("sha256").update(bytes).digest("hex") };
  } catch (cause) {
    throw new WritError("file-unreadable", { path, reason: messageOf(cause) }, { cause });
  }
}

function invalid(path: string): (at: string, reason: string) => WritError {
  return (at, reason) =>
    new WritError("eval-suite-invalid", { path, field: at === "" ? "(the whole file)" : at, reason });
}

/** Makes a suite of its JSON. @throws WritError `eval-suite-invalid` */
export function suiteOf(value: Json, file: { readonly path: string; readonly sha256: string }): Suite {
  const fault = invalid(file.path);
  const reader = fieldReader(fault);
  const whole: Field = { value, at: "" };
  reader.object(whole);
  const tools = reader.list(fieldOf(whole, "tools")).map((field) => toolOf(field, reader));
  if (tools.length === 0) throw fault("tools", "it is empty: there is nothing to call");
  const twice = tools.findIndex(({ name }, index) => tools.findIndex((tool) => tool.name === name) !== index);
  if (twice !== -1) throw fault(`tools[${twice}].name`, `"${tools[twice]?.name}" is there twice`);
  const names = new Set(tools.map(({ name }) => name));
  const tasks = reader.list(fieldOf(whole, "user_tasks")).map((field) => taskOf(field, { reader, names }));
  if (tasks.length === 0) throw fault("user_tasks", "it is empty: there is nothing to measure");
  const injections = reader
    .list(fieldOf(whole, "injection_tasks"))
    .map((field) => injectionOf(field, { reader, names }));
  const known = { tasks: byId(tasks), injections: byId(injections) };
  const pairs = reader
    .list(fieldOf(whole, "pairs"))
    .map((field) => pairOf(field, { reader, names, fault, ...known }));
  return { name: reader.text(fieldOf(whole, "suite")), ...file, tools, tasks, injections, pairs };
}

interface Reading {
  readonly reader: FieldReader;
  /** The names of the suite's tools. */
  readonly names: ReadonlySet<string>;
}

function byId<Task extends { readonly id: string }>(tasks: readonly Task[]): ReadonlyMap<string, Task> {
  return new Map(tasks.map((task) => [task.id, task]));
}

function toolOf(field: Field, reader: FieldReader): SuiteTool {
  reader.object(field);
  return {
    name: reader.text(fieldOf(field, "name")),
    description: reader.text(fieldOf(field, "description")),
    parameters: reader.object(fieldOf(field, "parameters")),
  };
}

function callOf(field: Field, { reader, names }: Reading): SuiteCall {
  reader.object(field);
  return {
    tool: reader.name(fieldOf(field, "tool"), names, "tool of the suite"),
    args: reader.object(fieldOf(field, "args")),
  };
}

function taskOf(field: Field, reading: Reading): UserTask {
  const { reader } = reading;
  reader.object(field);
  return {
    id: reader.text(fieldOf(field, "id")),
    prompt: reader.text(fieldOf(field, "prompt")),
    steps: reader.list(fieldOf(field, "steps")).map((step) => {
      const { value: error } = fieldOf(step, "error");
      const { value: result } = fieldOf(step, "result");
      return {
        ...callOf(step, reading),
        result: givenBack(result ?? null),
        ...(typeof error === "string" ? { error } : {}),
        isInjected: reader.list(fieldOf(step, "injection_vectors_in_result")).length > 0,
      };
    }),
  };
}

/** A tool gives values; the suites keep what a model was shown of them. */
function givenBack(result: Json): Json {
  if (typeof result !== "string" || !/^\s*[[{]/.test(result)) return result;
  const parsed = parseJson(result);
  return parsed.ok ? parsed.value : result;
}

function injectionOf(field: Field, reading: Reading): InjectionTask {
  const { reader } = reading;
  reader.object(field);
  return {
    id: reader.text(fieldOf(field, "id")),
    goal: reader.text(fieldOf(field, "goal")),
    steps: reader.list(fieldOf(field, "steps")).map((step) => callOf(step, reading)),
  };
}

interface PairReading extends Reading {
  readonly fault: (at: string, reason: string) => WritError;
  readonly tasks: ReadonlyMap<string, UserTask>;
  readonly injections: ReadonlyMap<string, InjectionTask>;
}

function pairOf(field: Field, reading: PairReading): Pair {
  const { reader, fault, tasks, injections } = reading;
  reader.object(field);
  const user = tasks.get(reader.text(fieldOf(field, "user")));
  if (user === undefined) throw fault(`${field.at}.user`, "no user task has this id");
  const injection = injections.get(reader.text(fieldOf(field, "injection")));
  if (injection === undefined) throw fault(`${field.at}.injection`, "no injection task has this id");
  const calls = fieldOf(field, "attack_calls");
  const attackCalls =
    calls.value === undefined || calls.value === null
      ? []
      : reader.list(calls).map((call) => callOf(call, reading));
  const step = taintedStepOf(field, { user, fault });
  return { user, injection, attackCalls, ...(step === undefined ? {} : { taintedStep: step }) };
}

/** The step that the pair names; without one, the first of the task whose result carries an injection. */
function taintedStepOf(
  field: Field,
  { user, fault }: Pick<PairReading, "fault"> & { readonly user: UserTask },
): number | undefined {
  const { value: isReachable } = fieldOf(field, "reachable");
  const { value, at } = fieldOf(field, "first_tainted_step");
  if (isReachable === false) return undefined;
  if (value === undefined || value === null) {
    const found = user.steps.findIndex(({ isInjected }) => isInjected);
    return found === -1 ? undefined : found;
  }
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value < user.steps.length)
    return value;
  throw fault(at, `it is not the index of a step of ${user.id}, which has ${user.steps.length}`);
}
