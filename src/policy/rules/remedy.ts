import { assertNever } from "../../util/assert-never.ts";
import { arg, all, any, conditionsIn, oneOf } from "./conditions.ts";
import {
  asConstant,
  isChoice,
  isEffectful,
  type Sight,
  sightOf,
  unboundOf,
  vouchedFor,
} from "./condition/sight.ts";
import { isAbsent, type Leaf } from "./condition/values.ts";
import { ruleCode, valueCode } from "./code.ts";
import type { Annotation, Condition, PolicyJson, Rule } from "./rule.ts";
import { rulesOf } from "./policy-json.ts";
import { type NamedRule, type RuleBook, ruleName, type Verdict, verdictOf } from "./verdict.ts";

/** One change of a policy. A call may need several together. */
export type Remedy =
  /** Vouches for these values. */
  | { readonly type: "constants"; readonly add: readonly string[] }
  /** Declares the effect of the tool. */
  | { readonly type: "effect"; readonly tool: string; readonly effect: "read" }
  | { readonly type: "add"; readonly rule: Rule }
  /** Replaces the rule with this name. */
  | { readonly type: "replace"; readonly name: string; readonly rule: Rule }
  /** Removes the rule with this name. */
  | { readonly type: "remove"; readonly name: string };

/** The longest value that somebody would write into a rule. */
const longestValue = 120;
const mostValues = 8;

/**
 * The smallest change that would have allowed a blocked call: the effect of a tool that declares none, a constant, or rules. Empty if there is no small change:
 * then only a person's yes is left. It names what the model asked for, which may be what an attacker wants, so people must judge it.
 */
export function remediesFor(sight: Sight, { matched }: Verdict, book: RuleBook): readonly Remedy[] {
  try {
    return effectFor(sight, book) ?? constantsFor(sight, book) ?? rulesFor(sight, matched);
  } catch {
    return [];
  }
}

/** The change as code, for people. */
export function remedyText(remedies: readonly Remedy[]): string | undefined {
  return remedies.length === 0 ? undefined : remedies.map(codeOf).join(" and ");
}

/** The policy after these changes. If a rule of a preset is replaced, the rules of the preset are written out. */
export function withRemedies(policy: PolicyJson, remedies: readonly Remedy[]): PolicyJson {
  const changed = new Map(
    remedies.flatMap((remedy): (readonly [string, readonly Rule[]])[] => {
      if (remedy.type === "replace") return [[remedy.name, [remedy.rule]]];
      return remedy.type === "remove" ? [[remedy.name, []]] : [];
    }),
  );
  const added = remedies.reduce(withRemedy, policy);
  if (changed.size === 0) return added;
  const { extraRules: _extraRules, exceptions: _exceptions, ...rest } = added;
  const rules = rulesOf(added).flatMap((rule, index) => changed.get(ruleName(rule, index)) ?? [rule]);
  return { ...rest, rules };
}

function withRemedy(policy: PolicyJson, remedy: Remedy): PolicyJson {
  const { constants = [], tools = {}, extraRules = [] } = policy;
  if (remedy.type === "constants") return { ...policy, constants: [...constants, ...remedy.add] };
  if (remedy.type === "add") return { ...policy, extraRules: [...extraRules, remedy.rule] };
  if (remedy.type !== "effect") return policy;
  const known = Object.hasOwn(tools, remedy.tool) ? tools[remedy.tool] : {};
  return { ...policy, tools: { ...tools, [remedy.tool]: { ...known, effect: remedy.effect } } };
}

function codeOf(remedy: Remedy): string {
  switch (remedy.type) {
    case "constants":
      return `constants: [${remedy.add.map(valueCode).join(", ")}]`;
    case "effect":
      return `effect: "${remedy.effect}" for ${valueCode(remedy.tool)}, if it only looks`;
    case "add":
    case "replace":
      return ruleCode(remedy.rule);
    case "remove":
      return `doing without the rule ${valueCode(remedy.name)}`;
    default:
      return assertNever(remedy);
  }
}

/** The values and links that nobody vouches for, if only they block the call: as few as needed. */
function constantsFor(sight: Sight, book: RuleBook): readonly Remedy[] | undefined {
  const rules = book.rulesFor(sight.call.tool);
  if (!rules.some(({ rule }) => conditionsIn(rule).some(asksOrigin))) return undefined;
  const leaves = sight.leaves()?.filter(({ isOdd }) => !isOdd) ?? [];
  const unbound = unboundOf(sight)?.flatMap(({ value }) => asConstant(value) ?? []) ?? [];
  const links = leaves.flatMap((leaf) => (isChoice(leaf) ? [] : sight.strangersLinks(leaf)));
  const short = [...new Set([...unbound, ...links])].filter(
    (value) => value !== "" && value.length <= longestValue,
  );
  const allows = (values: readonly string[]): boolean =>
    verdictOf(rules, vouchedFor(sight, values)).verdict === "allow";
  if (short.length === 0 || short.length > mostValues || !allows(short)) return undefined;
  const needed = short.reduce((kept, value) => {
    const fewer = kept.filter((other) => other !== value);
    return fewer.length > 0 && allows(fewer) ? fewer : kept;
  }, short);
  return [{ type: "constants", add: needed }];
}

/** True if a condition asks for the source of values or links. */
function asksOrigin(condition: Condition): boolean {
  if (condition.type === "argument" || condition.type === "roles") return condition.is.type === "bound";
  return condition.type === "unknown-links" || condition.type === "secrecy-exceeds-targets";
}

function effectFor(sight: Sight, book: RuleBook): readonly Remedy[] | undefined {
  if (sight.effect !== "undeclared") return undefined;
  const { tool } = sight.call;
  const annotation: Annotation = { ...book.annotationOf(tool), effect: "read" };
  const { verdict } = verdictOf(book.rulesFor(tool), sightOf(shown(sight), annotation));
  return verdict === "allow" ? [{ type: "effect", tool, effect: "read" }] : undefined;
}

/** The call as plain data: its getters were read already. */
function shown(sight: Sight): Sight["call"] {
  const { agent, skill, turn, callId, tool, effect, kind, parameters, fields, declared, defaultsIn } =
    sight.call;
  const [args, knows] = [sight.args(), sight.knows()];
  const names = { parameters, fields, declared, defaultsIn };
  return { agent, skill, turn, callId, tool, effect, kind, ...names, knows, arguments: args };
}

/** An exception to each rule that blocks the call, and an allow if no rule gives one. */
function rulesFor(sight: Sight, matched: readonly NamedRule[]): readonly Remedy[] {
  const these = valuesOf(sight);
  if (these === undefined) return [];
  const blocking = matched.filter(({ rule }) => rule.verdict !== "allow");
  const exceptions = blocking.map(({ rule, name }) => exceptionTo({ rule, name }, these, sight));
  const remedies = exceptions.filter((remedy) => remedy !== undefined);
  if (remedies.length < exceptions.length) return [];
  const isAllowed = matched.some(({ rule }) => rule.verdict === "allow") || !isEffectful(sight.effect);
  if (isAllowed) return remedies;
  const when = these === null ? {} : { when: these };
  return [...remedies, { type: "add", rule: { verdict: "allow", tools: [sight.call.tool], ...when } }];
}

function exceptionTo(
  { rule, name }: NamedRule,
  these: Condition | null,
  { call, knows }: Sight,
): Remedy | undefined {
  if (rule.when?.type === "calls") {
    const atLeast = knows().calls(call.tool) + 1;
    return { type: "replace", name, rule: { ...rule, when: { type: "calls", atLeast } } };
  }
  if (these === null) return withoutTool(rule, name, call.tool);
  const unless = rule.unless === undefined ? these : any(rule.unless, these);
  return { type: "replace", name, rule: { ...rule, unless } };
}

/** The rule without one of its tools. A rule about all tools is not changed for one of them. */
function withoutTool(rule: Rule, name: string, tool: string): Remedy | undefined {
  if (rule.tools.includes("*")) return undefined;
  const tools = rule.tools.filter((other) => other !== tool);
  return tools.length === 0 ? { type: "remove", name } : { type: "replace", name, rule: { ...rule, tools } };
}

/** The condition that the call acts on exactly this; null if it acts on nothing that can be named; undefined if the condition would be long. */
function valuesOf(sight: Sight): Condition | null | undefined {
  const leaves = sight.leaves()?.filter(isChoice);
  if (leaves === undefined || leaves.length > mostValues || !leaves.every(isShort)) return undefined;
  const byArgument = Map.groupBy(leaves, ({ path }) => path.replaceAll(/\[\d+\]/g, ""));
  const conditions = [...byArgument]
    .filter(([, group]) => !group.every(isAbsent))
    .map(([path, group]) => arg(path).is(oneOf(...new Set(group.map(({ value }) => value)))));
  const [first, ...others] = conditions;
  if (first === undefined) return null;
  return others.length === 0 ? first : all(first, ...others);
}

/** True for a value that a rule can name, at a path that a rule can express. */
function isShort({ path, value, isOdd }: Leaf): boolean {
  return !isOdd && JSON.stringify(value).length <= longestValue && path !== "" && !path.includes("(");
}
