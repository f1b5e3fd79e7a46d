import { isJsonObject, type Json, type JsonObject } from "../util/json.ts";
import { after } from "../util/maybe.ts";
import { sameJson } from "../util/same-json.ts";
import { unknownField } from "./applicators.ts";
import { listOf } from "./assertions.ts";
import { own } from "./keywords.ts";
import { type Issue, type ParseResult, pathText, type Schema } from "./schema.ts";

type Path = Issue["path"];

/**
 * The fields of a value for which its JSON Schema has neither a name nor room (`additionalProperties: false`). Libraries accept such a value and leave
 * the fields out. Goes through properties, lists and alternatives; what stands behind references and `allOf` is left to the library.
 */
export function unknownFields(value: unknown, schema: Json | undefined, path: Path = []): readonly Issue[] {
  if (typeof value !== "object" || value === null || !isJsonObject(schema)) return [];
  if (Array.isArray(value)) {
    const places = listOf(own(schema, "prefixItems"));
    return value.flatMap((entry, index) =>
      unknownFields(entry, places[index] ?? own(schema, "items"), [...path, index]),
    );
  }
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  const properties = propertiesOf(schema);
  const isClosed =
    own(schema, "additionalProperties") === false && !Object.hasOwn(schema, "patternProperties");
  const found = fields.flatMap(([name, field]) => {
    const at = [...path, name];
    if (Object.hasOwn(properties, name)) return unknownFields(field, properties[name], at);
    return isClosed ? [{ path: at, message: unknownField(Object.keys(properties)) }] : [];
  });
  return [...found, ...unknownInChoice(value as JsonObject, schema, path)];
}

/** Of the alternatives that can be meant, the one with the fewest unknown fields counts. */
function unknownInChoice(value: JsonObject, schema: JsonObject, path: Path): readonly Issue[] {
  const found = [...listOf(own(schema, "anyOf")), ...listOf(own(schema, "oneOf"))]
    .filter((choice) => canBeMeant(value, choice))
    .map((choice) => unknownFields(value, choice, path));
  return found.toSorted((one, other) => one.length - other.length)[0] ?? [];
}

/** Whether nothing of what the alternative fixes (a tag like `type: "circle"`) speaks against it. */
function canBeMeant(value: JsonObject, choice: Json): boolean {
  if (!isJsonObject(choice) || (own(choice, "type") ?? "object") !== "object") return false;
  return Object.entries(propertiesOf(choice)).every(([name, field]) => {
    const fixed = isJsonObject(field) ? own(field, "const") : undefined;
    return fixed === undefined || sameJson(own(value, name) ?? null, fixed);
  });
}

function propertiesOf(schema: JsonObject): JsonObject {
  const properties = own(schema, "properties");
  return isJsonObject(properties) ? properties : {};
}

/** A value with unknown fields does not fit, whatever its library says; they stand beside what else is wrong. */
export function withUnknown(result: ParseResult<unknown>, unknown: readonly Issue[]): ParseResult<unknown> {
  if (unknown.length === 0) return result;
  if (result.ok) return { ok: false, issues: unknown };
  const told = new Set(result.issues.map(({ path }) => pathText(path)));
  return {
    ok: false,
    issues: [...result.issues, ...unknown.filter(({ path }) => !told.has(pathText(path)))],
  };
}

/** The schema for calls of a model, made of one that takes a program's values as they are: it has no room for fields that it does not have. */
export function refusingUnknown(schema: Schema): Schema {
  const parse: Schema["parse"] = (value) =>
    after(schema.parse(value), (read) => withUnknown(read, unknownFields(value, schema.jsonSchema)));
  return { ...schema, parse };
}
