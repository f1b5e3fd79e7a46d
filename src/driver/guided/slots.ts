import { listAt, mapAt } from "../../schema/keywords.ts";
import type { Tool } from "../../tool/tool.ts";
import { asObject, isJsonObject, type Json, type JsonObject } from "../../util/json.ts";
import type { Language } from "./language.ts";
import { stemsOf, stemsOfName } from "./words.ts";

/** One value that a call may have. Those inside of objects stand beside the others, each with its path. */
export interface Slot {
  readonly path: readonly string[];
  readonly schema: JsonObject;
  readonly isRequired: boolean;
  readonly type: SlotType;
  /** Of a list, the type of its items. */
  readonly items?: SlotType;
  /** The values that the schema names. */
  readonly choices: readonly Json[];
  /** Values in quotes in its description: some of those that it takes. */
  readonly hints: readonly string[];
  /** Stems that speak of it, with their weights. */
  readonly words: ReadonlyMap<string, number>;
  readonly takes?: "date" | "time" | "text";
  /** Stems that name it or its tool: at the ends of a phrase they are no part of a value. */
  readonly aside: ReadonlySet<string>;
  /** Stems that name its tool or any value of it: a phrase of these alone is none. */
  readonly names: ReadonlySet<string>;
  /** Values that its description gives as examples. */
  readonly examples: readonly string[];
}

export type SlotType = "number" | "integer" | "string" | "boolean" | "choice" | "list" | "other";

/** A nested object is looked into so deep. */
const deepest = 4;

/** The values that a call of the tool may have, in the order of its schema. */
export function slotsOf(
  { name, input }: Pick<Tool, "name" | "input">,
  language: Language | undefined,
): readonly Slot[] {
  const tool = stemsOf(name, language);
  const slots = slotsIn(input.jsonSchema, { path: [], isRequired: true, tool, language });
  const names = new Set([...tool, ...slots.flatMap(({ path }) => stemsOf(path.join(" "), language))]);
  return slots.map((slot) => ({ ...slot, names }));
}

interface Around {
  readonly path: readonly string[];
  readonly isRequired: boolean;
  readonly tool: readonly string[];
  readonly language: Language | undefined;
}

function slotsIn(object: JsonObject, around: Around): readonly Slot[] {
  const required = listAt(object, "required");
  return Object.entries(mapAt(object, "properties")).flatMap(([name, given]): readonly Slot[] => {
    const schema = plainSchema(asObject(given));
    const path = [...around.path, name];
    const isRequired = around.isRequired && required.includes(name);
    const isObject = schema["type"] === "object" && Object.keys(mapAt(schema, "properties")).length > 0;
    if (isObject && path.length < deepest) return slotsIn(schema, { ...around, path, isRequired });
    return [slotOf(schema, { ...around, path, isRequired })];
  });
}

/** Of a schema that allows null too, the other part. */
function plainSchema(schema: JsonObject): JsonObject {
  const options = [...listAt(schema, "anyOf"), ...listAt(schema, "oneOf")].filter(isJsonObject);
  const some = options.filter(({ type }) => type !== "null");
  const [first] = some;
  if (first !== undefined && some.length === 1 && schema["type"] === undefined)
    return { ...schema, ...first };
  const types = listAt(schema, "type").filter((type) => type !== "null");
  return types.length === 1 && types[0] !== undefined ? { ...schema, type: types[0] } : schema;
}

function slotOf(schema: JsonObject, { path, isRequired, tool, language }: Around): Slot {
  const description = descriptionOf(schema);
  const items = isJsonObject(schema["items"]) ? schema["items"] : undefined;
  const choices = schema["const"] === undefined ? listAt(items ?? schema, "enum") : [schema["const"]];
  const words = new Map<string, number>();
  const weigh = (text: string, weight: number): void => {
    for (const stem of stemsOf(text, language)) words.set(stem, Math.max(words.get(stem) ?? 0, weight));
  };
  weigh(description, 0.5);
  path.forEach((name, index) => {
    for (const stem of stemsOfName(name, language)) words.set(stem, index === path.length - 1 ? 1 : 0.6);
  });
  const type = typeOf(schema);
  const takes = takesOf(schema, { name: path.at(-1) ?? "", language });
  return {
    path,
    schema,
    isRequired,
    type,
    ...(items === undefined ? {} : { items: typeOf(items) }),
    choices,
    hints: hintsIn(description),
    words,
    ...(takes === undefined ? {} : { takes }),
    names: new Set(),
    aside: new Set([...tool, ...stemsOf(path.at(-1) ?? "", language)]),
    examples: [...examplesIn(description, language), ...listAt(schema, "examples").map(String)],
  };
}

/** The words of a schema on itself. */
export function descriptionOf({ description }: JsonObject): string {
  return typeof description === "string" ? description : "";
}

function typeOf(schema: JsonObject): SlotType {
  const { type } = schema;
  if (schema["enum"] !== undefined || schema["const"] !== undefined) return "choice";
  if (type === "number" || type === "integer" || type === "boolean") return type;
  if (type === "string") return type;
  return type === "array" && isJsonObject(schema["items"]) ? "list" : "other";
}

function takesOf(
  schema: JsonObject,
  { name, language }: { readonly name: string; readonly language: Language | undefined },
): Slot["takes"] {
  const said = descriptionOf(schema);
  const { format } = schema;
  if (format === "date" || format === "date-time" || /\bY{2,4}\b/.test(said)) return "date";
  if (format === "time" || /\bHH\b/.test(said)) return "time";
  const stems = stemsOf(name, language);
  const kinds = ["date", "time", "text"] as const;
  return kinds.find((kind) => stems.some((stem) => language?.kinds[kind].has(stem) === true));
}

/** Values in quotes, where a description names more than one. */
function hintsIn(description: string): readonly string[] {
  const found = [...description.matchAll(/'([^']{1,40})'|"([^"]{1,40})"/g)].map(
    ([, one, other]) => one ?? other ?? "",
  );
  return found.length > 1 ? found : [];
}

function examplesIn(description: string, language: Language | undefined): readonly string[] {
  for (const marker of language?.like ?? []) {
    const at = ` ${description.toLowerCase()}`.indexOf(` ${marker} `);
    if (at < 0) continue;
    const [word = ""] = description
      .slice(at + marker.length)
      .trim()
      .split(/[\s,;]+/);
    return [word.replaceAll(/^['"(]+|['").]+$/g, "")].filter((example) => example !== "");
  }
  return [];
}
