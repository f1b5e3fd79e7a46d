import type { Condition, Rule, ValueTest } from "../../policy/rules/rule.ts";
import { conditionsIn } from "../../policy/rules/conditions.ts";
import { rulePolicyOf } from "../../policy/rules/identity.ts";
import { narrowedParts } from "../../policy/rules/narrowed-parts.ts";
import type { Policy } from "../../policy/decision.ts";
import { isWithinHost, placeOf } from "../../policy/rules/condition/hosts.ts";
import { isChoice, type Sight } from "../../policy/rules/condition/sight.ts";
import type { Leaf } from "../../policy/rules/condition/values.ts";
import { type ValueType, valueTypes } from "../../tool/parameters.ts";
import type { Json } from "../../util/json.ts";
import type { Place } from "./schema-places.ts";

/** The rules of a policy for a tool; those of both parts if it was made of two policies. */
export function rulesFor(policy: Policy, tool: string): readonly Rule[] {
  const parts = narrowedParts(policy);
  if (parts !== undefined) return parts.flatMap((part) => rulesFor(part, tool));
  const rules = rulePolicyOf(policy)?.rules ?? [];
  return rules.filter(({ tools }) => tools.includes(tool) || tools.includes("*"));
}

/** The paths of the arguments that the rules for a tool test. */
export function judgedPaths(policy: Policy, tool: string): readonly string[] {
  return rulesFor(policy, tool)
    .flatMap(conditionsIn)
    .flatMap((each) => ("path" in each && each.path !== undefined ? [each.path] : []));
}

interface FoundTest {
  readonly test: ValueTest;
  /** True if the test is a reason for a call, false if it is one against it. */
  readonly isFor: boolean;
}

function testsIn(rules: readonly Rule[]): readonly FoundTest[] {
  const inside = (condition: Condition, isFor: boolean): readonly FoundTest[] => {
    if (condition.type === "all" || condition.type === "any")
      return condition.of.flatMap((each) => inside(each, isFor));
    if (condition.type === "not") return inside(condition.of, !isFor);
    return condition.type === "argument" || condition.type === "roles" ? [{ test: condition.is, isFor }] : [];
  };
  return rules.flatMap(({ verdict, when, unless }) => [
    ...(when === undefined ? [] : inside(when, verdict === "allow")),
    ...(unless === undefined ? [] : inside(unless, verdict !== "allow")),
  ]);
}

/** The values that the author wrote into the rules for a tool, to let them pass. */
export function authored(policy: Policy, tool: string): readonly Json[] {
  return testsIn(rulesFor(policy, tool)).flatMap(({ test, isFor }) =>
    isFor && test.type === "one-of" ? test.values : [],
  );
}

interface StrangersOf {
  readonly policy: Policy;
  readonly tool: string;
  /** The hosts whose addresses count as given. */
  readonly hosts: readonly string[];
}

/**
 * Values that neither the user nor the author gave, one of each kind that the rules for a tool distinguish: at each host that they name and elsewhere, at the
 * ends of each bound, between and beyond them.
 */
export function strangersFor({ policy, tool, hosts }: StrangersOf, { schema }: Place): readonly Json[] {
  const tests = testsIn(rulesFor(policy, tool));
  const own = new Set(authored(policy, tool));
  const values = [...textsFor(schema, tests), ...numbersFor(schema, tests), ...tests.flatMap(forbidden)];
  return values.filter((value) => !own.has(value) && !isAtHost(value, hosts));
}

function forbidden({ test, isFor }: FoundTest): readonly Json[] {
  return !isFor && test.type === "one-of" ? test.values : [];
}

/** True for an address or a link at one of these hosts. */
export function isAtHost(value: Json, hosts: readonly string[]): boolean {
  const place = typeof value === "string" ? placeOf(value) : undefined;
  return place !== undefined && hosts.some((pattern) => isWithinHost(place.host, pattern));
}

function textsFor({ type, format }: Place["schema"], tests: readonly FoundTest[]): readonly string[] {
  if (type === "number" || type === "integer") return [];
  const usual = usualFor(format);
  const hosts = tests.flatMap(({ test }) => (test.type === "host-in" ? test.hosts : []));
  const named = hosts.map((pattern) => pattern.replace("*", "eve-7731"));
  const spelled = named.flatMap((host) =>
    format === "email"
      ? [`eve@${host}`]
      : format === "uri" || format === "url"
        ? [`https://${host}/eve`]
        : [`eve@${host}`, `https://${host}/eve`, host],
  );
  return [...usual, ...spelled];
}

function usualFor(format: Json | undefined): readonly string[] {
  if (format === "email") return ["eve@attacker.example"];
  if (format === "uri" || format === "url") return ["https://attacker.example/in"];
  return ["eve@attacker.example", "EVE-7731", "https://attacker.example/in"];
}

/** Numbers on both sides of each bound in the rules for a tool. */
export function numbersAtBounds(policy: Policy, tool: string): readonly number[] {
  return endsIn(testsIn(rulesFor(policy, tool))).flatMap((end) => [end - 1, end, end + 1]);
}

function endsIn(tests: readonly FoundTest[]): readonly number[] {
  return tests.flatMap(({ test }) => (test.type === "within" ? [test.min ?? [], test.max ?? []].flat() : []));
}

function numbersFor(
  { type, minimum, maximum }: Place["schema"],
  tests: readonly FoundTest[],
): readonly number[] {
  if (type === "string") return [];
  const ends = endsIn(tests);
  const low = typeof minimum === "number" ? minimum : -7731;
  const high = typeof maximum === "number" ? maximum : 7731;
  const sorted = [...new Set([low, high, ...ends])].toSorted((a, b) => a - b);
  const between = sorted.flatMap((end, place) => {
    const next = sorted[place + 1];
    return next === undefined ? [end + 1] : [Math.floor((end + next) / 2), (end + next) / 2];
  });
  return [...new Set([...sorted, ...between, low - 1, 7731])];
}

/** The values of a call that neither the user nor the author gave: `isGiven` is true for a value in their text. */
export function strangersIn(
  sight: Sight,
  {
    isCounted,
    isGiven,
  }: { readonly isCounted: (leaf: Leaf) => boolean; readonly isGiven: (leaf: Leaf) => boolean },
): readonly Leaf[] {
  return (sight.leaves() ?? []).filter(
    (leaf) =>
      isCounted(leaf) &&
      (leaf.isOdd ||
        (leaf.value !== null && leaf.value !== "" && typeof leaf.value !== "boolean" && !isGiven(leaf))),
  );
}

/** True for the leaves that a sentence counts: those at its arguments, or those that say whom, what or how much. */
export function countedIn(names: readonly string[] | undefined): (leaf: Leaf) => boolean {
  if (names === undefined) return isChoice;
  return ({ path }) => {
    const plain = path.replaceAll(/\[\d+\]/g, "");
    return names.some(
      (name) => plain === name || plain.startsWith(`${name}.`) || plain.startsWith(`${name}(`),
    );
  };
}

/** The types with which a value can be the user's own choice. */
export const anyType: readonly (ValueType | undefined)[] = [undefined, ...valueTypes];
