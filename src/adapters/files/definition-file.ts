import { string, record } from "../../util/shape.ts";
import { checkArguments } from "../../error/check-shape.ts";
import { readdir } from "node:fs/promises";
import { extname, join } from "node:path";
import type { AgentDefinition, ModelSource } from "../../agent/definition.ts";
import { skill, type Skill } from "../../agent/skill.ts";
import { messageOf, WritError } from "../../error/writ-error.ts";
import { flattenTools, type Tools } from "../../policy/allow-list.ts";
import { type JsonSchema, pathText } from "../../schema/schema.ts";
import { toSchema } from "../../schema/to-schema.ts";
import type { Knowledge } from "../../tool/knowledge.ts";
import { checkName, type Tool } from "../../tool/tool.ts";
import type { JsonObject } from "../../util/json.ts";
import { didYouMean } from "../../util/nearest.ts";
import { modelNamed } from "../model/resolve.ts";
import { checkFields } from "./check-fields.ts";
import { jsonFields, markdownFields } from "./definition-fields.ts";
import {
  headLine,
  splitFrontMatter,
  type Located,
  type ReadFields,
  readFields,
  type Problem,
  problemLines,
} from "./located.ts";
import { readText, reasonOf } from "./read-text.ts";

/** A definition from a file, for `agent()`. */
export interface FileDefinition extends AgentDefinition<JsonSchema | undefined, JsonSchema | undefined> {
  /** Further data of the file, which only the program uses. */
  readonly metadata?: JsonObject;
}

/** Parts that the program adds to definitions. A file can only name tools, and cannot make code run. */
export interface DefinitionOptions {
  /** The tools that a file may name. A file without `tools` gets all of them. */
  readonly tools?: Tools;
  /** The model of a file that names none. */
  readonly model?: ModelSource;
  /** Knowledge that every skill of a file may read. */
  readonly knowledge?: readonly Knowledge[];
}

const maxBytes = 262_144;
const endings: readonly string[] = [".md", ".json"];

/**
 * Reads the definition of an agent from a Markdown file, whose front matter has the fields and whose body is the instructions, or from a JSON
 * file. The fields are named as in `agent()`: name, description, model, driver, tools, toolsDeny, skills, budget, settings, toolChoice,
 * lastTurn, endOn, input, output, metadata, and in JSON instructions.
 *
 * `tools` lists names of the given tools; absent or null means all of them, an empty list means none. `toolsDeny` removes some. A skill's
 * `tools` work the same among the agent's.
 *
 * @throws WritError `definition-file-invalid` with everything that is wrong, each with its line and field
 * @example
 * ```ts
 * import { agent, tool } from "writ";
 * import { loadAgent } from "writ/files";
 * import { z } from "zod";
 *
 * const search = tool({
 *   name: "search",
 *   description: "Searches the notes",
 *   inputSchema: z.object({ words: z.string() }),
 *   execute: ({ words }) => `nothing about ${words}`,
 * });
 *
 * const researcher = agent(await loadAgent("agents/researcher.md", { tools: [search] }));
 * console.log(await researcher("What do we know about tea?"));
 * ```
 */
export async function loadAgent(path: string, options: DefinitionOptions = {}): Promise<FileDefinition> {
  checkArguments("loadAgent()", { path, options }, { path: string, options: record });
  const { definition, problems } = await readDefinition(path, options);
  if (definition === undefined) throw invalid(path, problems);
  return definition;
}

/**
 * Reads every `.md` and `.json` file of a folder as a definition, in the order of their names. README.md, hidden files and folders in it are
 * ignored. Two agents with one name are an error.
 *
 * @throws WritError `definition-file-invalid` with everything that is wrong in all files
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { loadAgents } from "writ/files";
 *
 * const agents = (await loadAgents("agents", { model: "ollama/qwen2.5:7b" })).map((definition) => agent(definition));
 * console.log(agents.map(({ name }) => name));
 * ```
 */
export async function loadAgents(
  folder: string,
  options: DefinitionOptions = {},
): Promise<readonly FileDefinition[]> {
  checkArguments("loadAgents()", { folder, options }, { folder: string, options: record });
  const paths = (await namesIn(folder)).map((name) => join(folder, name));
  const read = await Promise.all(paths.map((path) => readDefinition(path, options)));
  const problems = read.flatMap((each) => each.problems);
  const files = new Map<string, string>();
  const definitions: FileDefinition[] = [];
  for (const [index, { definition }] of read.entries()) {
    const file = paths[index] ?? folder;
    if (definition === undefined) continue;
    const first = files.get(definition.name);
    if (first !== undefined) problems.push({ file, field: "name", reason: `${first} has the same name` });
    files.set(definition.name, file);
    definitions.push(definition);
  }
  if (problems.length > 0) throw invalid(folder, problems);
  return definitions;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory() && isDefinitionFile(entry.name))
      .map(({ name }) => name)
      .filter((name) => !name.startsWith(".") && name.toLowerCase() !== "readme.md")
      .toSorted();
  } catch (error) {
    throw invalid(folder, [{ file: folder, reason: reasonOf(error) }]);
  }
}

/** True if the name of a file is that of a definition, and not of a program. */
export function isDefinitionFile(path: string): boolean {
  return endings.includes(extname(path).toLowerCase());
}

interface ReadDefinition {
  readonly definition?: FileDefinition;
  readonly problems: readonly Problem[];
}

interface Source {
  readonly read: ReadFields;
  readonly schema: JsonSchema;
  readonly instructions?: string;
}

async function readDefinition(file: string, options: DefinitionOptions): Promise<ReadDefinition> {
  const source = await sourceOf(file);
  if ("reason" in source) return { problems: [{ file, ...source }] };
  const { read, schema, instructions } = source;
  if (!read.ok) return { problems: [{ file, ...read.problem }] };
  const problems = await checkFields(read, { schema, file });
  if (problems.length > 0) return { problems };
  return built(read, { file, instructions, options });
}

async function sourceOf(file: string): Promise<Source | Pick<Problem, "line" | "reason">> {
  if (!isDefinitionFile(file)) return { reason: `its name must end in ${endings.join(" or ")}` };
  try {
    const { text, leftOutBytes } = await readText(file, { maxBytes });
    if (leftOutBytes > 0) return { reason: `is larger than ${maxBytes} bytes` };
    if (extname(file).toLowerCase() === ".json")
      return { read: await readFields({ text, format: "json" }), schema: jsonFields };
    const parts = splitFrontMatter(text);
    if ("reason" in parts) return { line: 1, reason: parts.reason };
    const read = await readFields({ text: parts.head, format: "yaml", firstLine: headLine });
    return { read, schema: markdownFields, instructions: parts.body };
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}

/** The fields in the form of the file's schema. */
interface Fields extends Omit<FileDefinition, "tools" | "skills"> {
  readonly tools?: readonly string[] | null;
  readonly toolsDeny?: readonly string[];
  readonly skills?: readonly SkillFields[];
}

interface SkillFields {
  readonly name: string;
  readonly description: string;
  readonly instructions?: string;
  readonly tools?: readonly string[] | null;
}

interface Around {
  readonly file: string;
  readonly instructions: string | undefined;
  readonly options: DefinitionOptions;
}

function built(read: Located, { file, instructions, options }: Around): ReadDefinition {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `checkFields` has checked the fields against this schema
  const { tools: names, toolsDeny = [], skills, ...fields } = read.fields as unknown as Fields;
  const { knowledge = [] } = options;
  const problems: Problem[] = [];
  const check: Check = (path, found) => {
    try {
      return found();
    } catch (error) {
      problems.push({ file, line: read.lineOf(path), field: pathText(path), reason: messageOf(error) });
      return undefined;
    }
  };
  const given = flattenTools(options.tools ?? []);
  const denied = new Set(toolsNamed(toolsDeny, { among: given, path: ["toolsDeny"], check }));
  const own = toolsNamed(names, { among: given, path: ["tools"], check }).filter((tool) => !denied.has(tool));
  const made = (skills ?? []).flatMap((entry, index): Skill[] => {
    const path = ["skills", index];
    const tools = toolsNamed(entry.tools, { among: own, path: [...path, "tools"], check });
    const one = check([...path, "name"], () => skill({ ...entry, tools, knowledge }));
    return one === undefined ? [] : [one];
  });
  const { name, model = options.model, input, output } = fields;
  check(["name"], () => checkName(name, "An agent"));
  const { model: named } = fields;
  if (typeof named === "string") check(["model"], () => modelNamed(named));
  const place = { name, role: "input", refusesSlips: true } as const;
  if (input !== undefined) check(["input"], () => toSchema(input, place));
  if (output !== undefined) check(["output"], () => toSchema(output, place));
  if (problems.length > 0) return { problems };
  const definition: FileDefinition = {
    ...fields,
    ...(instructions === undefined ? {} : { instructions }),
    model,
    ...(made.length === 0 ? { tools: [...own, ...knowledge] } : { tools: own, skills: made }),
  };
  return { definition, problems };
}

type Path = readonly (string | number)[];
type Check = <Value>(path: Path, found: () => Value) => Value | undefined;

interface Among {
  readonly among: readonly Tool[];
  readonly path: Path;
  readonly check: Check;
}

function toolsNamed(
  names: readonly string[] | null | undefined,
  { among, path, check }: Among,
): readonly Tool[] {
  if (names === null || names === undefined) return among;
  const byName = new Map(among.map((tool) => [tool.name, tool]));
  return [...new Set(names)].flatMap((name) => {
    const found = check([...path, names.indexOf(name)], () => toolNamed(name, byName));
    return found === undefined ? [] : [found];
  });
}

function toolNamed(name: string, known: ReadonlyMap<string, Tool>): Tool {
  const found = known.get(name);
  if (found !== undefined) return found;
  const there = known.size === 0 ? "no tools are given" : `given: ${[...known.keys()].join(", ")}`;
  throw new TypeError(`there is no tool "${name}" (${there})${didYouMean(name, known.keys())}`);
}

function invalid(where: string, problems: readonly Problem[]): WritError {
  return new WritError("definition-file-invalid", { where, problems: problemLines(problems) });
}
