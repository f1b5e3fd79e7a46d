import { asSentence } from "../util/as-sentence.ts";
import { WritError } from "../error/writ-error.ts";
import { readResult } from "../tool/read-result.ts";
import { eventTypes, isEventType } from "../event/event.ts";
import { guarded, strict } from "../policy/study/guarded.ts";
import { policy } from "../policy/study/policy.ts";
import { labelShape } from "../message/message-shape.ts";
import { settingShapes, toolChoiceShape } from "../model/setting-shapes.ts";
import { patienceShapes } from "../model/patience.ts";
import { checkedRetry } from "../model/retry.ts";
import { approvalTerms } from "../run/approval.ts";
import { recordParts } from "../journal/parts.ts";
import { endCauses } from "../run/end.ts";
import { didYouMean } from "../util/nearest.ts";
import {
  anything,
  boolean,
  callable,
  either,
  filled,
  fits,
  having,
  kindOf,
  list as listOf,
  misfitText,
  named,
  number,
  object,
  oneOf,
  optional,
  record,
  type Shape,
  shapeOf,
  string,
  map,
} from "../util/shape.ts";
import type { AnyDefinition } from "./definition.ts";
import { renamedText } from "./renamed.ts";
import type { RunOptions } from "./run-options.ts";
import { atOnce, closed, strayReason, unknownTool } from "../error/check-shape.ts";
import { isThere, otherWord } from "../error/other-words.ts";

const list: Shape<readonly unknown[]> = listOf(anything);
const toolLike = object({ execute: callable });
const toolList = "a list of tools, collections of tools and names of tools";
const toolsOfAgent: Shape<unknown> = {
  wanted: toolList,
  misfit(value) {
    if (fits(map(toolLike), value) && Object.keys(value).length > 0) {
      const write = Object.values(value).every(isToolEntry) ? "Object.values(tools)" : "fromAiSdk(tools)";
      return { path: "", reason: `is an object of tools: write \`${write}\`, or a list` };
    }
    if (!Array.isArray(value)) return listOf(anything, `${toolList}, like \`[add]\``).misfit(value);
    const wrong = value.findIndex((entry) => !isToolEntry(entry));
    if (wrong === -1) return undefined;
    return { path: `[${wrong}]`, reason: wrongEntry(value[wrong]) };
  },
};

function wrongEntry(entry: unknown): string {
  if (fits(object({ invoke: callable, schema: record }), entry))
    return "is a tool of LangChain: write `...fromLangChain([it])`";
  if (fits(toolLike, entry) && !("name" in entry))
    return "has no name: write `tool({ name, ... })` around it, or `...fromAiSdk({ name: it })`";
  if (fits(toolLike, entry)) return "is a plain object: write `tool({ ... })` around it";
  if (typeof entry === "function" && "asTool" in entry) return "is an agent: write `.asTool()` behind it";
  return `must be what tool() gave, got ${kindOf(entry)}`;
}

/** A tool without its parsed schema is only the definition of one. */
function isToolEntry(entry: unknown): boolean {
  if (Array.isArray(entry)) return entry.every(isToolEntry);
  return fits(string, entry) || fits(object({ input: record, execute: callable }), entry);
}

const skills = listOf(
  shapeOf(
    "what skill() gives",
    (skill) => fits(object({ tools: list }), skill) || fits(object({ execute: callable }), skill),
  ),
  "a list of what skill() gives",
);

const capabilities = listOf(
  object({ kind: string, scope: string }, 'a capability like net("api.weather.com")'),
  'a list of capabilities like net("api.weather.com")',
);

const listenersByType = 'functions by the type of their event, like { "tool-end": (event) => ... }';
const listeners: Shape<unknown> = {
  wanted: listenersByType,
  misfit(value) {
    if (!fits(record, value)) return named(listenersByType, record).misfit(value);
    const other = Object.keys(value).find((type) => !isEventType(type));
    if (other === undefined) return map(optional(callable)).misfit(value);
    const near = didYouMean(other, eventTypes) || "; docs/events.md lists them";
    return { path: "", reason: `has the unknown event "${other}"${near}` };
  },
};

const routing: Shape<unknown> = {
  wanted: '"first" or an object like { threshold: 0.5 }',
  misfit: (value) =>
    fits(record, value)
      ? closed({ threshold: optional(number), otherwise: optional(string) }).misfit(value)
      : oneOf("first").misfit(value),
};

const account = having("what account() gives", "reserve", "settle");

const words: Shape<unknown> = {
  wanted: string.wanted,
  misfit: (value) =>
    typeof value === "function"
      ? {
          path: "",
          reason:
            "must be a string, got a function; words for one run go with it: `run(input, { instructions })`",
        }
      : string.misfit(value),
};

const policyMade = named("a function, as `policy()` and `policyFromJson()` make one", callable);
const policyMakers: ReadonlySet<unknown> = new Set([guarded, policy, strict]);
const decides: Shape<unknown> = {
  wanted: policyMade.wanted,
  misfit: (value) => {
    if (typeof value !== "function") return policyMade.misfit(value);
    const { name } = value;
    if (policyMakers.has(value))
      return { path: "", reason: `must be what ${name}() gives, and is ${name} itself: call it` };
    if (value.constructor.name === "AsyncFunction")
      return {
        path: "",
        reason:
          "must answer at once, and is an async function; what it waits for a `beforeToolCall` hook can look up",
      };
    const version: unknown = "version" in value ? value.version : undefined;
    if (version === undefined || (typeof version === "string" && version !== "")) return undefined;
    return { path: "version", reason: "must be a text that is not empty" };
  },
};

const approvals: Shape<unknown> = {
  wanted: `${approvalTerms.wanted}, or a function`,
  misfit: (value) => (typeof value === "function" ? undefined : approvalTerms.misfit(value)),
};

const example = closed({
  input: string,
  calls: listOf(closed({ tool: string, arguments: record, result: anything }), "a list of calls"),
  answer: string,
});

const definitionShapes: { readonly [Field in keyof Required<AnyDefinition>]: Shape<unknown> } = {
  name: string,
  description: string,
  instructions: words,
  model: anything,
  driver: either(named("the name of a driver", string), having("a driver", "request", "read")),
  tools: toolsOfAgent,
  autoTools: list,
  skills,
  selectSkill: callable,
  routing,
  memory: having("what memoryBank() gives", "read", "write", "search"),
  compaction: record,
  onEvent: callable,
  on: listeners,
  hooks: list,
  recover: record,
  budget: record,
  account: either(callable, account),
  policy: decides,
  approvals,
  grants: capabilities,
  enforce: oneOf("isolated"),
  markResults: boolean,
  settings: record,
  ...patienceShapes,
  toolChoice: toolChoiceShape,
  examples: listOf(example, "a list of worked examples"),
  lastTurn: oneOf("tools", "answer"),
  concurrency: atOnce,
  executor: having("an executor", "execute"),
  endOn: listOf(oneOf(...endCauses), "a list of what ends a run"),
  metadata: record,
  input: anything,
  output: anything,
};

const runShapes: Readonly<Record<string, Shape<unknown>>> = {
  signal: having("an AbortSignal", "addEventListener"),
  handOver: having("an AbortSignal", "addEventListener"),
  approve: callable,
  onWait: callable,
  journal: having("a journal", "step", "all"),
  onEvent: callable,
  retry: patienceShapes.retry,
  skill: string,
  session: having("what session(store, id) gives", "enter", "load", "check", "save"),
  tools: listOf(string, "a list of names"),
  instructions: string,
  intent: string,
  label: labelShape,
  ceiling: capabilities,
  account,
  accept: listOf(oneOf(...recordParts)),
  parent: named("the `run` of a tool's context", record),
  runId: filled,
  round: number, // the functions of a repetition pass their second argument to agents as it is
};

/** Checks that each field of a definition is known and of its kind. @throws WritError `definition-invalid` */
export function checkDefinition(definition: AnyDefinition): void {
  if (!fits(record, definition))
    throw wrong(
      "agent()",
      'it takes an object. Write agent({ name: "helper", model: "ollama/qwen2.5:7b" }).',
    );
  const { name }: { readonly name?: string } = definition;
  checkFields(definition, "agent", name === undefined ? "An agent" : `Agent "${name}"`);
  if (definition.settings !== undefined) checkSettings(definition.settings, `agent "${definition.name}"`);
}

/** Checks the model settings of a request outside of a run. @throws WritError `definition-invalid` */
export function checkSettings(settings: object, where: string): void {
  checkFields(settings, "other", `The settings of ${where}`);
}

/** Checks the options of a run of an agent that has these tools. @throws WritError `definition-invalid`, `tool-unknown` */
export function checkRunOptions(given: RunOptions, name: string, has: ReadonlySet<string>): void {
  const options: object = given;
  if (!fits(record, options)) throw wrong(`The run of "${name}"`, "its options are an object.");
  const where = `The run of "${name}"`;
  checkFields(options, "run", where);
  if (given.retry !== undefined) checkedRetry(given.retry, where);
  checkRunTools(given, name, has);
}

/** Checks the only tools of a run: an unknown name is a slip. @throws WritError `tool-unknown` */
export function checkRunTools(
  { tools }: Pick<RunOptions, "tools">,
  name: string,
  has: ReadonlySet<string>,
): void {
  const unknown = tools?.find((tool) => !has.has(tool) && tool !== readResult);
  if (unknown !== undefined) throw unknownTool(`\`tools\` of the run of "${name}"`, unknown, has);
}

/** Checks the account that an agent's function named for a run. @throws WritError `definition-invalid` */
export function checkAccount(given: unknown, name: string): void {
  const fault = misfitText(account, given, "account");
  if (fault !== undefined) throw wrong(`Agent "${name}"`, asSentence(fault));
}

const known = { agent: definitionShapes, run: runShapes, other: settingShapes };

/** The owners of fields. `other`: the settings of a model. */
type Owner = "agent" | "run" | "other";

function checkFields(given: object, of: Owner, where: string): void {
  const shapes: Readonly<Record<string, Shape<unknown>>> = known[of];
  const stray = strayReason(given, Object.keys(shapes));
  if (stray !== undefined) throw wrong(where, `its options are what ${stray}.`);
  for (const [field, value] of Object.entries(given)) {
    const shape = Object.hasOwn(shapes, field) ? shapes[field] : undefined;
    if (shape === undefined) {
      const near =
        didYouMean(field, Object.keys(shapes)) ||
        (of === "other" ? "; what a provider alone knows goes into `providerOptions`." : ".");
      const none = `there is no option "${field}"${near}`;
      throw wrong(where, renamedText({ ...given }) ?? elsewhereText(field, of, given) ?? none);
    }
    const fault = misfitText(optional(shape), value, field);
    if (fault !== undefined) throw wrong(where, asSentence(fault));
  }
}

/** The text for a field of another library, or for one that belongs to the agent or to a run. */
export function elsewhereText(field: string, of: Owner, given: object): string | undefined {
  const write = (owner: typeof of) => fieldHere(field, owner, owner === of ? given : {});
  const here = write(of);
  if (here !== undefined && isThere(here, given)) return `leave out \`${field}\`: \`${here}\` is there.`;
  if (here !== undefined) return `write \`${here}\` in place of \`${field}\`.`;
  const [agents, runs] = [of === "run" && write("agent"), of === "agent" && write("run")];
  if (runs) return `\`${field}\` is given to each run: write \`run(input, { ${runs} })\`.`;
  return agents
    ? `\`${field}\` belongs to the agent: write \`agent.with({ ${agents} }).run(input)\`.`
    : undefined;
}

/** The text to write for a field of an agent, a run or settings, or of another library; undefined for any other. */
export function fieldHere(field: string, owner: Owner, given: object): string | undefined {
  if (Object.hasOwn(known[owner], field)) return field;
  return otherWord(field, { known: Object.keys(known[owner]), owner, given });
}

function wrong(where: string, reason: string): WritError<"definition-invalid"> {
  return new WritError("definition-invalid", { where, reason });
}
