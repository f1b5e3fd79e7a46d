import { mapAt } from "../../schema/keywords.ts";
import { own, type Json } from "../../util/json.ts";
import { sameJson } from "../../util/same-json.ts";
import type { Compiler } from "./compiler.ts";
import { type Parts, requiredOf, typesOf, valuesOf } from "./parts.ts";

/** Properties of properties are compared so deep. */
const maxDepth = 3;

/** True if certainly no value fits two of these, of which each is the schemas of one value. */
export function areDisjoint(alternatives: readonly (readonly Json[])[], compiler: Compiler): boolean {
  const all = alternatives.map((schemas) => compiler.partsOf(schemas));
  return all.every((one, index) =>
    all.slice(index + 1).every((other) => isDisjoint(one, other, { compiler, depth: 0 })),
  );
}

interface Comparison {
  readonly compiler: Compiler;
  readonly depth: number;
}

function isDisjoint(one: Parts | undefined, other: Parts | undefined, comparison: Comparison): boolean {
  if (one === undefined || other === undefined) return true;
  if (comparison.depth > maxDepth) return false;
  const [values, otherValues] = [valuesOf(one), valuesOf(other)];
  if (values !== undefined && otherValues !== undefined)
    return !values.some((value) => otherValues.some((otherValue) => sameJson(value, otherValue)));
  const types = typesOf([...one, ...other]);
  if (types.some((type) => type !== "object")) return false;
  return (
    types.length === 0 ||
    hasDisjointProperty(one, other, comparison) ||
    isClosedTo(one, other) ||
    isClosedTo(other, one)
  );
}

function hasDisjointProperty(one: Parts, other: Parts, { compiler, depth }: Comparison): boolean {
  const names = requiredOf(one).filter((name) => requiredOf(other).includes(name));
  const told = (parts: Parts, name: string): Parts | undefined =>
    compiler.partsOf(parts.flatMap((part) => own(mapAt(part, "properties"), name) ?? []));
  return names.some((name) => isDisjoint(told(one, name), told(other, name), { compiler, depth: depth + 1 }));
}

/** True if the one admits no property that the other requires. */
function isClosedTo(one: Parts, other: Parts): boolean {
  return one.some(
    (part) =>
      own(part, "additionalProperties") === false &&
      Object.keys(mapAt(part, "patternProperties")).length === 0 &&
      requiredOf(other).some((name) => !Object.hasOwn(mapAt(part, "properties"), name)),
  );
}
