import type { Label } from "../../message/label.ts";
import { allowListed, type CallRequest, type Policy } from "../../policy/decision.ts";
import { noIntent } from "../../policy/knowledge/intent.ts";
import { holds, leavesUnjudged } from "../../policy/rules/condition/judge.ts";
import { isEffectful, type Sight, sightOf } from "../../policy/rules/condition/sight.ts";
import { isAbsent, type Leaf } from "../../policy/rules/condition/values.ts";
import type { Truth } from "../../policy/rules/condition/tests.ts";
import { rulePolicyOf } from "../../policy/rules/identity.ts";
import type { Condition, Rule } from "../../policy/rules/rule.ts";
import { sensible } from "../../policy/rules/sensible.ts";
import { type NamedRule, ruleBook, verdictOf } from "../../policy/rules/verdict.ts";
import { actsOfTool } from "../../policy/values/acts.ts";
import { narrowedParts } from "../../policy/rules/narrowed-parts.ts";
import { namesIn } from "../../schema/property-names.ts";
import type { ParameterRole } from "../../tool/parameters.ts";
import { statedDefaultsOf } from "../../tool/default-values.ts";
import type { Tool } from "../../tool/tool.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import type { JsonObject } from "../../util/json.ts";
import { lazy } from "../../util/remembered.ts";
import { probesOf } from "./schema-places.ts";
import type { Possible, Way } from "./subject.ts";

/** The state of a run when a call is judged, as far as a policy sees it. */
export interface Situation {
  readonly label: Label;
  /** The calls of the tool that ran. */
  readonly calls: number;
  /** A value that neither the user nor the author gave, at its place: only such calls are meant. */
  readonly args?: JsonObject;
}

/**
 * The verdicts that the policy may give on a call of the tool, whatever its arguments and the request are. With `args`, only on calls that have
 * this value there.
 */
export function possible(way: Way, tool: Tool, situation: Situation): Possible {
  const { label, calls, args } = situation;
  const key = JSON.stringify([tool.name, label.integrity, label.secrecy, calls, args ?? null]);
  const known = way.known.get(key);
  if (known !== undefined) return known;
  const found = judged(way, tool, situation);
  way.known.set(key, found);
  return found;
}

function judged(way: Way, tool: Tool, situation: Situation): Possible {
  const { policy } = way;
  const parts = narrowedParts(policy);
  if (parts !== undefined)
    return stricter(parts.map((part) => judged({ ...way, policy: part }, tool, situation)));
  const call = callOf(way, tool, situation);
  if (policy === sensible || policy === allowListed) {
    const { verdict } = policy(call);
    return { free: verdict === "allow", runs: verdict !== "deny" };
  }
  const declared = rulePolicyOf(policy);
  if (declared === undefined) return { free: true, runs: true, opaque: nameOf(policy) };
  const book = ruleBook(declared.rules, declared.tools);
  const sight = sightIn(way, tool, situation);
  const hasPlans = [...way.tools.values()].some(({ plans }) => plans === true);
  const look: Look = {
    rules: book.rulesFor(tool.name),
    sight,
    hasPremise: situation.args !== undefined,
    hasPlans,
    isMissing: missingRoles(way, tool, situation),
    nothing: sightIn(way, tool, { ...situation, args: {} }),
  };
  return { free: mayAllow(look), runs: mayRun(look) };
}

/** A call as the policy sees it, with no value that is the user's choice. */
export function sightIn(way: Way, tool: Tool, situation: Situation): Sight {
  const annotation = rulePolicyOf(way.policy)?.tools[tool.name];
  return sightOf(callOf(way, tool, situation), annotation);
}

/** The verdicts that both of two policies may give. */
function stricter(said: readonly Possible[]): Possible {
  const opaque = said.flatMap((each) => each.opaque ?? [])[0];
  return {
    free: said.every(({ free }) => free),
    runs: said.every(({ runs }) => runs),
    ...(opaque === undefined ? {} : { opaque }),
  };
}

function nameOf(policy: Policy): string {
  return policy.name === "" || policy.name === "policy"
    ? "the policy is a function"
    : `the policy is the function ${policy.name}`;
}

function callOf({ agent, skill }: Way, tool: Tool, { label, calls, args = {} }: Situation): CallRequest {
  const { name, effect, parameters = {}, kind, input } = tool;
  return {
    agent,
    skill,
    turn: 1,
    callId: "call",
    tool: name,
    effect,
    parameters,
    kind,
    arguments: args,
    ...namesIn(input.jsonSchema),
    defaultsIn: statedDefaultsOf(tool),
    knows: {
      intent: noIntent(agent),
      label,
      isBound: () => false,
      isFound: () => true,
      isKnownLink: () => false,
      asksFor: () => true,
      calls: () => calls,
    },
  };
}

/** A policy's rules for a tool, with the known facts about the call. */
interface Look {
  readonly rules: readonly NamedRule[];
  readonly sight: Sight;
  readonly hasPremise: boolean;
  readonly hasPlans: boolean;
  /** True for a role that no argument of the tool can have. */
  readonly isMissing: (role: ParameterRole) => boolean;
  /** A call without arguments. */
  readonly nothing: Sight;
}

/** Makes the function that is true for roles that no argument of the tool has. */
function missingRoles(way: Way, tool: Tool, situation: Situation): Look["isMissing"] {
  const roles = lazy(
    () =>
      new Set(
        probesOf(tool).flatMap((args) =>
          (sightIn(way, tool, { ...situation, args }).leaves() ?? []).map(({ role }) => role),
        ),
      ),
  );
  return (role) => !roles().has(role);
}

const yes: Condition = { type: "effect", in: ["none", "read", "write", "irreversible", "undeclared"] };
const no: Condition = { type: "effect", in: [] };
/** A condition without a known value, because the number of calls is unknown: see {@link unsaid}. */
const unknown: Condition = { type: "calls", atLeast: 1 };

/** The sight in which the three conditions above are true, false and unknown. */
function unsaid(sight: Sight): Sight {
  return { ...sight, knows: () => ({ ...sight.knows(), calls: () => -1 }) };
}

/** The condition with its known parts replaced by their values. The policy's own judge combines the parts. */
function settled(condition: Condition, value: (part: Condition) => Truth): Condition {
  if (condition.type === "all" || condition.type === "any")
    return { type: condition.type, of: condition.of.map((each) => settled(each, value)) };
  if (condition.type === "not") return { type: "not", of: settled(condition.of, value) };
  const truth = value(condition);
  return truth === undefined ? unknown : truth ? yes : no;
}

/** The value of a part that is the same for every call that is meant; undefined if calls differ. */
function fixedValue(part: Condition, look: Look): Truth {
  const { sight, hasPlans } = look;
  const { type } = part;
  if (type === "effect" || type === "reaches-outside" || type === "untrusted" || type === "calls")
    return holds(part, sight);
  if (type === "requested")
    return part.exactly !== true && actsOfTool(sight.call.tool).size === 0 ? true : undefined;
  if (type === "planned" || type === "outside-plan") return hasPlans ? undefined : false;
  if (type === "secrecy-exceeds-targets") return sight.knows().label.secrecy === "public" ? false : undefined;
  return fixedByArguments(part, look);
}

/** The same for a part that tests arguments. */
function fixedByArguments(part: Condition, { sight, hasPremise, isMissing, nothing }: Look): Truth {
  if (part.type === "unknown-links")
    return part.path === undefined && isMissing("content") ? holds(part, nothing) : undefined;
  if (part.type !== "roles" && part.type !== "argument") return undefined;
  if (part.type === "roles" && part.roles.every(isMissing)) return holds(part, nothing);
  // each value must pass: if the known one does not, the others cannot help
  const isMeant = hasPremise && (part.type === "roles" || isThere(sight.at(part.path)));
  return isMeant && holds(part, sight) !== true ? false : undefined;
}

/** True if the known value is among these. */
function isThere(leaves: readonly Leaf[] | undefined): boolean {
  return leaves?.some((leaf) => !isAbsent(leaf)) !== false;
}

type Certainty = "surely" | "maybe" | "never";

function certaintyOf(
  { verdict, when, unless }: Rule,
  value: (part: Condition) => Truth,
  sight: Sight,
): Certainty {
  if (verdict === "allow" && when !== undefined && leavesUnjudged(when, sight)) return "never";
  const blank = unsaid(sight);
  const condition = when === undefined ? true : holds(settled(when, value), blank);
  const exception = unless === undefined ? false : holds(settled(unless, value), blank);
  if (condition === false || exception === true) return "never";
  return condition === true && exception === false ? "surely" : "maybe";
}

/** True if some call may run, with or without the consent of a person. A condition that cannot be evaluated counts as a question. */
function mayRun(look: Look): boolean {
  const { rules, sight } = look;
  const found = rules.map(({ rule }) => ({
    rule,
    certainty: certaintyOf(
      rule,
      (part) => (isAboutArguments(part) ? undefined : fixedValue(part, look)),
      sight,
    ),
  }));
  if (found.some(({ rule, certainty }) => rule.verdict === "deny" && certainty === "surely")) return false;
  return (
    !isEffectful(sight.effect) ||
    found.some(({ rule, certainty }) => rule.verdict !== "deny" && certainty !== "never")
  );
}

function isAboutArguments({ type }: Condition): boolean {
  return type === "argument" || type === "roles";
}

/** The most parts with different values in different calls that are tried one by one. */
const mostParts = 14;

/** True if the policy allows some call without a question: each part whose value differs between calls is tried both ways. */
function mayAllow(look: Look): boolean {
  const known = new Map<Condition, readonly [key: string, value: Truth]>();
  const open = new Set<string>();
  for (const { rule } of look.rules)
    for (const part of partsOf(rule)) {
      const value = fixedValue(part, look);
      const key = keyOf(part);
      known.set(part, [key, value]);
      if (value === undefined) open.add(key);
    }
  const tried = new Map<string, boolean>();
  const value = (part: Condition): Truth => {
    const [key = "", truth] = known.get(part) ?? [];
    return truth ?? tried.get(key);
  };
  const keys = [...open];
  const goOn = (place: number): boolean => {
    if (isRuledOut(look, value)) return false;
    const key = keys[place];
    if (key === undefined) return isAllowed(look, value);
    if (place >= mostParts) return true;
    for (const truth of [true, false]) {
      tried.set(key, truth);
      const found = goOn(place + 1);
      tried.delete(key);
      if (found) return true;
    }
    return false;
  };
  return goOn(0);
}

function isRuledOut({ rules, sight }: Look, value: (part: Condition) => Truth): boolean {
  return rules.some(({ rule }) => rule.verdict === "deny" && certaintyOf(rule, value, sight) === "surely");
}

/** The policy's own verdict, with all parts known. */
function isAllowed({ rules, sight }: Look, value: (part: Condition) => Truth): boolean {
  const own = rules
    .filter(({ rule }) => certaintyOf(rule, value, sight) !== "never")
    .map(({ rule: { when: _when, unless: _unless, ...rule }, name }): NamedRule => ({ rule, name }));
  return verdictOf(own, sight).verdict === "allow";
}

/** The parts of a rule's conditions that hold or do not by themselves. */
function partsOf({ when, unless }: Rule): readonly Condition[] {
  const within = (condition: Condition): readonly Condition[] => {
    if (condition.type === "all" || condition.type === "any") return condition.of.flatMap(within);
    return condition.type === "not" ? within(condition.of) : [condition];
  };
  return [when, unless].flatMap((each) => (each === undefined ? [] : within(each)));
}

function keyOf(part: Condition): string {
  return canonicalJson(part);
}
