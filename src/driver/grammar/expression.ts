/** Code points from one to another, both included. */
export type CharacterRange = readonly [from: number, to: number];

/**
 * An expression of a grammar, as a value: `never` writes nothing at all, not even the empty text. `most` of a
 * repetition may be Infinity. Made by the functions of this file, which keep it simple: what cannot be
 * written disappears from choices and takes sequences with it.
 */
export type Expression =
  | { readonly type: "never" }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "set"; readonly ranges: readonly CharacterRange[] }
  | { readonly type: "rule"; readonly name: string }
  | { readonly type: "sequence"; readonly parts: readonly Expression[] }
  | { readonly type: "choice"; readonly options: readonly Expression[] }
  | { readonly type: "repeat"; readonly of: Expression; readonly least: number; readonly most: number };

export const never: Expression = { type: "never" };
/** Writes the empty text. */
export const empty: Expression = { type: "sequence", parts: [] };

export function text(value: string): Expression {
  return value === "" ? empty : { type: "text", text: value };
}

export function rule(name: string): Expression {
  return { type: "rule", name };
}

/** One character of the ranges, which are put in order. */
export function set(ranges: readonly CharacterRange[]): Expression {
  const joined = joinRanges(ranges);
  const [first] = joined;
  if (first === undefined) return never;
  const isOne = joined.length === 1 && first[0] === first[1];
  return isOne ? text(String.fromCodePoint(first[0])) : { type: "set", ranges: joined };
}

export function sequence(...given: readonly Expression[]): Expression {
  const parts: Expression[] = [];
  for (const part of given.flatMap((one) => (one.type === "sequence" ? one.parts : [one]))) {
    if (part.type === "never") return never;
    const last = parts.at(-1);
    if (part.type === "text" && last?.type === "text") parts.splice(-1, 1, text(last.text + part.text));
    else parts.push(part);
  }
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : { type: "sequence", parts };
}

export function choice(given: readonly Expression[]): Expression {
  const all = given.flatMap((option) => (option.type === "choice" ? option.options : [option]));
  const seen = new Set<string>();
  const options = all.filter((option) => {
    if (option.type === "never" || isEmpty(option)) return false;
    if (option.type !== "rule" && option.type !== "text") return true;
    const key = option.type + (option.type === "rule" ? option.name : option.text);
    return !seen.has(key) && seen.add(key);
  });
  const [only = never] = options;
  const chosen: Expression = options.length < 2 ? only : { type: "choice", options };
  if (!all.some(isEmpty)) return chosen;
  return chosen.type === "never" ? empty : optional(chosen);
}

/** `of` at least and at most so many times. */
export function repeat(of: Expression, least: number, most: number): Expression {
  if (least > most || (of.type === "never" && least > 0)) return never;
  if (most === 0 || of.type === "never" || isEmpty(of)) return empty;
  return least === 1 && most === 1 ? of : { type: "repeat", of, least, most };
}

export function optional(of: Expression): Expression {
  return repeat(of, 0, 1);
}

export function isEmpty(expression: Expression): boolean {
  return expression.type === "sequence" && expression.parts.length === 0;
}

/** The expression anew, with each part that `change` gives something for in its place. */
export function rewrite(
  expression: Expression,
  change: (part: Expression) => Expression | undefined,
): Expression {
  const changed = change(expression);
  if (changed !== undefined) return changed;
  const inner = (part: Expression): Expression => rewrite(part, change);
  if (expression.type === "sequence") return sequence(...expression.parts.map(inner));
  if (expression.type === "choice") return choice(expression.options.map(inner));
  if (expression.type === "repeat") return repeat(inner(expression.of), expression.least, expression.most);
  return expression;
}

/** Size of an expression in llama.cpp, which writes repetitions out. */
export function weightOf(expression: Expression): number {
  if (expression.type === "sequence") return sum(expression.parts.map(weightOf));
  if (expression.type === "choice") return sum(expression.options.map(weightOf)) + 1;
  if (expression.type !== "repeat") return 1;
  const { of, least, most } = expression;
  return weightOf(of) * (most === Infinity ? least + 1 : most) + 1;
}

/** The fewest and the most characters that the expression writes; nothing is known of a rule. */
export function lengthsOf(expression: Expression): readonly [least: number, most: number] {
  if (expression.type === "text") {
    const { length } = Array.from(expression.text);
    return [length, length];
  }
  if (expression.type === "set") return [1, 1];
  if (expression.type === "sequence") {
    const lengths = expression.parts.map(lengthsOf);
    return [sum(lengths.map(([least]) => least)), sum(lengths.map(([, most]) => most))];
  }
  if (expression.type === "choice") {
    const lengths = expression.options.map(lengthsOf);
    return [Math.min(...lengths.map(([least]) => least)), Math.max(...lengths.map(([, most]) => most))];
  }
  if (expression.type !== "repeat") return [0, Infinity];
  const [least, most] = lengthsOf(expression.of);
  return [least * expression.least, most === 0 ? 0 : most * expression.most];
}

/** True if the expression, which has no rules, writes exactly this text. Polynomial in the text's length. */
export function writes(expression: Expression, value: string): boolean {
  const characters = Array.from(value);
  return endsOf(expression, characters, new Set([0])).has(characters.length);
}

function endsOf(
  expression: Expression,
  characters: readonly string[],
  starts: ReadonlySet<number>,
): ReadonlySet<number> {
  if (expression.type === "text") {
    const wanted = Array.from(expression.text);
    const found = [...starts].filter((start) =>
      wanted.every((character, index) => characters[start + index] === character),
    );
    return new Set(found.map((start) => start + wanted.length));
  }
  if (expression.type === "set") {
    const found = [...starts].filter((start) => isIn(expression.ranges, characters[start]?.codePointAt(0)));
    return new Set(found.map((start) => start + 1));
  }
  if (expression.type === "sequence")
    return expression.parts.reduce((ends, part) => endsOf(part, characters, ends), starts);
  if (expression.type === "choice")
    return new Set(expression.options.flatMap((option) => [...endsOf(option, characters, starts)]));
  if (expression.type !== "repeat") return new Set();
  let ends = starts;
  const all = new Set(expression.least === 0 ? starts : []);
  for (let count = 1; count <= expression.most && ends.size > 0; count += 1) {
    ends = endsOf(expression.of, characters, ends);
    if (count < expression.least) continue;
    const isNew = [...ends].some((end) => !all.has(end));
    if (!isNew) break;
    for (const end of ends) all.add(end);
  }
  return all;
}

function isIn(ranges: readonly CharacterRange[], code: number | undefined): boolean {
  return code !== undefined && ranges.some(([from, to]) => from <= code && code <= to);
}

/** In order, without overlap. */
function joinRanges(ranges: readonly CharacterRange[]): readonly CharacterRange[] {
  const joined: [number, number][] = [];
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = joined.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
