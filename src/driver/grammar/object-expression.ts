import { listAt, mapAt } from "../../schema/keywords.ts";
import { own, isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import type { Compiler } from "./compiler.ts";
import { counted, type Counts, tooLong } from "./counts.ts";
import {
  choice,
  empty,
  type Expression,
  never,
  optional,
  repeat,
  rule,
  sequence,
  text,
} from "./expression.ts";
import { literal, otherName, stringOf } from "./json-text.ts";
import { largest, matches, type Parts, requiredOf, smallest, valuesOf } from "./parts.ts";
import { readPattern } from "./pattern.ts";

/**
 * Writes an object: the properties in the order in which the schemas name them, then those that are only
 * required, then others. Others are written where `additionalProperties` or `patternProperties` speaks of
 * them, or where no property is named at all.
 */
export function objectExpression(parts: Parts, compiler: Compiler): Expression {
  const names = propertyNames(parts, compiler);
  const required = new Set(requiredOf(parts));
  const fields = names.known.map((name): Field => ({
    pair: sequence(literal(name), text(":"), compiler.valueOf(schemasOf(name, parts))),
    isRequired: required.has(name),
  }));
  const other = names.areAll ? never : otherPair(names, parts, compiler);
  return sequence(text("{"), fieldList(fields, other, { parts, compiler }), text("}"));
}

interface Field {
  readonly pair: Expression;
  readonly isRequired: boolean;
}

interface Names {
  readonly known: readonly string[];
  /** No other name may stand. */
  readonly areAll: boolean;
  /** Writes the names of others, where `propertyNames` restricts them. */
  readonly other?: Expression;
}

function propertyNames(parts: Parts, compiler: Compiler): Names {
  const named = parts.flatMap((part) => Object.keys(mapAt(part, "properties")));
  const conditional = named.length === 0 ? [] : parts.flatMap(conditionalNames);
  const known = [...new Set([...named, ...requiredOf(parts), ...conditional])];
  const judges = parts.flatMap((part) => own(part, "propertyNames") ?? []);
  if (judges.length === 0) return { known, areAll: false };
  const values = valuesOf(judges.filter(isJsonObject));
  const required = requiredOf(parts);
  if (values !== undefined) {
    const listed = values.filter((value): value is string => typeof value === "string");
    // One that is required and not listed stays, with a schema that nothing fits.
    const kept = known.filter((name) => listed.includes(name) || required.includes(name));
    return { known: [...new Set([...kept, ...listed])], areAll: true };
  }
  const name = compiler.valueOf([{ type: "string" }, ...judges]);
  if (name.type === "rule" && name.name === "string") return { known, areAll: false };
  if (known.length === 0) return { known, areAll: false, other: name };
  compiler.relaxIn(parts, "propertyNames", "it stands beside named properties");
  return { known, areAll: false };
}

/** Names that are spoken of only under a condition. The condition is relaxed, so they may always stand beside those that are named. */
function conditionalNames(part: JsonObject): readonly string[] {
  const schemas = [
    ...["if", "then", "else"].map((keyword) => own(part, keyword)),
    ...Object.values(mapAt(part, "dependentSchemas")),
  ].filter(isJsonObject);
  const dependent = mapAt(part, "dependentRequired");
  const names = Object.keys(dependent).flatMap((name) => [name, ...listAt(dependent, name)]);
  return [
    ...schemas.flatMap((schema) => [...Object.keys(mapAt(schema, "properties")), ...requiredOf([schema])]),
    ...names.filter((name): name is string => typeof name === "string"),
  ];
}

/** The schemas of the property of this name. */
function schemasOf(name: string, parts: Parts): readonly Json[] {
  return parts.flatMap((part): readonly Json[] => {
    const judges = own(part, "propertyNames");
    const values = isJsonObject(judges) ? valuesOf([judges]) : undefined;
    const refused = judges === false || (values !== undefined && !values.includes(name)) ? [false] : [];
    const property = own(mapAt(part, "properties"), name);
    const patterns = Object.entries(mapAt(part, "patternProperties"));
    const meant = patterns.map(([pattern, schema]) => ({ schema, matches: matches(pattern, name) }));
    const told = [
      ...(property === undefined ? [] : [property]),
      ...meant.filter((one) => one.matches === true).map(({ schema }) => schema),
    ];
    const others = own(part, "additionalProperties");
    const isOther = told.length === 0 && meant.every((one) => one.matches === false);
    return [...refused, ...told, ...(isOther && others !== undefined ? [others] : [])];
  });
}

/** Writes a property that is not named. */
function otherPair({ known, other: name }: Names, parts: Parts, compiler: Compiler): Expression {
  const isNamed = parts.some((part) => Object.hasOwn(part, "properties"));
  const others = parts.flatMap((part) => own(part, "additionalProperties") ?? []);
  const patterned = parts.filter((part) => Object.keys(mapAt(part, "patternProperties")).length > 0);
  const isOpen = parts.some((part) => (own(part, "unevaluatedProperties") ?? false) !== false);
  if (patterned.length === 0 && isNamed && !isOpen && others.length === 0) return never;
  if (others.includes(false) && patterned.length === 0) return never;
  const anyName = name ?? (known.length === 0 ? rule("string") : compiler.named(otherName(known)));
  if (patterned.length === 0) {
    return sequence(anyName, text(":"), compiler.valueOf(others));
  }
  const exact = name === undefined ? patternPair(known, parts, compiler) : undefined;
  if (exact !== undefined) return exact;
  compiler.relaxIn(patterned, "patternProperties", "its names cannot be told from the others by a grammar");
  return sequence(anyName, text(":"), rule("value"));
}

/** Names that one pattern tells, where it is the only word on others and means none that is named. */
function patternPair(known: readonly string[], parts: Parts, compiler: Compiler): Expression | undefined {
  const patterns = parts.flatMap((part) => Object.entries(mapAt(part, "patternProperties")));
  const others = parts.flatMap((part) => own(part, "additionalProperties") ?? []);
  const [only] = patterns;
  if (only === undefined || patterns.length > 1 || others.some((schema) => schema !== false))
    return undefined;
  // A part without patterns that is closed closes the whole.
  const isClosed = parts.some(
    (part) => own(part, "additionalProperties") === false && !Object.hasOwn(part, "patternProperties"),
  );
  if (isClosed) return never;
  const [pattern, schema] = only;
  const reading = readPattern(pattern);
  if ("fault" in reading || known.some((name) => matches(pattern, name) !== false)) return undefined;
  return sequence(stringOf(reading.expression), text(":"), compiler.valueOf([schema]));
}

interface ListContext {
  readonly parts: Parts;
  readonly compiler: Compiler;
}

function fieldList(
  fields: readonly Field[],
  other: Expression,
  { parts, compiler }: ListContext,
): Expression {
  const least = largest(parts, "minProperties", 0);
  const most = smallest(parts, "maxProperties", Infinity);
  const required = fields.filter(({ isRequired }) => isRequired).length;
  const hasOthers = other.type !== "never";
  if (least > most || required > most || (!hasOthers && fields.length < least)) return never;
  const relax = (bound: "min" | "max", reason: string): void =>
    compiler.relaxIn(parts, `${bound}Properties`, reason);
  if (fields.length > required) {
    if (least > Math.max(1, required)) relax("min", uncounted);
    if (most < fields.length + (hasOthers ? Infinity : 0)) relax("max", uncounted);
    const mixed = mixedFields(fields, other, compiler);
    return least === 0 && required === 0 ? optional(mixed) : mixed;
  }
  if (least > required + 1) relax("min", "two of the other properties may have the same name");
  const counts = { least: Math.max(0, least - required), most: most - required };
  const more = (given: Counts): Expression =>
    counted(sequence(comma, other), given, (bound) => relax(bound, tooLong));
  const pairs = fields.flatMap(({ pair }, index) => (index === 0 ? [pair] : [comma, pair]));
  if (fields.length > 0) return sequence(...pairs, more(counts));
  if (counts.most === 0) return empty;
  const others = sequence(other, more({ least: Math.max(0, counts.least - 1), most: counts.most - 1 }));
  return counts.least === 0 ? optional(others) : others;
}

const comma = text(",");
const uncounted = "properties that may be left out are not counted";

/** Fields of which some may be left out. What may follow a field is a rule, so that the whole stays linear in the number of fields. */
function mixedFields(fields: readonly Field[], other: Expression, compiler: Compiler): Expression {
  const others = repeat(sequence(comma, other), 0, Infinity);
  const firstRequired = fields.findIndex(({ isRequired }) => isRequired);
  const lastFirst = firstRequired === -1 ? fields.length : firstRequired;
  const starts = firstRequired === -1 ? [sequence(other, others)] : [];
  let after = others;
  for (const [index, { pair, isRequired }] of [...fields.entries()].toReversed()) {
    if (index <= lastFirst) {
      after = compiler.named(after);
      starts.unshift(sequence(pair, after));
    }
    const field = sequence(comma, pair);
    after = sequence(isRequired ? field : optional(field), after);
  }
  return choice(starts);
}
