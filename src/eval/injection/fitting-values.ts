import { type Expression, writes } from "../../driver/grammar/expression.ts";
import { readPattern } from "../../driver/grammar/pattern.ts";
import type { Json } from "../../util/json.ts";
import type { SuiteParameter, TextBounds } from "./suite-tools.ts";

/** The owner of a value: 0 is the user, 1 the attacker. Their values differ if a schema leaves a choice. */
export type Owner = 0 | 1;

/** A text that fits its schema: the given one if it fits, otherwise one of its pattern, otherwise as much of the given one as may be. */
export function fittingText({ pattern, least, most }: TextBounds, given: string, owner: Owner): string {
  if (least > longestText) return given;
  const length = Math.min(most, Math.max(least, 1));
  const isOfLength = given.length >= least && given.length <= most;
  if (pattern === undefined) return isOfLength ? given : given.padEnd(length, given).slice(0, most);
  const reading = readPattern(pattern);
  if ("fault" in reading || (isOfLength && writes(reading.expression, given))) return given;
  for (let more = 0; more <= length; more += 1) {
    const sample = sampleOf(reading.expression, { owner, more });
    if (sample.length >= length) return sample;
  }
  return given;
}

/** The longest text that is made. */
const longestText = 10_000;

interface Sampling {
  readonly owner: Owner;
  /** The number of repetitions beyond the required ones. */
  readonly more: number;
}

/** A text that an expression matches. */
function sampleOf(expression: Expression, sampling: Sampling): string {
  if (expression.type === "text") return expression.text;
  if (expression.type === "sequence")
    return expression.parts.map((part) => sampleOf(part, sampling)).join("");
  if (expression.type === "choice") {
    const option = expression.options.at(sampling.owner === 0 ? 0 : -1);
    return option === undefined ? "" : sampleOf(option, sampling);
  }
  if (expression.type === "set") return characterIn(expression.ranges, sampling.owner);
  if (expression.type !== "repeat") return "";
  const { of, least, most } = expression;
  return sampleOf(of, sampling).repeat(Math.min(most, least + sampling.more));
}

/** Letters and digits, in the user's order; the attacker's is the reverse. */
const liked = Array.from("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ123456789");

function characterIn(ranges: readonly (readonly [number, number])[], owner: Owner): string {
  const isIn = (character: string): boolean => {
    const code = character.codePointAt(0) ?? 0;
    return ranges.some(([from, to]) => from <= code && code <= to);
  };
  const found = owner === 0 ? liked.find(isIn) : liked.findLast(isIn);
  return found ?? String.fromCodePoint(ranges[0]?.[0] ?? 0);
}

/** The longest list that is made. */
const mostEntries = 16;

/** A list of a value, as long as it must be; if its entries must differ, with similar values. */
export function listOf({ fewest, isUnique, values }: SuiteParameter, one: Json): readonly Json[] {
  const length = Math.min(mostEntries, Math.max(1, fewest));
  const at = values?.indexOf(one) ?? 0;
  return Array.from({ length }, (_, index) => {
    if (!isUnique || index === 0) return one;
    if (values !== undefined) return values[(at + index) % values.length] ?? null;
    return another(one, index + 1);
  });
}

function another(one: Json, place: number): Json {
  if (typeof one === "number") return one + place - 1;
  if (typeof one !== "string") return one;
  return one.includes("@") ? `${place}${one}` : `${one}${place}`;
}
