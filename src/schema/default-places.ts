import { isJsonObject, type Json, type JsonObject, own } from "../util/json.ts";
import { remembered } from "../util/remembered.ts";
import { sameJson } from "../util/same-json.ts";
import { followPointer } from "./check-schema.ts";
import { defaultOf } from "./fill-defaults.ts";
import { listAt, mapAt } from "./keywords.ts";
import type { JsonSchema } from "./schema.ts";

/** Fields by the object that holds them: an equal object at another place is another one. */
export type FieldPlaces = ReadonlyMap<object, ReadonlySet<string>>;

/** The fields of a parsed value that hold the defaults of its schema. */
export interface DefaultPlaces {
  /** The fields that the value did not have before it was parsed. */
  readonly filled: FieldPlaces;
  /** The fields in which the default was written. */
  readonly written: FieldPlaces;
  /** The value before it was parsed, without the latter. */
  readonly without: Json;
}

/**
 * Finds the fields of a parsed value that hold exactly the defaults that the schema states for them, and that were left out or written so in `before`, the
 * value that was parsed.
 *
 * Goes through `properties`, `allOf` and `$ref`: of alternatives nobody knows which one holds. Fields inside an object count if it was left out itself, or
 * must be there. Whoever writes an object that may be left out, or an entry of a list, chooses that it is there.
 */
export function defaultPlaces(schema: JsonSchema, value: Json, before: Json): DefaultPlaces {
  const search: Search = { root: schema, filled: new Map(), written: new Map() };
  const { filled, written } = search;
  const mayHave = isJsonObject(value) && isJsonObject(before) && statesDefaults(schema);
  return {
    filled,
    written,
    without: mayHave ? withoutDefaults(search, [schema], { value, before }) : before,
  };
}

/** True if a default stands anywhere in the schema. Depends on: the schema. */
export const statesDefaults: (schema: JsonSchema) => boolean = remembered((schema: JsonSchema) =>
  JSON.stringify(schema).includes('"default":'),
);

interface Search {
  readonly root: JsonSchema;
  readonly filled: Map<object, Set<string>>;
  readonly written: Map<object, Set<string>>;
}

/** An object, as it was before it was parsed and as it is now. */
interface Parsed {
  readonly value: JsonObject;
  readonly before: JsonObject;
}

function withoutDefaults(search: Search, schemas: readonly Json[], { value, before }: Parsed): JsonObject {
  const parts = together(schemas, search.root);
  const needed = new Set(parts.flatMap((part) => listAt(part, "required")));
  const left = new Map(Object.entries(before));
  for (const [name, field] of Object.entries(value)) {
    const held = parts.flatMap((part) => own(mapAt(part, "properties"), name) ?? []);
    const defaults = held.map(defaultOf).filter((each) => each !== undefined);
    const was = left.get(name);
    const isDefault = defaults.length > 0 && defaults.every((each) => sameJson(each, field));
    if (isDefault && was === undefined) note(search.filled, value, name);
    else if (isDefault && sameJson(field, was)) {
      note(search.written, value, name);
      left.delete(name);
    } else if (isJsonObject(field) && was === undefined)
      withoutDefaults(search, held, { value: field, before: {} });
    else if (isJsonObject(field) && isJsonObject(was) && needed.has(name) && defaults.length === 0)
      left.set(name, withoutDefaults(search, held, { value: field, before: was }));
  }
  return Object.fromEntries(left);
}

function note(places: Map<object, Set<string>>, holder: object, name: string): void {
  const names = places.get(holder) ?? new Set();
  places.set(holder, names.add(name));
}

/** The schemas, and all that hold for the same value whatever it is. */
function together(schemas: readonly Json[], root: JsonSchema): readonly JsonObject[] {
  const found = new Set<JsonObject>();
  const left = [...schemas];
  for (let part = left.pop(); part !== undefined; part = left.pop()) {
    if (!isJsonObject(part) || found.has(part)) continue;
    found.add(part);
    const reference = own(part, "$ref");
    const end = typeof reference === "string" ? followPointer(root, reference) : undefined;
    left.push(...listAt(part, "allOf"), ...(end === undefined ? [] : [end]));
  }
  return [...found];
}
