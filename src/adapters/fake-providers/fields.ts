import { isJsonList, type Json, type JsonObject } from "../../util/json.ts";
import type { FakeRequest } from "./fake-provider.ts";

/** The path of a value in a body. */
export type Path = readonly (string | number)[];

/** The kinds of the fields of an object, separated by `|`. A `!` after them marks a required field. */
export type Fields = Readonly<Record<string, string>>;

/** The first wrong field of an object. */
export interface FieldFault {
  readonly fault: "missing" | "unknown" | "kind";
  readonly at: Path;
  /** The kinds that the field may have, as written in the {@link Fields}. */
  readonly wanted: readonly string[];
  readonly got: string;
}

/** Finds missing fields, fields of another kind and unknown fields, in this order. An optional field may be null. */
export function fieldFault(object: JsonObject, at: Path, fields: Fields): FieldFault | undefined {
  for (const [name, rule] of Object.entries(fields)) {
    const isWanted = rule.endsWith("!");
    const wanted = rule.replace("!", "").split("|");
    const got = kindOf(object[name]);
    if (got === "nothing" && isWanted) return { fault: "missing", at: [...at, name], wanted, got };
    if (got === "nothing" || (got === "null" && !isWanted)) continue;
    const isFit = wanted.some(
      (kind) => kind === "any" || kind === got || (kind === "number" && got === "integer"),
    );
    if (!isFit) return { fault: "kind", at: [...at, name], wanted, got };
  }
  for (const name of Object.keys(object))
    if (!Object.hasOwn(fields, name))
      return { fault: "unknown", at: [...at, name], wanted: [], got: kindOf(object[name]) };
  return undefined;
}

/** The kind of a value, as {@link Fields} name it. */
export function kindOf(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

/** The value if it is an object, otherwise an empty object. */
export function objectOf(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !isJsonList(value) ? value : {};
}

/** The value if it is a list, otherwise an empty list. */
export function listOf(value: Json | undefined): readonly Json[] {
  return isJsonList(value) ? value : [];
}

/** The objects of a list; any other item becomes an empty object. */
export function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return listOf(value).map(objectOf);
}

/** The value if it is a text, otherwise an empty text. */
export function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** The first value that is found at an item of a list. */
export function firstOf<Item, Found>(
  items: readonly Item[],
  find: (item: Item, index: number) => Found | undefined,
): Found | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The first text that occurs twice in a list. */
export function firstTwice(texts: readonly string[]): string | undefined {
  return texts.find((text, index) => texts.indexOf(text) !== index);
}

/** The model that the body of a request names. */
export function modelOf({ body }: FakeRequest): string {
  return textOf(body["model"]);
}
