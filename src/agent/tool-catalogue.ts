import { WritError } from "../error/writ-error.ts";
import { flattenTools, type Tools } from "../policy/allow-list.ts";
import { isJsonObject } from "../util/json.ts";
import { didYouMean } from "../util/nearest.ts";
import { wordIndex } from "../util/word-index.ts";
import { type Mode, tool, type Tool } from "../tool/tool.ts";
import { checkShape, closed } from "../error/check-shape.ts";
import { anything, list, optional, string } from "../util/shape.ts";

/** The settings of a catalogue. */
export interface ToolCatalogueDefinition {
  /** The tools that can be found, in lists of any depth. */
  readonly tools: Tools;
  /** The name of the tool that finds them. Default `find_tools`. */
  readonly name?: string;
  /** The most tools that one search returns. Default 5. */
  readonly limit?: number;
}

/**
 * Makes a catalogue of many tools: the model is told of one tool, with which it searches for others. The tools
 * that it found are offered to it in all later turns of the run. The allow-list has all tools from the
 * beginning and alone decides what a call may do, so that a call of a tool that the model
 * knows from elsewhere runs like any other.
 *
 * The tool takes `query` (words: the best tools come first), `names` (exact names: their arguments too), or
 * neither: then it lists all names, from `offset` on. Put the result into a list of tools; other tools in that list are
 * always offered.
 *
 * @throws WritError `definition-invalid`, `name-invalid`, `name-taken`
 * @example
 * ```ts
 * import { agent, tool } from "writ";
 * import { toolCatalogue } from "writ/tools";
 * import { z } from "zod";
 *
 * const cities = ["Lima", "Oslo", "Rome"].map((city) =>
 *   tool({ name: `weather_${city}`, description: `The weather in ${city}`, inputSchema: z.object({}), execute: () => "sunny" }),
 * );
 *
 * export const guide = agent({ name: "guide", model: "ollama/qwen2.5:7b", tools: [toolCatalogue({ tools: cities })] });
 * ```
 */
export function toolCatalogue(definition: ToolCatalogueDefinition): readonly Tool[] {
  checkShape("toolCatalogue()", definition, shape);
  const { tools, name = "find_tools", limit = 5 } = definition;
  const where = `toolCatalogue() with the tool "${name}"`;
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new WritError("definition-invalid", { where, reason: "`limit` must be a whole number from 1 on." });
  const entries = flattenTools(tools);
  if (entries.length === 0) throw new WritError("definition-invalid", { where, reason: "`tools` has none." });
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  if (byName.size < entries.length || byName.has(name)) {
    const names = [name, ...entries.map((entry) => entry.name)];
    const taken = names.find((each, index) => names.indexOf(each) !== index) ?? name;
    throw new WritError("name-taken", { kind: "tool", name: taken, where });
  }
  return [
    finderTool({ name, limit, byName, search: searchIn(entries) }),
    ...entries.map((entry): Tool => ({ ...entry, isCatalogued: true })),
  ];
}

const shape = closed({ tools: list(anything, "a list of tools"), name: optional(string), limit: anything });

/**
 * Searches tools by words, best first. The name counts most, then the description, then the names of the
 * arguments.
 */
function searchIn(entries: readonly Tool[]): (query: string) => readonly Tool[] {
  const search = wordIndex(
    entries.map(({ name, description, input: { jsonSchema } }) => {
      const { properties } = jsonSchema;
      return [
        { text: name, weight: 3 },
        { text: description, weight: 1 },
        { text: isJsonObject(properties) ? Object.keys(properties).join(" ") : "", weight: 0.5 },
      ];
    }),
  );
  return (query) => search(query).flatMap(({ index }) => entries[index] ?? []);
}

interface Finder {
  readonly name: string;
  readonly limit: number;
  readonly byName: ReadonlyMap<string, Tool>;
  readonly search: (query: string) => readonly Tool[];
}

interface FindArguments {
  readonly query?: string;
  readonly names?: readonly string[];
  readonly offset?: number;
}

function finderTool(finder: Finder): Tool {
  const { name, limit, byName } = finder;
  const made = tool({
    name,
    description: `Look for more tools: there are ${byName.size}, and only those that were found can be seen. Give words in query, or exact names in names, which tells their arguments too; without both, all names are listed. What was found can be called from then on.`,
    inputSchema: {
      type: "object",
      properties: {
        query: {
          type: "string",
          description: `What the tool should do, in a few words; at most ${limit} are found`,
        },
        names: { type: "array", items: { type: "string" }, maxItems: 20, description: "Exact names" },
        offset: { type: "integer", minimum: 0, description: "How many to leave out. Default 0" },
      },
      additionalProperties: false,
    },
    effect: "none",
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema above parsed them
    execute: (args: unknown) => answerTo(finder, args as FindArguments),
  });
  // The search is repeated: an offer has to follow from the arguments, as in a replay.
  const mode = (args: unknown): Mode | undefined => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema above parsed them
    const offer = foundBy(finder, args as FindArguments).map((each) => each.name);
    return offer.length === 0 ? undefined : { offer };
  };
  return { ...made, mode };
}

function foundBy(
  { byName, search, limit }: Finder,
  { query = "", names = [], offset = 0 }: FindArguments,
): readonly Tool[] {
  const named = names.flatMap((name) => byName.get(name) ?? []);
  const searched = query.trim() === "" ? [] : search(query).slice(offset, offset + limit);
  return [...new Set([...named, ...searched])];
}

const namesShown = 200;
const longestDescription = 200;

function answerTo(finder: Finder, args: FindArguments): string {
  const { query = "", names = [], offset = 0 } = args;
  const { byName, limit, search } = finder;
  if (query.trim() === "" && names.length === 0) return listOf([...byName.keys()], offset);
  const unknown = names.filter((name) => !byName.has(name));
  const found = foundBy(finder, args);
  const fitting = query.trim() === "" ? 0 : search(query).length;
  const left = fitting - offset - limit;
  return [
    ...unknown.map((name) => `There is no tool ${JSON.stringify(name)}${didYouMean(name, byName.keys())}`),
    found.length > 0
      ? "These can be called from now on:"
      : fitting > 0
        ? `There are no more: ${fitting} fit in all.`
        : unknown.length === 0
          ? "No tool fits. Try other words, or list all names by giving nothing."
          : "Nothing was found.",
    ...found.map((each) => lineOf(each, names.includes(each.name))),
    ...(left > 0 ? [`[${left} more fit less well; go on with offset ${offset + limit}]`] : []),
  ].join("\n");
}

function lineOf({ name, description, input }: Tool, isWhole: boolean): string {
  if (isWhole) return `- ${name}: ${description}\n  arguments: ${JSON.stringify(input.jsonSchema)}`;
  const cut =
    description.length <= longestDescription ? description : `${description.slice(0, longestDescription)}…`;
  return `- ${name}: ${cut}`;
}

function listOf(names: readonly string[], offset: number): string {
  const shown = names.slice(offset, offset + namesShown);
  const left = names.length - offset - shown.length;
  const end =
    left > 0 ? `[${left} more; go on with offset ${offset + shown.length}]` : `[${names.length} in all]`;
  return `${shown.join(", ")}\n${end}`;
}
