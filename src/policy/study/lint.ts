import { typesAt } from "../../schema/keywords.ts";
import type { Tool } from "../../tool/tool.ts";
import { isJsonObject, type Json } from "../../util/json.ts";
import { nearest } from "../../util/nearest.ts";
import { isEffectful } from "../rules/condition/sight.ts";
import { conditionsIn } from "../rules/conditions.ts";
import { ruleFacts } from "./narrow.ts";
import type { NamedRule, RuleBook } from "../rules/verdict.ts";
import type { Annotation, Condition, Rule } from "../rules/rule.ts";

/** A part of a policy that is most likely a mistake. */
export interface Finding {
  /**
   * `shadowed`: a stricter rule without a condition overrides it, so it never matters. `repeated`: another rule says the same. `unknown-tool`,
   * `unknown-argument`: none has this name. `too-wide`: it allows every effect. `limit-zero`: no call is within it. `open-schema`: it judges single
   * arguments of a tool that also takes others. `no-arguments`: it judges the arguments of a tool that has none. `each-of-several`: it forbids or asks if each
   * of several values matches, so that one other value beside them evades it.
   */
  readonly type:
    | "shadowed"
    | "repeated"
    | "unknown-tool"
    | "unknown-argument"
    | "too-wide"
    | "limit-zero"
    | "open-schema"
    | "no-arguments"
    | "each-of-several";
  /** The name of the rule, or `tools` for an annotation. */
  readonly rule: string;
  /** The fault, and what to do. */
  readonly text: string;
}

/** A tool of an agent by its name, with its arguments if they are known. */
export type LintedTool = Pick<Tool, "name"> & Partial<Pick<Tool, "input" | "effect">>;

/** Looks for likely mistakes. Names are only checked if the tools are given. */
export function lintRules(
  { rules }: RuleBook,
  annotations: Readonly<Record<string, Annotation>>,
  tools: readonly LintedTool[] | undefined,
): readonly Finding[] {
  const inRules = rules.flatMap((named, index) => [
    ...limitZero(named),
    ...tooWide(named, rules),
    ...shadowed(named, rules),
    ...repeated(named, rules.slice(0, index)),
    ...(tools === undefined ? [] : [...unknownNames(named, tools), ...openSchemas(named, tools)]),
    ...(tools === undefined ? [] : emptySchemas(named, { tools, annotations })),
    ...(tools === undefined ? [] : eachOfSeveral(named, tools)),
  ]);
  if (tools === undefined) return inRules;
  const inAnnotations = Object.keys(annotations).flatMap((tool) => unknownTool("tools", tool, tools));
  return [...inRules, ...inAnnotations];
}

function limitZero({ rule: { when, tools }, name }: NamedRule): readonly Finding[] {
  if (when?.type !== "calls" || when.atLeast > 0) return [];
  const text = `it holds from the first call on: write deny(${tools.map((tool) => JSON.stringify(tool)).join(", ")})`;
  return [{ type: "limit-zero", rule: name, text }];
}

function tooWide({ rule, name }: NamedRule, rules: readonly NamedRule[]): readonly Finding[] {
  if (rule.verdict !== "allow" || !rule.tools.includes("*") || rule.when !== undefined) return [];
  if (rule.exception === true) {
    const text = "it takes back every question of every tool: name the tools, or say when";
    return [{ type: "too-wide", rule: name, text }];
  }
  const isGuarded = rules.some(({ rule: other }) => other.verdict !== "allow" && other.tools.includes("*"));
  if (isGuarded) return [];
  const text = 'it allows every effect of every tool: name the tools, or write .when(effect("none", "read"))';
  return [{ type: "too-wide", rule: name, text }];
}

const strictness = { allow: 0, ask: 1, deny: 3 } as const;

function strengthOf({ verdict, exception }: Rule): number {
  return exception === true ? 2 : strictness[verdict];
}

function shadowed({ rule, name }: NamedRule, rules: readonly NamedRule[]): readonly Finding[] {
  const above = rules.filter(
    ({ rule: other }) =>
      other.when === undefined && other.unless === undefined && strengthOf(other) > strengthOf(rule),
  );
  const over = rule.tools.map((tool) =>
    above.find(({ rule: { tools } }) => tools.includes(tool) || tools.includes("*")),
  );
  if (over.includes(undefined)) return [];
  const names = [...new Set(over.map((other) => other?.name))].join(" and ");
  return [
    {
      type: "shadowed",
      rule: name,
      text: `it can never matter: ${names} holds for the same tools without a condition`,
    },
  ];
}

function repeated({ rule, name }: NamedRule, before: readonly NamedRule[]): readonly Finding[] {
  const same = before.find(({ rule: other }) => ruleFacts(other) === ruleFacts(rule));
  return same === undefined ? [] : [{ type: "repeated", rule: name, text: `it says what ${same.name} says` }];
}

function unknownNames({ rule, name }: NamedRule, tools: readonly LintedTool[]): readonly Finding[] {
  const named = rule.tools.filter((tool) => tool !== "*");
  const found = named.flatMap((tool) => unknownTool(name, tool, tools));
  if (found.length > 0 || named.length < rule.tools.length) return found;
  const known = tools.filter((tool) => named.includes(tool.name)).map(argumentsOf);
  if (known.includes(undefined)) return [];
  const inConditions = conditionsIn(rule).flatMap((each) => ("path" in each ? (each.path ?? []) : []));
  const paths = [...inConditions, ...(rule.show ?? [])];
  const first = [...new Set(paths.map((path) => path.split(".", 1)[0] ?? path))];
  return first
    .filter((argument) => !known.some((names) => names?.includes(argument)))
    .map((argument) => {
      const meant = nearest(
        argument,
        known.flatMap((names) => names ?? []),
      );
      return {
        type: "unknown-argument" as const,
        rule: name,
        text: `no tool of it has an argument "${argument}"${hint(meant)}`,
      };
    });
}

/** Findings for allows over single arguments, which hold for no call with an argument outside of the schema: most likely the schema should be closed. */
function openSchemas({ rule, name }: NamedRule, tools: readonly LintedTool[]): readonly Finding[] {
  if (rule.verdict !== "allow" || !conditionsIn({ when: rule.when }).some(({ type }) => type === "argument"))
    return [];
  return tools
    .filter((tool) => rule.tools.includes(tool.name) && isOpen(tool))
    .map((tool) => ({
      type: "open-schema",
      rule: name,
      text: `"${tool.name}" takes arguments that its schema does not name, and no call with one is allowed by this rule: close the schema (additionalProperties: false), or judge roles("target", "amount", "id")`,
    }));
}

/** Findings for allows whose conditions are only about values, which hold for every call of a tool without arguments. */
function emptySchemas(
  { rule, name }: NamedRule,
  {
    tools,
    annotations,
  }: { readonly tools: readonly LintedTool[]; readonly annotations: Readonly<Record<string, Annotation>> },
): readonly Finding[] {
  if (rule.verdict !== "allow" || rule.when === undefined || !isOfValues(rule.when)) return [];
  return tools
    .filter((tool) => rule.tools.includes("*") || rule.tools.includes(tool.name))
    .filter(
      (tool) =>
        argumentsOf(tool)?.length === 0 &&
        isEffectful(annotations[tool.name]?.effect ?? tool.effect ?? "undeclared"),
    )
    .map((tool) => ({
      type: "no-arguments",
      rule: name,
      text: `"${tool.name}" has no arguments, so this rule allows every call of it: add requested({ exactly: true }), or not(untrusted())`,
    }));
}

function isOfValues(condition: Condition): boolean {
  if (condition.type === "all" || condition.type === "any")
    return condition.type === "all" ? condition.of.every(isOfValues) : condition.of.some(isOfValues);
  return (condition.type === "roles" || condition.type === "argument") && condition.is.type !== "one-of";
}

/** Findings for tests that each value must pass: of several values, a single one that fails keeps the rule from applying to the others. */
function eachOfSeveral({ rule, name }: NamedRule, tools: readonly LintedTool[]): readonly Finding[] {
  const { verdict, when, unless } = rule;
  const own = tools.filter((tool) => rule.tools.includes("*") || rule.tools.includes(tool.name));
  const isAllow = verdict === "allow";
  const tests = [...testsIn(when, !isAllow), ...testsIn(unless, isAllow)];
  const paths = tests.filter((path) =>
    own.some(({ input }) => input !== undefined && isSeveral(input.jsonSchema, path.split("."))),
  );
  return [...new Set(paths)].map((path) => ({
    type: "each-of-several",
    rule: name,
    text: `it holds only where each value of "${path}" passes, so that a call escapes it by one more: say what may stand there instead, ${isAllow ? ".when" : ".unless"}(arg("${path}").each(…))`,
  }));
}

/** The paths of arguments that make a rule stricter by passing. */
function testsIn(condition: Condition | undefined, isStricter: boolean): readonly string[] {
  if (condition === undefined) return [];
  if (condition.type === "not") return testsIn(condition.of, !isStricter);
  if (condition.type === "all" || condition.type === "any")
    return condition.of.flatMap((each) => testsIn(each, isStricter));
  return condition.type === "argument" && isStricter && condition.is.type !== "absent"
    ? [condition.path]
    : [];
}

/** True if a schema permits several values at a path. */
function isSeveral(schema: Json | undefined, [name, ...rest]: readonly string[]): boolean {
  if (!isJsonObject(schema)) return false;
  if (typesAt(schema).includes("array") || schema["items"] !== undefined) return true;
  const choices = [schema["anyOf"] ?? [], schema["oneOf"] ?? []].flat();
  if (choices.some((each) => isSeveral(each, name === undefined ? [] : [name, ...rest]))) return true;
  const { properties } = schema;
  return name !== undefined && isJsonObject(properties) && isSeveral(properties[name], rest);
}

function isOpen({ input }: LintedTool): boolean {
  const { properties, additionalProperties } = input?.jsonSchema ?? {};
  return isJsonObject(properties) && additionalProperties !== false;
}

function unknownTool(rule: string, tool: string, tools: readonly LintedTool[]): readonly Finding[] {
  if (tools.some(({ name }) => name === tool)) return [];
  const meant = nearest(
    tool,
    tools.map(({ name }) => name),
  );
  return [{ type: "unknown-tool", rule, text: `there is no tool "${tool}"${hint(meant)}` }];
}

function hint(meant: string | undefined): string {
  return meant === undefined ? "" : `: "${meant}" is meant?`;
}

/** The names of the arguments; undefined if the tool also takes others, or its arguments are unknown. */
function argumentsOf({ input }: LintedTool): readonly string[] | undefined {
  const properties = input?.jsonSchema["properties"];
  return isJsonObject(properties) ? Object.keys(properties) : undefined;
}
