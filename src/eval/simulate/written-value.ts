import type { CharacterRange, Expression } from "../../driver/grammar/expression.ts";
import { expressionOf, type WrittenValues } from "../../driver/grammar/grammar.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import { assertNever } from "../../util/assert-never.ts";
import { type Json, parseJson } from "../../util/json.ts";
import { remembered } from "../../util/remembered.ts";
import { pick, type Random } from "./schedule.ts";

/** Depends on: the whole schema and its part, which nobody changes. */
const valuesIn = remembered(({ $defs = {}, definitions = {} }: JsonSchema) =>
  remembered((part: JsonSchema) => expressionOf({ $defs, definitions, ...part })),
);

/**
 * A value that the grammar of a part of a schema writes; undefined where the grammar goes too deep, or a reference leads out of the part and the definitions of
 * `root`. It heeds patterns, formats, alternatives and bounds.
 */
export function writtenValue(random: Random, part: JsonSchema, root: JsonSchema): Json | undefined {
  try {
    const { start, rules } = valuesIn(root)(part);
    const written = parseJson(textOf(start, { random, rules, depth: 0 }));
    return written.ok ? written.value : undefined;
  } catch {
    return undefined;
  }
}

interface Writing extends Pick<WrittenValues, "rules"> {
  readonly random: Random;
  readonly depth: number;
}

/** Rules inside rules beyond this end at once: most of them are lists and trees. */
const deep = 12;
/** The most that a repetition writes beyond the least. */
const more = 2;

/** Any JSON, as the shortest there is. */
const anything: Readonly<Record<string, string>> = {
  value: '"a"',
  object: "{}",
  array: "[]",
  string: '"a"',
  char: "a",
};

function textOf(of: Expression, writing: Writing): string {
  const { random, rules, depth } = writing;
  switch (of.type) {
    case "text":
      return of.text;
    case "set":
      return characterIn(random, of.ranges);
    case "sequence":
      return of.parts.map((part) => textOf(part, writing)).join("");
    case "choice": {
      const one = depth > deep ? of.options.find(({ type }) => type !== "rule") : undefined;
      return textOf(one ?? pick(random, of.options) ?? of, writing);
    }
    case "repeat": {
      const extra = depth > deep ? 0 : Math.floor(random() * (more + 1));
      const times = Math.min(of.most, of.least + extra);
      return Array.from({ length: times }, () => textOf(of.of, writing)).join("");
    }
    case "rule": {
      const body = rules.get(of.name);
      return body === undefined ? (anything[of.name] ?? "") : textOf(body, { ...writing, depth: depth + 1 });
    }
    case "never":
      return "";
    default:
      return assertNever(of);
  }
}

const plain: readonly CharacterRange[] = [
  [97, 122],
  [65, 90],
  [48, 57],
  [32, 126],
];

/** A character of the ranges: a letter or a digit if they have any. */
function characterIn(random: Random, ranges: readonly CharacterRange[]): string {
  for (const [low, high] of plain)
    for (const [from, to] of ranges) {
      const [first, last] = [Math.max(low, from), Math.min(high, to)];
      if (first <= last) return String.fromCodePoint(first + Math.floor(random() * (last - first + 1)));
    }
  return String.fromCodePoint(ranges[0]?.[0] ?? 97);
}
