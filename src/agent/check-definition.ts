import { WritError } from "../error/writ-error.ts";
import { intentParts } from "../policy/knowledge/intent.ts";
import { nearest } from "../util/nearest.ts";
import type { SchemaSource } from "../schema/to-schema.ts";
import type { AgentDefinition } from "./definition.ts";

type AnyDefinition = AgentDefinition<SchemaSource | undefined, SchemaSource | undefined>;

/** What a field must be, in words, and the test for it. */
interface Kind {
  readonly says: string;
  readonly test: (value: unknown) => boolean;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isFunction = (value: unknown): boolean => typeof value === "function";
const has =
  (...members: readonly string[]) =>
  (value: unknown): boolean =>
    isObject(value) && members.every((member) => isFunction(value[member]));

const text: Kind = { says: "a text", test: (value) => typeof value === "string" };
const flag: Kind = { says: "true or false", test: (value) => typeof value === "boolean" };
const number: Kind = { says: "a number", test: (value) => typeof value === "number" };
const list: Kind = { says: "a list", test: Array.isArray };
const object: Kind = { says: "an object", test: isObject };
const call: Kind = { says: "a function", test: isFunction };
const anything: Kind = { says: "anything", test: () => true };

function oneOf(...words: readonly string[]): Kind {
  return {
    says: words.map((word) => `"${word}"`).join(" or "),
    test: (value) => words.includes(value as string),
  };
}

const tools: Kind = {
  says: "a list of tools, collections of tools and names of tools",
  test: (value) => Array.isArray(value) && value.every(isToolEntry),
};

/** A tool without its parsed schema is only the definition of one. */
function isToolEntry(entry: unknown): boolean {
  if (typeof entry === "string") return true;
  if (Array.isArray(entry)) return entry.every(isToolEntry);
  return isObject(entry) && isObject(entry["input"]) && isFunction(entry["execute"]);
}

const skills: Kind = {
  says: "a list of what skill() gives",
  test: (value) =>
    Array.isArray(value) &&
    value.every(
      (skill) => isObject(skill) && (Array.isArray(skill["tools"]) || isFunction(skill["execute"])),
    ),
};

const capabilities: Kind = {
  says: 'a list of capabilities like net("api.weather.com")',
  test: (value) =>
    Array.isArray(value) &&
    value.every((each) => isObject(each) && text.test(each["kind"]) && text.test(each["scope"])),
};

const choice = oneOf("auto", "required", "none");
const reason = oneOf("stop", "length", "tool-calls", "content-filter", "error", "other");

const definitionKinds: { readonly [Field in keyof Required<AnyDefinition>]: Kind } = {
  name: text,
  description: text,
  instructions: text,
  model: anything,
  driver: {
    says: "the name of a driver, or a driver",
    test: (value) => text.test(value) || has("request", "read")(value),
  },
  tools,
  skills,
  selectSkill: call,
  routing: { says: '"first" or an object', test: (value) => value === "first" || isObject(value) },
  memory: { says: "what memoryBank() gives", test: has("read", "write", "search") },
  compaction: object,
  hooks: list,
  recover: object,
  budget: object,
  policy: call,
  grants: capabilities,
  markResults: flag,
  settings: object,
  retry: {
    says: "false, or an object like { attempts: 5 }",
    test: (value) => value === false || isObject(value),
  },
  toolChoice: {
    says: '"auto", "required", "none" or { tool: name }',
    test: (value) => choice.test(value) || isObject(value),
  },
  examples: list,
  lastTurn: oneOf("tools", "answer"),
  concurrency: number,
  onUnknownTool: oneOf("feedback", "throw"),
  throwOnToolFailure: flag,
  stopOnToolBlock: flag,
  stopOn: {
    says: "a list of finish reasons",
    test: (value) => Array.isArray(value) && value.every(reason.test),
  },
  metadata: object,
  input: anything,
  output: anything,
};

const runKinds: Readonly<Record<string, Kind>> = {
  signal: { says: "an AbortSignal", test: has("addEventListener") },
  abortSignal: { says: "an AbortSignal", test: has("addEventListener") },
  approve: call,
  journal: { says: "a journal", test: has("step", "all") },
  onEvent: call,
  skill: text,
  session: { says: "what session(store, id) gives", test: has("enter", "load", "check", "save") },
  tools: {
    says: "a list of names",
    test: (value) => Array.isArray(value) && value.every((name) => typeof name === "string"),
  },
  instructions: text,
  intent: text,
  ceiling: capabilities,
  accept: {
    says: `a list of ${intentParts.join(", ")}`,
    test: (value) => Array.isArray(value) && value.every((part) => intentParts.includes(part)),
  },
  parent: { says: "the `run` of a tool's context", test: isObject },
  runId: text,
  round: number, // what a repetition hands to its functions is given to agents as it is
};

/** Checks the fields of a definition: that each is known, and of its kind. @throws WritError `definition-invalid` */
export function checkDefinition(definition: AnyDefinition): void {
  if (!isObject(definition)) throw wrong("agent()", "it takes an object.");
  checkFields(definition, definitionKinds, `Agent "${definition.name}"`);
}

/** Checks the options of a run. @throws WritError `definition-invalid` */
export function checkRunOptions(options: object, name: string): void {
  if (!isObject(options)) throw wrong(`The run of "${name}"`, "its options are an object.");
  checkFields(options, runKinds, `The run of "${name}"`);
}

function checkFields(given: object, kinds: Readonly<Record<string, Kind>>, where: string): void {
  for (const [field, value] of Object.entries(given)) {
    const kind = Object.hasOwn(kinds, field) ? kinds[field] : undefined;
    if (kind === undefined) {
      const meant = nearest(field, Object.keys(kinds));
      throw wrong(
        where,
        `there is no option "${field}"${meant === undefined ? "" : `; did you mean "${meant}"?`}`,
      );
    }
    if (value !== undefined && !kind.test(value)) throw wrong(where, `\`${field}\` must be ${kind.says}.`);
  }
}

function wrong(where: string, reason: string): WritError<"definition-invalid"> {
  return new WritError("definition-invalid", { where, reason });
}
