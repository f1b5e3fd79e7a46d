import { isJsonList, type Json, type JsonObject } from "../../util/json.ts";
import type { FakeRequest } from "./fake-provider.ts";

/** The way to a value in a body. */
export type Path = readonly (string | number)[];

/** The kinds of the fields of an object, with `|` between them. A `!` behind them marks a required field. */
export type Fields = Readonly<Record<string, string>>;

/** The first field of an object that is not as it must be. */
export interface FieldFault {
  readonly fault: "missing" | "unknown" | "kind";
  readonly at: Path;
  /** The kinds that the field may have, as they stand in the {@link Fields}. */
  readonly wanted: readonly string[];
  readonly got: string;
}

/** Looks for fields that are missing, of another kind or unknown, in this order. A field that may be missing may be null. */
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

/** The kind of a value, as {@link Fields} call it. */
export function kindOf(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

/** The value when it is an object, else an empty one. */
export function objectOf(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !isJsonList(value) ? value : {};
}

/** The value when it is a list, else an empty one. */
export function listOf(value: Json | undefined): readonly Json[] {
  return isJsonList(value) ? value : [];
}

/** The objects of a list; what is none counts as an empty one. */
export function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return listOf(value).map(objectOf);
}

/** The value when it is a text, else an empty one. */
export function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** The first thing that is found at an item of a list. */
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

/** The first text that stands twice in a list. */
export function firstTwice(texts: readonly string[]): string | undefined {
  return texts.find((text, index) => texts.indexOf(text) !== index);
}

/** The model that the body of a request names. */
export function modelOf({ body }: FakeRequest): string {
  return textOf(body["model"]);
}
