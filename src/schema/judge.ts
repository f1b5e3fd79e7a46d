import { isJsonObject, type Json, type JsonObject } from "../util/json.ts";
import { applicators } from "./applicators.ts";
import { assertions } from "./assertions.ts";
import type { Making, Matcher } from "./maker.ts";
import type { CheckedSchema } from "./check-schema.ts";
import { own } from "./keywords.ts";
import { Marks } from "./marks.ts";
import type { Check } from "./visit.ts";

const keywords = [...assertions, ...applicators];

const fitsAll: Check = () => true;
const fitsNone: Check = (_value, visit) => visit.fault(() => "is not allowed");

/**
 * The check of a schema. It throws a RangeError when a value takes more steps than a visit may make, or is nested deeper than the
 * stack.
 */
export function judgeOfRoot(
  { root, targets }: CheckedSchema,
  matcherOf: (pattern: string) => Matcher,
): Check {
  const made = new Map<JsonObject, Check>();
  const judgeOf = (schema: Json): Check => {
    if (!isJsonObject(schema)) return schema === true ? fitsAll : fitsNone;
    const check =
      made.get(schema) ?? judgeOfSchema({ schema, judgeOf, ends: targets.get(schema) ?? [], matcherOf });
    made.set(schema, check);
    return check;
  };
  return judgeOf(root);
}

function judgeOfSchema(making: Making): Check {
  const { schema } = making;
  const checks = keywords.flatMap(([keyword, maker]) => {
    const held = own(schema, keyword);
    return held === undefined ? [] : [maker(held, making)];
  });
  const needsMarks = ["unevaluatedItems", "unevaluatedProperties"].some((name) =>
    Object.hasOwn(schema, name),
  );
  return (value, visit, outer) => {
    visit.work.spend(1);
    const marks = needsMarks ? new Marks() : outer;
    let fits = true;
    for (const check of checks) {
      if (check(value, visit, marks)) continue;
      if (!visit.explains) return false;
      fits = false;
    }
    if (outer !== undefined && marks !== undefined && marks !== outer) outer.add(marks, visit.work);
    return fits;
  };
}
