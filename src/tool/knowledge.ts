import { checkShape, closed } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import { isJsonObject, type Json, wholeJson } from "../util/json.ts";
import { callable, anything, named, record } from "../util/shape.ts";
import { tool, type Tool, type ToolContext } from "./tool.ts";

/** A text or value that a model may read by calling its name. Takes no arguments. */
export interface Knowledge extends Tool {
  readonly kind: "knowledge";
  /** Loads the content again. @throws WritError `knowledge-invalid`, and whatever the author's `load` throws */
  execute(args: unknown, context: LoadContext): Promise<Json>;
}

/** The context of a `load` function. */
export type LoadContext = Pick<ToolContext, "signal">;

/** Text, or a value that JSON can hold. */
export type Loaded = string | number | boolean | object | null;

/** The definition of knowledge. */
export interface KnowledgeDefinition {
  /** A tool name: 1 to 64 letters, digits, `_`, `-` or `.`; begins with a letter or `_`. */
  readonly name: string;
  /** A description of the content, so that the model knows when to read it. */
  readonly description: string;
  /** Returns the current content. writ calls it whenever the model reads, and never before. */
  readonly load: (context: LoadContext) => Loaded | Promise<Loaded>;
}

/**
 * Defines a text or value that the model may read. The model sees name and description. writ loads the content whenever the model calls the name,
 * so the model always reads the latest content. Watchers get the event `knowledge-used`.
 *
 * @throws WritError `name-invalid`, `definition-invalid`
 * @example
 * ```ts
 * import { agent, knowledge, skill } from "writ";
 *
 * const prices = new Map([["tea", 3]]);
 * const priceList = knowledge({
 *   name: "prices",
 *   description: "What everything costs today, in euro",
 *   load: () => Object.fromEntries(prices),
 * });
 *
 * export const shop = agent({
 *   name: "shop",
 *   model: "ollama/qwen2.5:7b",
 *   skills: [skill({ name: "sell", description: "Answers customers", tools: [], knowledge: [priceList] })],
 * });
 * ```
 */
export function knowledge(definition: KnowledgeDefinition): Knowledge {
  checkShape("knowledge()", definition, definitionLike);
  const { name, description, load } = definition;
  checkShape(`Knowledge "${name}"`, definition, shape);
  const execute = async (_args: unknown, { signal }: LoadContext): Promise<Json> =>
    contentOf(name, await load({ signal }));
  const inputSchema = { type: "object", properties: {}, additionalProperties: false } as const;
  return { ...tool({ name, description, inputSchema, effect: "read", execute }), kind: "knowledge", execute };
}

const definitionLike = named("an object like { name, description, load }", record);
const shape = closed({ name: anything, description: anything, load: callable });

/** Tells knowledge, which is read without arguments, from all other tools. */
export function isKnowledge(entry: Tool): entry is Knowledge {
  const { properties } = entry.input.jsonSchema;
  return entry.kind === "knowledge" && isJsonObject(properties) && Object.keys(properties).length === 0;
}

/** The content as JSON. A value that JSON would drop or garble is refused, and not passed on as `null` or `{}`. */
function contentOf(name: string, loaded: unknown): Json {
  const json = loaded === undefined ? undefined : wholeJson(loaded);
  if (json?.ok === true) return json.value;
  throw new WritError("knowledge-invalid", { name, reason: json?.reason ?? "`load` gave nothing" });
}
