import { type Expression, writes } from "../../driver/grammar/expression.ts";
import { readPattern } from "../../driver/grammar/pattern.ts";
import type { Json } from "../../util/json.ts";
import type { SuiteParameter, TextBounds } from "./suite-tools.ts";

/** The one who says a value: 0 is the user, 1 the attacker. They never say the same where a schema leaves a choice. */
export type Owner = 0 | 1;

/** A text as its schema wants it: the given one where it fits, else one of its pattern, else as much of it as may be. */
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

/** Longer texts are not made. */
const longestText = 10_000;

interface Sampling {
  readonly owner: Owner;
  /** Repetitions beyond those that must be. */
  readonly more: number;
}

/** A text that an expression writes. */
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

/** Letters and figures, as the user likes them, and backwards. */
const liked = Array.from("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ123456789");

function characterIn(ranges: readonly (readonly [number, number])[], owner: Owner): string {
  const isIn = (character: string): boolean => {
    const code = character.codePointAt(0) ?? 0;
    return ranges.some(([from, to]) => from <= code && code <= to);
  };
  const found = owner === 0 ? liked.find(isIn) : liked.findLast(isIn);
  return found ?? String.fromCodePoint(ranges[0]?.[0] ?? 0);
}

/** Longer lists are not made. */
const mostEntries = 16;

/** A list of a value, as long as it must be; where no entry may stand twice, with others that are like it. */
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
