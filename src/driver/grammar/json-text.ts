import type { Json } from "../../util/json.ts";
import { complementOf } from "./character-class.ts";
import {
  type CharacterRange,
  choice,
  empty,
  type Expression,
  never,
  repeat,
  rewrite,
  rule,
  sequence,
  set,
  text,
} from "./expression.ts";

/** Characters that JSON writes with a backslash. */
const escapedRanges: readonly CharacterRange[] = [
  [0, 0x1f],
  [0x22, 0x22],
  [0x5c, 0x5c],
];
const escapedCodes = escapedRanges.flatMap(([from, to]) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index),
);

/** Lists longer than this are written by their common beginnings: an engine tries all alternatives of a list at once. */
const longestList = 8;

/** The rules that this file refers to: a character of a string that can be written in one way only. */
export function textRules(): Readonly<Record<string, Expression>> {
  return {
    character: choice([set(complementOf(escapedRanges)), rule("escape")]),
    escape: oneOfTexts(escapedCodes.map(inside)),
  };
}

/** A character inside a JSON string, as `JSON.stringify` writes it. */
function inside(code: number): string {
  return JSON.stringify(String.fromCodePoint(code)).slice(1, -1);
}

/** The words of JSON. Each is a rule of its name, so that a notation can have others for them. */
export const jsonWords: readonly string[] = ["true", "false", "null"];

/** One of the JSON values. */
export function oneOfValues(values: readonly Json[]): Expression {
  const texts = values.map((value) => JSON.stringify(value));
  const words = texts.filter((one) => jsonWords.includes(one));
  return choice([...words.map(rule), oneOfTexts(texts.filter((one) => !jsonWords.includes(one)))]);
}

/** The JSON value as it stands. */
export function literal(value: unknown): Expression {
  return text(JSON.stringify(value));
}

/** The content of JSON strings with these values. */
function stringContent(values: Expression): Expression {
  return rewrite(values, (part) => {
    if (part.type === "text") return text(JSON.stringify(part.text).slice(1, -1));
    return part.type === "set" ? contentOf(part.ranges) : undefined;
  });
}

/** One character of the ranges, inside a string. */
function contentOf(ranges: readonly CharacterRange[]): Expression {
  const others = complementOf(ranges);
  if (others.length === 0) return rule("char");
  const isIn = (code: number): boolean => ranges.some(([from, to]) => from <= code && code <= to);
  const escapes = escapedCodes.filter(isIn);
  const isEveryEscape = escapes.length === escapedCodes.length;
  return choice([
    set(complementOf([...others, ...escapedRanges])),
    isEveryEscape ? rule("escape") : oneOfTexts(escapes.map(inside)),
  ]);
}

/** One of the texts. */
function oneOfTexts(texts: readonly string[]): Expression {
  const different = [...new Set(texts)];
  if (different.length <= longestList) return choice(different.map(text));
  const groups = Map.groupBy(different, ([first = ""]) => first);
  const options = [...groups].map(([first, group]) => {
    if (group.length === 1) return text(group[0] ?? "");
    const beginning = commonBeginning(group, first.length);
    return sequence(text(beginning), oneOfTexts(group.map((one) => one.slice(beginning.length))));
  });
  return choice(options);
}

function commonBeginning(texts: readonly string[], atLeast: number): string {
  const [first = "", ...others] = texts;
  let length = first.length;
  for (const other of others) {
    let shared = atLeast;
    while (shared < length && other[shared] === first[shared]) shared += 1;
    length = shared;
  }
  // Not between the halves of a character.
  const isHalf = length > atLeast && /[\uD800-\uDBFF]$/.test(first.slice(0, length));
  return first.slice(0, isHalf ? length - 1 : length);
}

/** The JSON string of any name but these. */
export function otherName(names: readonly string[]): Expression {
  return sequence(text('"'), otherThan(names.map((name) => Array.from(name))), text('"'));
}

const rest = repeat(rule("character"), 0, Infinity);

/** Content of strings that are none of these, given by their characters. */
function otherThan(names: readonly (readonly string[])[]): Expression {
  if (names.length === 0) return rest;
  const begun = names.filter((name) => name.length > 0);
  const groups = Map.groupBy(begun, ([first = ""]) => first);
  const going = [...groups].map(([first, group]) =>
    sequence(text(JSON.stringify(first).slice(1, -1)), otherThan(group.map((name) => name.slice(1)))),
  );
  const taken = [...groups.keys()].map((first): CharacterRange => {
    const code = first.codePointAt(0) ?? 0;
    return [code, code];
  });
  const next = taken.length === 0 ? rule("character") : contentOf(complementOf(taken));
  const leaving = sequence(next, rest);
  return choice([...going, leaving, begun.length < names.length ? never : empty]);
}

/** The JSON strings with these values. */
export function stringOf(values: Expression): Expression {
  return sequence(text('"'), stringContent(values), text('"'));
}
