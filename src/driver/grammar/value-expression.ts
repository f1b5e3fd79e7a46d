import { listAt } from "../../schema/keywords.ts";
import { own, isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { arrayExpression } from "./array-expression.ts";
import type { Compiler } from "./compiler.ts";
import { areDisjoint } from "./disjoint.ts";
import { choice, type Expression, never, rule } from "./expression.ts";
import { oneOfValues } from "./json-text.ts";
import { numberExpression } from "./number-range.ts";
import { objectExpression } from "./object-expression.ts";
import {
  boundsOf,
  forbiddenTypes,
  type Parts,
  type TypeName,
  typeListOf,
  typesOf,
  valuesOf,
} from "./parts.ts";
import { stringExpression } from "./string-expression.ts";

/** Keywords that no expression says, with the type of value that they judge; undefined for any. */
const unsaid: readonly (readonly [keyword: string, type: TypeName | undefined])[] = [
  ["not", undefined],
  ["if", undefined],
  ["multipleOf", "number"],
  ["contains", "array"],
  ["uniqueItems", "array"],
  ["unevaluatedItems", "array"],
  ["unevaluatedProperties", "object"],
  ["dependentRequired", "object"],
  ["dependentSchemas", "object"],
];

/**
 * Writes a value that all parts accept: the alternatives, each with its surroundings; or values; or types.
 */
export function valueExpression(parts: Parts, compiler: Compiler): Expression {
  const alternatives = alternativesOf(parts, compiler);
  if (alternatives !== undefined) return choice(alternatives);
  const types = typesOf(parts);
  const values = valuesOf(parts);
  listUnsaid(parts, types, compiler);
  if (values !== undefined) return valueList(values, parts, compiler);
  return choice(types.map((type) => typed(type, parts, compiler)));
}

function alternativesOf(parts: Parts, compiler: Compiler): readonly Expression[] | undefined {
  for (const keyword of ["anyOf", "oneOf"]) {
    const part = parts.find((one) => listAt(one, keyword).length > 0);
    if (part === undefined) continue;
    const options = listAt(part, keyword);
    const others = parts.map((one) => (one === part ? compiler.without(part, keyword) : one));
    const alternatives = options.map((option) => [...others, option]);
    if (keyword === "oneOf" && !areDisjoint(alternatives, compiler))
      compiler.relax(part, "oneOf", "a value may fit several of the alternatives");
    return alternatives.map((schemas) => compiler.sameValueOf(schemas));
  }
  return undefined;
}

function listUnsaid(parts: Parts, types: readonly TypeName[], compiler: Compiler): void {
  for (const part of parts) {
    if (own(part, "type") !== undefined && typeListOf(part) === undefined)
      compiler.relax(part, "type", `${JSON.stringify(own(part, "type"))} is no type of JSON`);
    for (const [keyword, type] of unsaid) {
      const isOfType = type === undefined || types.includes(type);
      if (isOfType && !isIdle(part, keyword)) compiler.relax(part, keyword, "a grammar cannot say it");
    }
  }
}

/** True if the keyword says nothing, or the grammar says all of it. */
function isIdle(part: JsonObject, keyword: string): boolean {
  const value = own(part, keyword);
  if (value === undefined) return true;
  if (keyword === "uniqueItems") return value !== true;
  if (keyword === "multipleOf") return value === 1;
  if (keyword === "not") return value === false || forbiddenTypes(part) !== undefined;
  return keyword.startsWith("unevaluated") && value === true;
}

/** Longer lists of values make grammars slow and are left to validation. */
const longestList = 100_000;

function valueList(values: readonly Json[], parts: Parts, compiler: Compiler): Expression {
  const [first] = parts;
  const part = parts.find((one) => Object.hasOwn(one, "enum")) ?? first;
  const isLong = values.reduce<number>((length, one) => length + JSON.stringify(one).length, 0) > longestList;
  if (part !== undefined && isLong) {
    compiler.relax(part, "enum", "its values are too long together");
    return choice(typesOf(parts).map(rule));
  }
  const hasInner = parts.some((one) =>
    ["properties", "patternProperties", "additionalProperties", "propertyNames", "items", "prefixItems"].some(
      (name) => Object.hasOwn(one, name),
    ),
  );
  const isNested = values.some((value) => isJsonObject(value) || Array.isArray(value));
  if (part !== undefined && hasInner && isNested)
    compiler.relax(part, "enum", "the parts of its values are not compared with the rest of the schema");
  return oneOfValues(values);
}

function typed(type: TypeName, parts: Parts, compiler: Compiler): Expression {
  switch (type) {
    case "object":
      return objectExpression(parts, compiler);
    case "array":
      return arrayExpression(parts, compiler);
    case "string":
      return stringExpression(parts, compiler);
    case "number":
      return numberOf(parts, compiler);
    case "boolean":
      return rule("boolean");
    case "null":
      return rule("null");
    default:
      return never;
  }
}

function numberOf(parts: Parts, compiler: Compiler): Expression {
  const bounds = boundsOf(parts);
  if (bounds.least === -Infinity && bounds.most === Infinity)
    return rule(bounds.isInteger ? "integer" : "number");
  const { expression, isWidened } = numberExpression(bounds);
  const keywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
  for (const part of isWidened ? parts : [])
    for (const keyword of keywords.filter((name) => typeof own(part, name) === "number"))
      compiler.relax(part, keyword, "its digits are too far from the point");
  return expression;
}
