import { linearFault } from "../../schema/linear-pattern.ts";
import { toSchema } from "../../schema/to-schema.ts";
import type { Tool } from "../../tool/tool.ts";
import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import { remembered } from "../../util/remembered.ts";
import type { Slot } from "./slots.ts";

/** The keywords that say which numbers and texts an argument takes. */
const bounds = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "pattern",
];

const formats: ReadonlyMap<unknown, RegExp> = new Map([
  ["email", /^\S+@\S+$/],
  ["uri", /^[a-z][a-z\d+.-]*:\S+$/i],
]);

// Depends on: the schema.
const judge = remembered((schema: JsonObject) => {
  const held = bounds.filter((keyword) => schema[keyword] !== undefined && isReadable(schema, keyword));
  const kept = Object.fromEntries(held.map((keyword) => [keyword, schema[keyword] ?? null]));
  return toSchema(kept, { name: "argument", role: "input", coerce: "none" });
});

/** A pattern of a library may say what only that library can judge. */
function isReadable({ pattern }: JsonObject, keyword: string): boolean {
  return keyword !== "pattern" || (typeof pattern === "string" && linearFault(pattern) === undefined);
}

/** True if the slot, or the list in it, takes the value, as far as its own schema says. */
export function takesValue({ schema, type }: Slot, value: Json): boolean {
  const items = type === "list" && isJsonObject(schema["items"]) ? schema["items"] : undefined;
  if (items !== undefined && schema["maxItems"] === 0) return false;
  const held = items ?? schema;
  const form = formats.get(held["format"]);
  if (form !== undefined && !(typeof value === "string" && form.test(value))) return false;
  const judged = judge(held).parse(value);
  return judged instanceof Promise || judged.ok;
}

/** Loads what patterns are judged with, where a tool has some: {@link takesValue} cannot wait. */
export async function withPatterns(tools: readonly Tool[]): Promise<void> {
  if (tools.some(hasPattern)) await judge(anyPattern).parse("");
}

// Depends on: the tool.
const hasPattern = remembered(({ input }: Tool) => JSON.stringify(input.jsonSchema).includes('"pattern"'));

const anyPattern: JsonObject = { pattern: "^" };
