import { isJsonObject, type Json, type JsonObject, own } from "../util/json.ts";
import { after } from "../util/maybe.ts";
import { sameJson } from "../util/same-json.ts";
import { unknownField } from "./applicators.ts";
import { listAt, mapAt, typesAt } from "./keywords.ts";
import { type Issue, type ParseResult, pathText, type Schema } from "./schema.ts";

/**
 * The fields of a value for which its JSON Schema has neither a name nor room (`additionalProperties: false`). Libraries accept such a value and leave
 * the fields out. Goes through properties, lists and alternatives; what stands behind references and `allOf` is left to the library.
 */
export function unknownFields(value: unknown, schema: Json | undefined): readonly Issue[] {
  const found: Issue[] = [];
  look(value, schema, { path: [], found });
  return found;
}

/** A walk through a value: the way to the field that is looked at, and the fields that were found. */
interface Walk {
  readonly path: (string | number)[];
  readonly found: Issue[];
}

function look(value: unknown, schema: Json | undefined, walk: Walk): void {
  if (!isJsonObject(schema)) return;
  if (Array.isArray(value)) lookInList(value, schema, walk);
  else if (isJsonObject(value)) lookInFields(value, schema, walk);
  else return;
  lookInChoice(value, schema, walk);
}

function lookInFields(value: JsonObject, schema: JsonObject, walk: Walk): void {
  const properties = mapAt(schema, "properties");
  const others = Object.hasOwn(schema, "patternProperties") ? undefined : own(schema, "additionalProperties");
  for (const name of Object.keys(value)) {
    const field = value[name];
    if (field === undefined) continue;
    walk.path.push(name);
    if (Object.hasOwn(properties, name)) look(field, properties[name], walk);
    else if (others === false)
      walk.found.push({ path: [...walk.path], message: unknownField(Object.keys(properties)) });
    else look(field, others, walk);
    walk.path.pop();
  }
}

function lookInList(list: readonly unknown[], schema: JsonObject, walk: Walk): void {
  const places = listAt(schema, "prefixItems");
  const rest = own(schema, "items");
  list.forEach((entry, index) => {
    walk.path.push(index);
    look(entry, places[index] ?? rest, walk);
    walk.path.pop();
  });
}

/** Of the alternatives that can be meant, the one with the fewest unknown fields counts. */
function lookInChoice(
  value: JsonObject | readonly unknown[],
  schema: JsonObject,
  { path, found }: Walk,
): void {
  const choices = [...listAt(schema, "anyOf"), ...listAt(schema, "oneOf")];
  const looks = choices
    .filter((choice) => canBeMeant(value, choice))
    .map((choice) => {
      const walk: Walk = { path: [...path], found: [] };
      look(value, choice, walk);
      return walk.found;
    });
  found.push(...(looks.toSorted((one, other) => one.length - other.length)[0] ?? []));
}

/** True when the value has every constant that the alternative fixes, like a tag `type: "circle"`; one that may be left out can be. */
function canBeMeant(value: JsonObject | readonly unknown[], choice: Json): boolean {
  if (!isJsonObject(choice)) return false;
  const kind = isJsonObject(value) ? "object" : "array";
  const types = typesAt(choice);
  if (types.length > 0 && !types.includes(kind)) return false;
  if (!isJsonObject(value)) return true;
  const required = listAt(choice, "required");
  return Object.entries(mapAt(choice, "properties")).every(([name, field]) => {
    const fixed = isJsonObject(field) ? own(field, "const") : undefined;
    const given = own(value, name);
    if (fixed === undefined || (given === undefined && !required.includes(name))) return true;
    return sameJson(given ?? null, fixed);
  });
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
