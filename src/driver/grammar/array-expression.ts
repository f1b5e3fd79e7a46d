import { listAt } from "../../schema/keywords.ts";
import { own, type Json } from "../../util/json.ts";
import type { Compiler } from "./compiler.ts";
import { counted, tooLong } from "./counts.ts";
import { empty, type Expression, never, optional, sequence, text } from "./expression.ts";
import { largest, type Parts, smallest } from "./parts.ts";

/** Writes an array: the first items as they are told by their place, then the others. */
export function arrayExpression(parts: Parts, compiler: Compiler): Expression {
  const least = largest(parts, "minItems", 0);
  const most = smallest(parts, "maxItems", Infinity);
  if (least > most) return never;
  const told = Math.max(...parts.map((part) => listAt(part, "prefixItems").length));
  const itemAt = (index: number): Expression =>
    compiler.valueOf(parts.flatMap((part) => itemSchemas(part, index)));
  const comma = text(",");
  const more = (of: Expression, from: number): Expression =>
    counted(sequence(comma, of), { least: Math.max(0, least - from), most: most - from }, (bound) =>
      compiler.relaxIn(parts, `${bound}Items`, tooLong),
    );
  let items: Expression;
  if (told === 0 && most > 0) {
    const item = compiler.named(itemAt(0));
    const all = sequence(item, more(item, 1));
    items = least === 0 ? optional(all) : all;
  } else {
    items = most > told ? more(itemAt(told), told) : empty;
    for (let index = Math.min(told, most) - 1; index >= 0; index -= 1) {
      items = sequence(index === 0 ? empty : comma, itemAt(index), items);
      if (index >= least) items = optional(items);
    }
  }
  return sequence(text("["), items, text("]"));
}

function itemSchemas(part: Parts[number], index: number): readonly Json[] {
  const item = listAt(part, "prefixItems")[index] ?? own(part, "items");
  return item === undefined ? [] : [item];
}
