import type { Condition, Rule, ValueTest } from "../../policy/rules/rule.ts";
import { rulePolicyOf } from "../../policy/rules/identity.ts";
import { narrowedParts } from "../../policy/study/narrow.ts";
import type { Policy } from "../../policy/decision.ts";
import { isWithinHost, placeOf } from "../../policy/rules/condition/hosts.ts";
import { isChoice, type Sight } from "../../policy/rules/condition/sight.ts";
import type { Leaf } from "../../policy/rules/condition/values.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import { type ValueType, valueTypes } from "../../tool/parameters.ts";
import type { Tool } from "../../tool/tool.ts";
import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";

/** A place in the arguments of a tool where the model writes a value of its own. */
export interface Place {
  /** `to`, `event.participants.email`. */
  readonly path: string;
  readonly schema: JsonSchema;
  /** Arguments with this value there, and nothing else. */
  readonly with: (value: Json) => JsonObject;
  /** The schema lists what may stand there. */
  readonly isClosed?: true;
}

/** The name of an argument that the schema does not have. */
export const unnamed = "another_argument";

const deepest = 8;

/** All places of a tool. What the schema lists (choices, truth values) is the author's, and none of them. */
export function placesOf({ input }: Pick<Tool, "input">): readonly Place[] {
  return allPlaces(input.jsonSchema).filter(({ isClosed }) => isClosed !== true);
}

function allPlaces(schema: JsonSchema): readonly Place[] {
  return within(schema, { path: "", with: asArguments, depth: 0 });
}

function asArguments(value: Json): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Arguments with a text at each place where something can stand, one by one: at those that a schema lists, and at what is around each. */
export function probesOf({ input }: Pick<Tool, "input">): readonly JsonObject[] {
  const paths = new Set(
    allPlaces(input.jsonSchema).flatMap(({ path }) => {
      const parts = path.split(".");
      return parts.map((_, place) => parts.slice(0, place + 1).join("."));
    }),
  );
  return [...paths].map((path) => {
    const args = path.split(".").reduceRight<Json>((value, name) => ({ [name]: value }), "x");
    return isJsonObject(args) ? args : {};
  });
}

/** The paths at which a tool's schema lists what may stand there. */
export function closedPaths({ input }: Pick<Tool, "input">): ReadonlySet<string> {
  const places = allPlaces(input.jsonSchema);
  const open = new Set(places.flatMap(({ path, isClosed }) => (isClosed === true ? [] : [path])));
  return new Set(places.flatMap(({ path }) => (open.has(path) ? [] : [path])));
}

interface Position extends Omit<Place, "schema"> {
  readonly depth: number;
}

function within(schema: JsonSchema, at: Position): readonly Place[] {
  const { enum: choices, const: only, type, items, properties, additionalProperties } = schema;
  if (choices !== undefined || only !== undefined || type === "boolean" || type === "null")
    return [{ path: at.path, schema, with: at.with, isClosed: true }];
  const several = ["anyOf", "oneOf", "allOf"].flatMap((word) => {
    const list = schema[word];
    return Array.isArray(list) ? list.filter(isJsonObject) : [];
  });
  const deeper = { ...at, depth: at.depth + 1 };
  if (several.length > 0 && at.depth < deepest) return several.flatMap((each) => within(each, deeper));
  if (isJsonObject(items) && at.depth < deepest)
    return within(items, { ...deeper, with: (value) => at.with([value]) });
  const isObject = isJsonObject(properties) || type === "object" || at.path === "";
  if (!isObject || at.depth >= deepest) return [{ path: at.path, schema, with: at.with }];
  const fields = Object.entries(isJsonObject(properties) ? properties : {});
  const named = fields.flatMap(([name, field]) =>
    within(isJsonObject(field) ? field : {}, under(deeper, name)),
  );
  const isOpen = additionalProperties !== false;
  const open = isJsonObject(additionalProperties) ? additionalProperties : {};
  return isOpen ? [...named, ...within(open, { ...under(deeper, unnamed), depth: deepest })] : named;
}

function under(at: Position, name: string): Position {
  return {
    ...at,
    path: at.path === "" ? name : `${at.path}.${name}`,
    with: (value) => at.with({ [name]: value }),
  };
}

/** The rules of a policy for a tool; those of both where it was put together of two. */
export function rulesFor(policy: Policy, tool: string): readonly Rule[] {
  const parts = narrowedParts(policy);
  if (parts !== undefined) return parts.flatMap((part) => rulesFor(part, tool));
  const rules = rulePolicyOf(policy)?.rules ?? [];
  return rules.filter(({ tools }) => tools.includes(tool) || tools.includes("*"));
}

interface FoundTest {
  readonly test: ValueTest;
  /** It speaks for a call. */
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

/** Values that the author wrote into the rules for a tool, to let them pass. */
export function authored(policy: Policy, tool: string): readonly Json[] {
  return testsIn(rulesFor(policy, tool)).flatMap(({ test, isFor }) =>
    isFor && test.type === "one-of" ? test.values : [],
  );
}

interface StrangersOf {
  readonly policy: Policy;
  readonly tool: string;
  /** Addresses there count as given. */
  readonly hosts: readonly string[];
}

/**
 * Values that nobody gave, one of each kind that the rules for a tool tell apart: at each host that they name and elsewhere, at the ends of each bound,
 * between and beyond them.
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

function textsFor({ type, format }: JsonSchema, tests: readonly FoundTest[]): readonly string[] {
  if (type === "number" || type === "integer") return [];
  const usual = usualFor(format);
  const hosts = tests.flatMap(({ test }) => (test.type === "host-in" ? test.hosts : []));
  const named = hosts.map((pattern) => pattern.replace("*", "any"));
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

function numbersFor({ type, minimum, maximum }: JsonSchema, tests: readonly FoundTest[]): readonly number[] {
  if (type === "string") return [];
  const ends = tests.flatMap(({ test }) =>
    test.type === "within" ? [test.min ?? [], test.max ?? []].flat() : [],
  );
  const low = typeof minimum === "number" ? minimum : -7731;
  const high = typeof maximum === "number" ? maximum : 7731;
  const sorted = [...new Set([low, high, ...ends])].toSorted((a, b) => a - b);
  const between = sorted.flatMap((end, place) => {
    const next = sorted[place + 1];
    return next === undefined ? [end + 1] : [Math.floor((end + next) / 2), (end + next) / 2];
  });
  return [...new Set([...sorted, ...between, low - 1, 7731])];
}

/** The values of a call that nobody gave: `isGiven` says what stands in the words of user and author. */
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

/** The types by which a value can be the user's own choice. */
export const anyType: readonly (ValueType | undefined)[] = [undefined, ...valueTypes];
