import { isJsonObject, type Json, type JsonObject } from "../util/json.ts";
import { type CheckedSchema, followPointer } from "./check-schema.ts";
import { own } from "./keywords.ts";

/**
 * Fills the defaults of properties that are absent. Returns a copy where something was filled and the value itself where nothing was.
 * The references of `root` must be `#` or JSON pointers, and must not lead in a circle.
 * Throws RangeError after 100 000 steps.
 *
 * Goes through `properties`, `additionalProperties`, `items`, `prefixItems`, `allOf` and `$ref`: what holds for every value. Alternatives
 * (`anyOf`, `oneOf`, `if`) fill nothing, since which one holds is known only afterwards. A default itself is not filled further.
 */
export function fillDefaults(root: JsonObject, value: unknown): unknown {
  return fill({ root, stepsLeft: maxSteps }, root, value);
}

/** Takes out of `required` each property that {@link fillDefaults} fills. Changes the schema. */
export function relaxRequired({ root, targets }: CheckedSchema): void {
  const done = new Set<Json>();
  const visit = (schema: Json): void => {
    if (!isJsonObject(schema) || done.has(schema)) return;
    done.add(schema);
    const properties = objectAt(schema, "properties");
    const isFilled = (name: Json): boolean =>
      typeof name === "string" && defaultOf(own(properties, name)) !== undefined;
    const required = listAt(schema, "required").filter((name) => !isFilled(name));
    if (required.length < listAt(schema, "required").length) Object.assign(schema, { required });
    const parts = [
      ...Object.values(properties),
      ...listAt(schema, "prefixItems"),
      ...otherProperties(schema),
      ...otherItems(schema),
    ];
    for (const next of [...parts, ...listAt(schema, "allOf"), ...(targets.get(schema) ?? [])]) visit(next);
  };
  visit(root);
}

/** One filling. References that meet again and again would go on for years, so the steps are counted. */
interface Filling {
  readonly root: JsonObject;
  stepsLeft: number;
}

const maxSteps = 100_000;

function fill(filling: Filling, schema: Json | undefined, value: unknown): unknown {
  if (!isJsonObject(schema) || typeof value !== "object" || value === null) return value;
  filling.stepsLeft -= 1;
  if (filling.stepsLeft < 0)
    throw new RangeError(`its schema has more than ${maxSteps} places to look for defaults`);
  const reference = own(schema, "$ref");
  const end = typeof reference === "string" ? followPointer(filling.root, reference) : undefined;
  const filled = [end, ...listAt(schema, "allOf")].reduce<unknown>(
    (current, next) => fill(filling, next, current),
    value,
  );
  if (Array.isArray(filled)) return fillItems(filling, schema, filled);
  return isJsonObject(filled) ? fillProperties(filling, schema, filled) : filled;
}

function fillProperties(filling: Filling, schema: JsonObject, value: JsonObject): JsonObject {
  const properties = objectAt(schema, "properties");
  const changed: [string, unknown][] = [];
  for (const [name, property] of Object.entries(properties)) {
    const before = own(value, name);
    const after =
      before === undefined ? structuredClone(defaultOf(property)) : fill(filling, property, before);
    if (after !== before) changed.push([name, after]);
  }
  for (const other of otherProperties(schema)) {
    for (const [name, before] of Object.entries(value)) {
      const after = Object.hasOwn(properties, name) ? before : fill(filling, other, before);
      if (after !== before) changed.push([name, after]);
    }
  }
  // Not Object.assign: it would set the prototype by a key "__proto__" of the value.
  return changed.length === 0
    ? value
    : Object.fromEntries([...Object.entries(value), ...(changed as [string, Json][])]);
}

function fillItems(filling: Filling, schema: JsonObject, value: readonly unknown[]): readonly unknown[] {
  const first = listAt(schema, "prefixItems");
  const [rest] = otherItems(schema);
  if (rest === undefined && first.length === 0) return value;
  const filled = value.map((entry, index) => fill(filling, first[index] ?? rest, entry));
  return filled.some((entry, index) => entry !== value[index]) ? filled : value;
}

/** A default that the property itself refuses, like the text "false" for a truth value, is a mistake of the author and fills nothing. */
function defaultOf(property: Json | undefined): Json | undefined {
  if (!isJsonObject(property)) return undefined;
  const value = own(property, "default");
  const type = own(property, "type");
  const types = (Array.isArray(type) ? type : [type]) as readonly (Json | undefined)[];
  const isRefused = value !== undefined && type !== undefined && !types.some((name) => isOf(value, name));
  return isRefused ? undefined : value;
}

function isOf(value: Json, type: Json | undefined): boolean {
  if (value === null) return type === "null";
  if (Array.isArray(value)) return type === "array";
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

function objectAt(schema: JsonObject, keyword: string): JsonObject {
  const value = own(schema, keyword);
  return isJsonObject(value) ? value : {};
}

function listAt(schema: JsonObject, keyword: string): readonly Json[] {
  const value = own(schema, keyword);
  return Array.isArray(value) ? value : [];
}

/** The schema of properties that no other keyword names. With patterns around, nobody knows which those are before matching. */
function otherProperties(schema: JsonObject): readonly Json[] {
  const value = Object.hasOwn(schema, "patternProperties") ? undefined : own(schema, "additionalProperties");
  return value === undefined ? [] : [value];
}

function otherItems(schema: JsonObject): readonly Json[] {
  const value = own(schema, "items");
  return value === undefined ? [] : [value];
}
