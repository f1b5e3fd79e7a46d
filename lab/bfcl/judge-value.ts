import { isJsonObject, type Json, type JsonObject } from "../../src/util/json.ts";
import { sameJson } from "../../src/util/same-json.ts";

/** The types of BFCL's schemas by which values are compared. JSON has one kind of number: a whole number is also a float. */
type Kind = "string" | "integer" | "float" | "boolean" | "array" | "dict" | "null";

/**
 * Standards for a value: the declared type, that of the items of an array, and the values that the answer
 * allows.
 */
export interface Expected {
  readonly type: Kind;
  readonly items?: Kind;
  /** `""` among them says that the argument may be left out. */
  readonly allowed: readonly Json[];
}

/**
 * Reads the standards from a parameter's schema and its answer; undefined when the schema's type is none of
 * BFCL's.
 */
export function expectedOf(schema: JsonObject, allowed: readonly Json[]): Expected | undefined {
  const type = declaredKind(schema["type"]);
  if (type !== "array") return type === undefined ? undefined : { type, allowed };
  const { items } = schema;
  return { type, items: isJsonObject(items) ? declaredKind(items["type"]) : undefined, allowed };
}

/** Fault of a value in a few words; undefined for a right one. */
export function faultOf(value: Json, expected: Expected): string | undefined {
  const typed = typing(value, expected);
  if (typed === "wrong") return `is no ${expected.type}: ${shown(value)}`;
  const isRight = typed === "variable" ? isOneOf(value, expected.allowed) : isAllowed(value, expected);
  return isRight ? undefined : `is ${shown(value)}, not one of ${shown(expected.allowed)}`;
}

/** Strings count as equal when they differ only in case, in the kind of quote, or in blanks and the signs `,./-_*^`. */
export function plainText(text: string): string {
  return text
    .replaceAll(/[ ,./\-_*^]/g, "")
    .toLowerCase()
    .replaceAll("'", '"');
}

const declaredKinds: Readonly<Record<string, Kind>> = {
  string: "string",
  integer: "integer",
  float: "float",
  boolean: "boolean",
  array: "array",
  tuple: "array",
  dict: "dict",
  any: "string",
};

function declaredKind(type: Json | undefined): Kind | undefined {
  return typeof type === "string" && Object.hasOwn(declaredKinds, type) ? declaredKinds[type] : undefined;
}

function kindOf(value: Json): Kind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "object") return "dict";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "float";
  return typeof value === "string" ? "string" : "boolean";
}

function fits(kind: Kind, wanted: Kind): boolean {
  return kind === wanted || (wanted === "float" && kind === "integer");
}

/** The type of the values that the answer allows; undefined when it only allows leaving the argument out. */
function answerKind(allowed: readonly Json[]): Kind | undefined {
  const first = allowed.find((value) => value !== "");
  return first === undefined ? undefined : kindOf(first);
}

/**
 * Sorts a value by its type. The answer's type counts too where it is another than the declared one: then the
 * value stands for something (the name of a variable, say) and must be exactly what the answer has. Arrays
 * are looked into one level deep.
 */
function typing(value: Json, { type, items, allowed }: Expected): "literal" | "variable" | "wrong" {
  const kind = kindOf(value);
  const answered = answerKind(allowed);
  if (!fits(kind, type)) return kind === answered ? "variable" : "wrong";
  if (items !== undefined && Array.isArray(value) && !someItemsFit(value, items, allowed)) return "wrong";
  return answered === undefined || fits(answered, type) ? "literal" : "variable";
}

function someItemsFit(values: readonly Json[], items: Kind, allowed: readonly Json[]): boolean {
  return allowed.some(
    (option) =>
      !Array.isArray(option) ||
      values.every((item) => typing(item, { type: items, allowed: option }) !== "wrong"),
  );
}

function isAllowed(value: Json, { items, allowed }: Expected): boolean {
  if (isJsonObject(value)) return allowed.some((option) => isAllowedObject(value, option));
  if (Array.isArray(value)) {
    return items === "dict"
      ? allowed.some((option) => areAllowedObjects(value, option))
      : allowed.some((option) => sameJson(plainTexts(value), plainTexts(listOf(option))));
  }
  return isOneOf(plainIn(value), allowed.map(plainIn));
}

/** Each field must be one of the values that the answer has for it; a field is left out only where the answer allows that. */
function isAllowedObject(value: JsonObject, option: Json): boolean {
  if (!isJsonObject(option)) return false;
  const fields = Object.entries(value);
  return (
    fields.every(([key, field]) => {
      const allowed = Object.hasOwn(option, key) ? option[key] : undefined;
      return Array.isArray(allowed) && isOneOf(plainIn(field), allowed.map(plainIn));
    }) &&
    Object.entries(option).every(
      ([key, allowed]) => Object.hasOwn(value, key) || (Array.isArray(allowed) && allowed.includes("")),
    )
  );
}

function areAllowedObjects(values: readonly Json[], option: Json): boolean {
  const options = listOf(option);
  return (
    values.length === options.length &&
    values.every((value, index) => isJsonObject(value) && isAllowedObject(value, options[index] ?? null))
  );
}

/** A value that may be left out may also be an empty list. */
function listOf(option: Json): readonly Json[] {
  return Array.isArray(option) ? option : [];
}

function plainTexts(values: readonly Json[]): readonly Json[] {
  return values.map(plainIn);
}

function plainIn(value: Json): Json {
  return typeof value === "string" ? plainText(value) : value;
}

function isOneOf(value: Json, allowed: readonly Json[]): boolean {
  return allowed.some((option) => sameJson(value, option));
}

function shown(value: Json): string {
  return JSON.stringify(value);
}
