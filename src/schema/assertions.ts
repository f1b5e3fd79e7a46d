import { canonicalJson } from "../util/canonical-json.ts";
import { asObject, isJsonObject, type Json, own } from "../util/json.ts";
import type { Maker, Makers, Making } from "./maker.ts";
import { type Check, show, Work } from "./visit.ts";

/** The keywords that look at a value without a schema inside, in the order in which their faults are told. */
export const assertions: Makers = [
  ["type", typeCheck],
  ["maximum", numberCheck((value, limit) => value <= limit, "<=")],
  ["minimum", numberCheck((value, limit) => value >= limit, ">=")],
  ["exclusiveMaximum", numberCheck((value, limit) => value < limit, "<")],
  ["exclusiveMinimum", numberCheck((value, limit) => value > limit, ">")],
  ["multipleOf", multipleOfCheck],
  ["maxLength", (limit) => ofSizes(characters, { most: Number(limit), what: "characters" })],
  ["minLength", (limit) => ofSizes(characters, { least: Number(limit), what: "characters" })],
  ["pattern", patternCheck],
  ["const", (wanted) => choiceCheck([wanted], () => `must be ${show(wanted)}`)],
  [
    "enum",
    (held) => {
      const choices = listOf(held);
      return choices.length === 0
        ? (_value, visit) => visit.fault(() => "is not allowed")
        : choiceCheck(choices, () => `must be one of ${showAll(choices)}`);
    },
  ],
  ["maxItems", (limit) => ofSizes(entries, { most: Number(limit), what: "items" })],
  ["minItems", (limit) => ofSizes(entries, { least: Number(limit), what: "items" })],
  ["uniqueItems", (isWanted) => (isWanted === true ? uniqueCheck : () => true)],
  ["maxProperties", (limit) => ofSizes(fields, { most: Number(limit), what: "properties" })],
  ["minProperties", (limit) => ofSizes(fields, { least: Number(limit), what: "properties" })],
  ["required", requiredCheck],
  ["dependentRequired", dependentRequiredCheck],
];

/** The text of a keyword whose form is checked. */
function textOf(value: Json): string {
  return typeof value === "string" ? value : "";
}

export function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** The types of JSON, with the test for each. */
export const isType: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isJsonObject,
  array: Array.isArray,
  string: (value) => typeof value === "string",
  number: Number.isFinite,
  integer: Number.isInteger,
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
};

/** True for a value of one of the types. */
export function hasType(value: unknown, types: readonly string[]): boolean {
  return types.some((type) => isType[type]?.(value) === true);
}

function typeCheck(held: Json): Check {
  const types = (Array.isArray(held) ? held : [held]).map(textOf);
  const tests = types.flatMap((type) => isType[type] ?? []);
  return (value, visit) => tests.some((test) => test(value)) || visit.wrongType(types, value);
}

function numberCheck(fits: (value: number, held: number) => boolean, words: string): Maker {
  return (held) => {
    const number = Number(held);
    return (value, visit) =>
      typeof value !== "number" ||
      !Number.isFinite(value) ||
      fits(value, number) ||
      visit.fault(() => `must be ${words} ${number}`);
  };
}

// Two numbers are taken apart.
const stepsPerDecimals = 4;

function multipleOfCheck(held: Json): Check {
  const factor = Number(held);
  return (value, visit) => {
    if (typeof value !== "number" || !Number.isFinite(value) || Number.isInteger(value / factor)) return true;
    visit.work.spend(stepsPerDecimals);
    return isMultiple(value, factor) || visit.fault(() => `must be multiple of ${factor}`);
  };
}

/** True of a multiple as both are written: 19.99 is one of 0.01, though the quotient of the two doubles is no integer. */
function isMultiple(value: number, factor: number): boolean {
  const [one, other] = [decimalOf(value), decimalOf(factor)];
  const places = Math.max(one.places, other.places);
  return scaled(one, places) % scaled(other, places) === 0n;
}

interface Decimal {
  readonly digits: bigint;
  /** The number of digits behind the point; below 0 where zeros follow the digits. */
  readonly places: number;
}

function decimalOf(value: number): Decimal {
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), places: fraction.length - Number(exponent) };
}

function scaled({ digits, places }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(to - places);
}

/** The number of parts of a value, where it is of the kind that is counted. */
type Size = (value: unknown, work: Work) => number | undefined;

const entries: Size = (value) => (Array.isArray(value) ? value.length : undefined);

const fields: Size = (value, work) => (isJsonObject(value) ? work.namesOf(value).length : undefined);

/** A character beyond the first 65 536 is two units of a string. */
const characters: Size = (value, work) => {
  if (typeof value !== "string") return undefined;
  work.spend(value.length >> 2);
  let pairs = 0;
  for (let index = 0; index < value.length - 1; index += 1) {
    if ((value.charCodeAt(index) & 0xfc00) !== 0xd800) continue;
    if ((value.charCodeAt(index + 1) & 0xfc00) === 0xdc00) pairs += 1;
  }
  return value.length - pairs;
};

interface Bounds {
  readonly least?: number;
  readonly most?: number;
  readonly what: string;
}

function ofSizes(size: Size, { least = 0, most = Infinity, what }: Bounds): Check {
  const message = most === Infinity ? `fewer than ${least} ${what}` : `more than ${most} ${what}`;
  return (value, visit) => {
    const count = size(value, visit.work);
    return count === undefined || (count >= least && count <= most)
      ? true
      : visit.fault(() => `must NOT have ${message}`);
  };
}

function patternCheck(held: Json, { matcherOf }: Making): Check {
  const pattern = textOf(held);
  const matches = matcherOf(pattern);
  return (value, visit) =>
    typeof value !== "string" ||
    matches(value, visit.work) ||
    visit.fault(() => `must match pattern "${pattern}"`);
}

// A text is put together and looked up, however short it is.
const stepsPerText = 16;

/** The same for values that are equal as JSON, and for no others: 1 and 1.0, 0 and -0, fields in any order. */
function identityOf(value: unknown, work: Work): unknown {
  if (typeof value === "string") return `"${value}`;
  if (typeof value !== "object" || value === null) return value;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is no JSON has a text too, which is no other value's
  const text = canonicalJson(value as Json);
  work.spend(text.length + stepsPerText);
  return text;
}

function choiceCheck(choices: readonly Json[], wanted: () => string): Check {
  const work = new Work(choices);
  const known = new Set(choices.map((choice) => identityOf(choice, work)));
  return (value, visit) =>
    known.has(identityOf(value, visit.work)) || visit.fault(() => `${wanted()}, got ${show(value)}`);
}

function showAll(choices: readonly Json[]): string {
  const shown = choices.slice(0, 20).map(show).join(", ");
  return choices.length > 20 ? `${shown}, …` : shown;
}

const uniqueCheck: Check = (value, visit) => {
  if (!Array.isArray(value)) return true;
  const seen = new Map<unknown, number>();
  for (const [index, entry] of visit.work.entriesOf(value).entries()) {
    const identity = identityOf(entry, visit.work);
    const before = seen.get(identity);
    if (before !== undefined)
      return visit.fault(
        () => `must NOT have duplicate items (items ## ${before} and ${index} are identical)`,
      );
    seen.set(identity, index);
  }
  return true;
};

function requiredCheck(held: Json): Check {
  const names = listOf(held).map(textOf);
  return (value, visit) => {
    if (!isJsonObject(value)) return true;
    visit.work.spend(names.length);
    return visit.all(names, (name) => own(value, name) !== undefined || visit.fault(() => "missing", name));
  };
}

function dependentRequiredCheck(held: Json): Check {
  const needs = Object.entries(asObject(held)).flatMap(([name, others]) =>
    listOf(others).map((other) => ({ name, other: textOf(other) })),
  );
  return (value, visit) => {
    if (!isJsonObject(value)) return true;
    visit.work.spend(needs.length);
    return visit.all(
      needs,
      ({ name, other }) =>
        own(value, name) === undefined ||
        own(value, other) !== undefined ||
        visit.fault(() => `missing, since "${name}" is given`, other),
    );
  };
}
