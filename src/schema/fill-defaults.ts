import { copyOfPlain, isJsonObject, type Json, type JsonObject, own } from "../util/json.ts";
import type { CheckedSchema } from "./check-schema.ts";
import { hasType } from "./assertions.ts";
import { listAt, mapAt, typesAt } from "./keywords.ts";
import type { Work } from "./visit.ts";

/**
 * Fills the defaults of properties that are absent. Returns a copy where something was filled and the value itself where nothing was.
 * Throws RangeError when that takes more work than is left.
 *
 * Goes through `properties`, `additionalProperties`, `items`, `prefixItems`, `allOf` and `$ref`: what holds for every value. Alternatives
 * (`anyOf`, `oneOf`, `if`) fill nothing, since which one holds is known only afterwards. A default itself is not filled further.
 */
export function fillDefaults({ root, targets }: CheckedSchema, value: unknown, work: Work): unknown {
  return fill({ targets, work, copies: new Set() }, root, value);
}

/** Takes out of `required` each property that {@link fillDefaults} fills. Changes the schema. */
export function relaxRequired({ root, targets }: CheckedSchema): void {
  const done = new Set<Json>();
  const visit = (schema: Json): void => {
    if (!isJsonObject(schema) || done.has(schema)) return;
    done.add(schema);
    const properties = mapAt(schema, "properties");
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

interface Filling {
  readonly targets: CheckedSchema["targets"];
  readonly work: Work;
  /** Objects that are copies already, so that an object is copied once for all schemas that fill it. */
  readonly copies: Set<JsonObject>;
}

type Changes = Map<string, unknown>;

// A list or object is looked at in several ways, and may be copied.
const stepsEach = 10;

function fill(filling: Filling, schema: Json | undefined, value: unknown): unknown {
  if (!isJsonObject(schema) || typeof value !== "object" || value === null) return value;
  filling.work.spend(stepsEach);
  const beside = [...(filling.targets.get(schema) ?? []), ...listAt(schema, "allOf")];
  const filled = beside.reduce<unknown>((current, next) => fill(filling, next, current), value);
  if (Array.isArray(filled)) return fillItems(filling, schema, filled);
  return isJsonObject(filled) ? fillProperties(filling, schema, filled) : filled;
}

function fillProperties(filling: Filling, schema: JsonObject, value: JsonObject): JsonObject {
  const properties = mapAt(schema, "properties");
  const changed: Changes = new Map();
  for (const name of filling.work.namesOf(properties)) {
    const property = properties[name];
    const before = own(value, name);
    const after =
      before === undefined ? copyOf(defaultOf(property), filling) : fill(filling, property, before);
    if (after !== before) changed.set(name, after);
  }
  for (const other of otherProperties(schema)) {
    for (const name of filling.work.namesOf(value)) {
      const before = value[name];
      const after = Object.hasOwn(properties, name) ? before : fill(filling, other, before);
      if (after !== before) changed.set(name, after);
    }
  }
  if (changed.size === 0) return value;
  return withFields(filling, value, changed);
}

function withFields({ work, copies }: Filling, value: JsonObject, changed: Changes): JsonObject {
  const copy = copies.has(value) ? value : { ...value };
  if (copy !== value) work.namesOf(copy);
  copies.add(copy);
  // Not an assignment, which would set the prototype by the key "__proto__".
  for (const [name, field] of changed)
    Object.defineProperty(copy, name, { value: field, writable: true, enumerable: true, configurable: true });
  return copy;
}

/** A default that is a list or an object belongs to the value that it is filled in. */
function copyOf(value: Json | undefined, { work }: Filling): Json | undefined {
  if (typeof value !== "object" || value === null) return value;
  work.spend(JSON.stringify(value).length);
  return copyOfPlain(value);
}

function fillItems(filling: Filling, schema: JsonObject, value: readonly unknown[]): readonly unknown[] {
  const first = listAt(schema, "prefixItems");
  const [rest] = otherItems(schema);
  if (rest === undefined && first.length === 0) return value;
  const entries = filling.work.entriesOf(value);
  const filled = entries.map((entry, index) => fill(filling, first[index] ?? rest, entry));
  return filled.some((entry, index) => entry !== value[index]) ? filled : value;
}

/** A default that the property itself refuses, like the text "false" for a truth value, is a mistake of the author and fills nothing. */
export function defaultOf(property: Json | undefined): Json | undefined {
  if (!isJsonObject(property)) return undefined;
  const value = own(property, "default");
  const types = typesAt(property);
  const isRefused = types.length > 0 && !hasType(value, types);
  return isRefused ? undefined : value;
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
