import { own, type JsonObject } from "../../util/json.ts";
import type { Compiler } from "./compiler.ts";
import { counted, type Counts, tooLong } from "./counts.ts";
import { type Expression, lengthsOf, never, rule, sequence, text } from "./expression.ts";
import { formatPatterns } from "./format.ts";
import { stringOf } from "./json-text.ts";
import { largest, type Parts, smallest } from "./parts.ts";
import { readPattern } from "./pattern.ts";

/** Writes a string. Of several patterns one is kept to, and a format only where there is not a pattern. */
export function stringExpression(parts: Parts, compiler: Compiler): Expression {
  const least = largest(parts, "minLength", 0);
  const most = smallest(parts, "maxLength", Infinity);
  if (least > most) return never;
  const values = shapeOf(parts, compiler);
  if (values === undefined) return plainString({ least, most }, parts, compiler);
  const [shortest, longest] = lengthsOf(values);
  if (shortest > most || longest < least) return never;
  if (shortest >= least && longest <= most) return stringOf(values);
  const relax = (bound: "min" | "max"): void => compiler.relaxIn(parts, `${bound}Length`, besideForm);
  const kept = withLengths(values, { least, most }, relax);
  if (kept !== undefined) return stringOf(kept);
  if (shortest < least) relax("min");
  if (longest > most) relax("max");
  return stringOf(values);
}

const besideForm = "it stands beside a pattern or a format";

/** The texts of these lengths, where only how often one character is repeated decides on them. */
function withLengths(
  values: Expression,
  { least, most }: Counts,
  onRelaxed: (bound: "min" | "max") => void,
): Expression | undefined {
  const parts = values.type === "sequence" ? values.parts : [values];
  const [open, ...others] = parts.filter((part) => !isFixed(part));
  if (open?.type !== "repeat" || others.length > 0 || lengthsOf(open.of).some((length) => length !== 1))
    return undefined;
  const fixed = parts.filter(isFixed).reduce((sum, part) => sum + lengthsOf(part)[0], 0);
  const counts = { least: Math.max(open.least, least - fixed), most: Math.min(open.most, most - fixed) };
  const kept = counted(open.of, counts, onRelaxed);
  return sequence(...parts.map((part) => (part === open ? kept : part)));
}

function isFixed(expression: Expression): boolean {
  const [shortest, longest] = lengthsOf(expression);
  return shortest === longest;
}

/** The texts that a pattern or a format lets stand; undefined where there is none. */
function shapeOf(parts: Parts, compiler: Compiler): Expression | undefined {
  let shape: Expression | undefined;
  const take = (part: JsonObject, keyword: string, pattern: string | undefined): void => {
    const reading = pattern === undefined ? { fault: "no grammar is known for it" } : readPattern(pattern);
    if ("fault" in reading) compiler.relax(part, keyword, reading.fault);
    else if (shape === undefined) shape = reading.expression;
    else compiler.relax(part, keyword, "it stands beside another pattern");
  };
  const seen = new Set<string>();
  for (const keyword of ["pattern", "format"]) {
    for (const part of parts) {
      const held = own(part, keyword);
      if (typeof held !== "string" || seen.has(held)) continue;
      seen.add(held);
      take(part, keyword, keyword === "pattern" ? held : formatPatterns.get(held));
    }
  }
  return shape;
}

function plainString(counts: Counts, parts: Parts, compiler: Compiler): Expression {
  if (counts.least === 0 && counts.most === Infinity) return rule("string");
  const content = counted(rule("char"), counts, (bound) =>
    compiler.relaxIn(parts, `${bound}Length`, tooLong),
  );
  return sequence(text('"'), content, text('"'));
}
