import type { ModelRequest } from "../../model/model.ts";
import { asObject, isJsonObject, type Json, type JsonObject, parseJson, toJson } from "../../util/json.ts";
import { sameJson } from "../../util/same-json.ts";

/** Fields of a message that only the runtime uses: no provider gets them, and they may differ between runs. */
const unsent: ReadonlySet<string> = new Set(["label", "by", "note", "value"]);

/** A request as a provider gets it, as plain data, with each text changed by `written`. */
export function sentRequest(request: ModelRequest, written: (text: string) => string): JsonObject {
  const messages = request.messages.map((message) =>
    Object.fromEntries(Object.entries(message).filter(([field]) => !unsent.has(field))),
  );
  return asObject(withTexts(plain({ ...request, messages }), written));
}

/** A value of a program as plain data. @throws Error for a value that JSON cannot express */
export function plain(value: unknown): Json {
  const json = toJson(value);
  if (!json.ok) throw new Error(json.reason);
  return json.value;
}

/** Fields whose values are data of models and authors: there the names of fields are texts like all others. */
const free: ReadonlySet<string> = new Set(["inputSchema", "schema"]);

/** The same data, with each text changed by `written`, and the arguments of calls by {@link argumentsAs}. Names of fields stay, but for those of schemas and arguments. */
export function withTexts(value: Json, written: (text: string) => string): Json {
  if (typeof value === "string") return written(value);
  if (typeof value !== "object" || value === null) return value;
  if (!isJsonObject(value)) return value.map((each) => withTexts(each, written));
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      name === "arguments"
        ? argumentsAs(field, written)
        : (free.has(name) ? withValues : withTexts)(field, written),
    ]),
  );
}

/** The arguments of a call, with each text changed by `written`, and 0 for a number that it would change. JSON text stays JSON. */
export function argumentsAs(value: Json, written: (text: string) => string): Json {
  const json = typeof value === "string" ? parseJson(value) : undefined;
  if (json?.ok !== true) return withValues(value, written);
  const clean = withValues(json.value, written);
  return sameJson(clean, json.value) ? value : JSON.stringify(clean);
}

function withValues(value: Json, written: (text: string) => string): Json {
  if (typeof value === "string") return written(value);
  if (typeof value === "number") return written(String(value)) === String(value) ? value : 0;
  if (typeof value !== "object" || value === null) return value;
  if (!isJsonObject(value)) return value.map((each) => withValues(each, written));
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [written(name), withValues(field, written)]),
  );
}

/** The first place at which two values differ, like `messages[2].text`, with both values; undefined if they are equal. */
export interface Difference {
  readonly place: string;
  readonly recorded: Json | undefined;
  readonly asked: Json | undefined;
}

/** The first difference between a recorded request and the current one. */
export function firstDifference(
  recorded: Json | undefined,
  asked: Json | undefined,
  place = "",
): Difference | undefined {
  if (recorded === asked) return undefined;
  const fields = fieldsOfBoth(recorded, asked);
  if (fields === undefined) return { place, recorded, asked };
  for (const [name, one, other] of fields) {
    const difference = firstDifference(one, other, placeIn(place, name, Array.isArray(asked)));
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function placeIn(place: string, name: string, isList: boolean): string {
  if (isList) return `${place}[${name}]`;
  return place === "" ? name : `${place}.${name}`;
}

type Field = readonly [name: string, one: Json | undefined, other: Json | undefined];

/** The fields of two objects, or the items of two lists, in pairs; undefined if they are of different kinds. */
function fieldsOfBoth(one: Json | undefined, other: Json | undefined): readonly Field[] | undefined {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null)
    return undefined;
  if (Array.isArray(one) !== Array.isArray(other)) return undefined;
  const ones = new Map<string, Json>(Object.entries(one));
  const others = new Map<string, Json>(Object.entries(other));
  const names = new Set([...ones.keys(), ...others.keys()]);
  return [...names].map((name) => [name, ones.get(name), others.get(name)]);
}
