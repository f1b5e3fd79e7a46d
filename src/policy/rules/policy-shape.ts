import { closed } from "../../error/check-shape.ts";
import { parameterShape } from "../../tool/check-security.ts";
import { parameterRoles, type ValueType, valueTypes } from "../../tool/parameters.ts";
import type { Json } from "../../util/json.ts";
import {
  boolean,
  finite,
  list,
  map,
  oneOf,
  optional,
  refined,
  type Shape,
  shapeOf,
  shownValue,
  string,
  variants,
  whole,
} from "../../util/shape.ts";
import type { Annotation, Condition, PolicyJson, Rule, ValueTest } from "./rule.ts";

/** A fixed word, or a value of another kind. */
function wordOr<Word, Value>(word: Shape<Word>, other: Shape<Value>): Shape<Word | Value> {
  return {
    wanted: other.wanted,
    misfit: (value) => (typeof value === "string" ? word : other).misfit(value),
  };
}

const text = refined(string, "must not be empty", (value) => value !== "");

/** A list with at least one item. */
function some<Value>(item: Shape<Value>): Shape<readonly Value[]> {
  return refined(list(item), "must not be empty", (items) => items.length > 0);
}

/** A plain value: the values of an argument are those inside a list or an object, never the list itself. */
const plain = shapeOf<Json>(
  "a text, a number, true, false or null",
  (value) =>
    value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean",
);

/** A tool name, or `*`. A pattern such as `mail_*` would look meaningful, so it is refused. */
const toolName = shapeOf<string>(
  'the name of a tool, or "*" alone for all',
  (value) => typeof value === "string" && value !== "" && (value === "*" || !value.includes("*")),
  shownValue,
);

/** A host in its canonical form, with `*.` before it for everything beneath. */
const hostPattern = shapeOf<string>(
  'a host in lower case, like "example.com" or "*.example.com"',
  (value) =>
    typeof value === "string" &&
    /^(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(value) &&
    !value.includes(".."),
  shownValue,
);

const bounds = closed({ type: string, min: optional(finite), max: optional(finite) });
const someBounds = refined(bounds, "needs `min` or `max`", ({ min, max }) => (min ?? max) !== undefined);

const tests = variants("type", {
  bound: closed({ type: string, as: optional(oneOf(...valueTypes)) }),
  "one-of": closed({ type: string, values: some(plain) }),
  within: refined(
    someBounds,
    "has a `min` above its `max`",
    ({ min = -Infinity, max = Infinity }) => min <= max,
  ),
  "host-in": closed({ type: string, hosts: some(hostPattern) }),
  absent: closed({ type: string, orDefault: optional(boolean) }),
});
const test: Shape<ValueTest> = { wanted: tests.wanted, misfit: tests.misfit };

const condition: Shape<Condition> = { wanted: "a condition", misfit: (value) => conditions.misfit(value) };
const several = closed({ type: string, of: some(condition) });
const effects = ["none", "read", "write", "irreversible"] as const;

const conditions = variants("type", {
  all: several,
  any: several,
  not: closed({ type: string, of: condition }),
  argument: closed({ type: string, path: text, is: test }),
  roles: closed({ type: string, roles: some(oneOf(...parameterRoles)), is: test }),
  effect: closed({ type: string, in: some(oneOf(...effects, "undeclared")) }),
  untrusted: closed({ type: string }),
  requested: closed({ type: string, exactly: optional(boolean) }),
  planned: closed({ type: string }),
  "outside-plan": closed({ type: string }),
  "reaches-outside": closed({ type: string }),
  "unknown-links": closed({ type: string, path: optional(text) }),
  "secrecy-exceeds-targets": closed({ type: string }),
  calls: closed({ type: string, atLeast: whole }),
});

const rule: Shape<Rule> = closed({
  verdict: oneOf("allow", "ask", "deny"),
  tools: some(toolName),
  when: optional(condition),
  unless: optional(condition),
  because: optional(text),
  show: optional(some(text)),
  name: optional(text),
  exception: optional(shapeOf<true>("true", (value) => value === true)),
});

export const rulesShape: Shape<readonly Rule[]> = list(rule);

const trustForm = closed({ of: oneOf(...valueTypes) });
const trust: Shape<boolean | { readonly of: ValueType }> = {
  wanted: "true, false or { of: <type> }",
  misfit: (value) => (typeof value === "object" ? trustForm : boolean).misfit(value),
};
const annotation: Shape<Annotation> = closed({
  effect: optional(oneOf(...effects)),
  trusted: optional(trust),
  reaches: optional(oneOf("outside")),
  resolves: optional(boolean),
  secrecy: optional(wordOr(oneOf("private"), closed({ readers: list(text) }))),
  parameters: optional(map(parameterShape)),
});

const skills = refined(
  map(refined(list(text), "is empty: a skill has tools", (tools) => tools.length > 0)),
  "is empty: leave it out where every task may use all tools",
  (named) => Object.keys(named).length > 0,
);

const annotations = refined(
  map(annotation),
  'must name each tool: "*" stands for none here',
  (tools) => !Object.keys(tools).some((name) => name.includes("*")),
);

export const policyShape: Shape<PolicyJson> = closed({
  name: text,
  rules: wordOr(oneOf("guarded", "strict"), rulesShape),
  extraRules: optional(rulesShape),
  exceptions: optional(list(refined(rule, "must allow", ({ verdict }) => verdict === "allow"))),
  tools: optional(annotations),
  constants: optional(list(text)),
  skills: optional(skills),
});
