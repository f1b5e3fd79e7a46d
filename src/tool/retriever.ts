import { checkShape, fromOne, closed, checkArguments } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import type { Json, JsonObject } from "../util/json.ts";
import { callable, finite, fits, object, optional, string, anything, list, record } from "../util/shape.ts";
import { wordIndex } from "../util/word-index.ts";
import { tool, type Tool, type ToolContext, type TypedTool } from "./tool.ts";

/** A piece of text that was found. */
export interface Passage {
  readonly text: string;
  /** The origin of the text, so that the model can name its source. */
  readonly source?: string;
  /** The score of the passage, on the retriever's own scale. */
  readonly score?: number;
}

/** The context of a search, apart from its query. */
export interface RetrieveOptions {
  /** The most passages that the model is shown. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** The definition of a retriever. */
export interface RetrieverDefinition {
  readonly name: string;
  /** A description of the texts that are searched, and when to search them. */
  readonly description: string;
  /** Searches; the best passage comes first. An empty list means that nothing was found. */
  readonly retrieve: (
    query: string,
    options: RetrieveOptions,
  ) => readonly Passage[] | Promise<readonly Passage[]>;
  /** The most passages that one call returns; the model may ask for fewer. Default 5. */
  readonly limit?: number;
}

/** The arguments of a retriever. */
export interface RetrieverQuery {
  readonly query: string;
  readonly limit?: number;
}

/**
 * Makes a tool from a search: the model passes a query and gets passages as JSON, each with `text` and, if
 * known, `source` and `score`. It returns at most `limit`, even if the search finds more. The author provides the index
 * (vectors, words, a web search).
 *
 * @throws WritError `name-invalid`, `definition-invalid`
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { retriever } from "writ/tools";
 *
 * const pages = [{ text: "Tea is served at four.", source: "house-rules.md" }];
 * const searchRules = retriever({
 *   name: "search_rules",
 *   description: "Searches the rules of the house",
 *   retrieve: (query) => pages.filter(({ text }) => text.toLowerCase().includes(query.toLowerCase())),
 * });
 *
 * export const butler = agent({ name: "butler", model: "ollama/qwen2.5:7b", tools: [searchRules] });
 * ```
 */
export function retriever(definition: RetrieverDefinition): TypedTool<RetrieverQuery, Json> {
  checkArguments("retriever()", { definition }, { definition: record });
  const { name, description, retrieve, limit: most = 5 } = definition;
  checkShape(`Retriever "${name}"`, definition, shape);
  const made = tool({
    name,
    description,
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", minLength: 1, description: "What to look for" },
        limit: { type: "integer", minimum: 1, maximum: most, description: "How many passages at most" },
      },
      required: ["query"],
      additionalProperties: false,
    },
    effect: "read",
    async execute(args: unknown, { signal }: ToolContext): Promise<Json> {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema above parsed them
      const { query, limit = most } = args as RetrieverQuery;
      const found: unknown = await retrieve(query, { limit, signal });
      if (!Array.isArray(found))
        throw new WritError("retriever-invalid", { name, reason: "it gave no list of passages" });
      return found.slice(0, limit).map((entry, index) => passageOf(name, index, entry));
    },
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema above takes these arguments
  return made as Tool as TypedTool<RetrieverQuery, Json>;
}

const shape = closed({ name: anything, description: anything, retrieve: callable, limit: optional(fromOne) });

/**
 * Searches passages by their words, for a {@link retriever}: the best matches come first, and rare words
 * count more than frequent ones. It suits a few thousand passages, which are read once, here.
 *
 * @example
 * ```ts
 * import { byWords, retriever } from "writ/tools";
 *
 * const pages = [
 *   { text: "Tea is served at four.", source: "house-rules.md" },
 *   { text: "Dogs wait outside.", source: "house-rules.md" },
 * ];
 *
 * export const rules = retriever({ name: "rules", description: "The rules of the house", retrieve: byWords(pages) });
 * ```
 */
export function byWords(passages: readonly Passage[]): RetrieverDefinition["retrieve"] {
  checkArguments(
    "byWords()",
    { passages },
    { passages: list(object({ text: string }), "a list of passages") },
  );
  const search = wordIndex(
    passages.map(({ text, source = "" }) => [
      { text, weight: 1 },
      { text: source, weight: 1 },
    ]),
  );
  return (query, { limit }) =>
    search(query)
      .slice(0, limit)
      .flatMap(({ index, score }) => {
        const passage = passages[index];
        return passage === undefined ? [] : [{ ...passage, score: Math.round(score * 100) / 100 }];
      });
}

const passageShape = object({ text: string, source: optional(string), score: optional(finite) });

/** The passage as the model gets it: only its known fields, because an index often returns more. */
function passageOf(name: string, index: number, entry: unknown): JsonObject {
  if (!fits(passageShape, entry)) {
    const reason = `passage ${index + 1} has a wrong \`${passageShape.misfit(entry)?.path || "text"}\``;
    throw new WritError("retriever-invalid", { name, reason });
  }
  const { text, source, score } = entry;
  return { text, ...(source === undefined ? {} : { source }), ...(score === undefined ? {} : { score }) };
}
