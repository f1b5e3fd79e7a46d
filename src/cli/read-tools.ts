import { readFileSync } from "node:fs";
import { basename, extname } from "node:path";
import { decoded } from "../util/media.ts";
import { definitionOf, toolsIn } from "../adapters/agent-definition.ts";
import { messageOf, WritError } from "../error/writ-error.ts";
import type { DraftedTool } from "../policy/study/draft.ts";
import type { Tool } from "../tool/tool.ts";
import { asObject, isJsonObject, type Json, type JsonObject, own, parseJson } from "../util/json.ts";
import { type AnyAgent, checkFile, loadAgent, loadAgentOrTools, single } from "./load-agent.ts";

/** A tool as a file describes it. */
export interface ReadTool extends DraftedTool {
  /** The tool itself, of a program or a definition. */
  readonly made?: Tool;
}

/** Tools as a file describes them. */
export interface ToolsFile {
  /** The name of the agent; without an agent, the name of the file. */
  readonly name: string;
  readonly tools: readonly ReadTool[];
}

/**
 * Reads the tools of a file: a list in JSON (`name`, `description`, and the schema as `inputSchema`, `input_schema` or `parameters`; also the list of an MCP
 * server, the tools in a request of chat completions, or a suite), a program that exports an agent or tools, or a definition of an agent.
 *
 * @throws WritError `file-missing`, `tools-missing`, `option-invalid`, and the errors of loading an agent
 */
export async function readTools(path: string, definitionTools?: string): Promise<ToolsFile> {
  checkFile(path);
  const name = basename(path, extname(path));
  if (path.endsWith(".json")) {
    const parsed = parseJson(readText(path));
    if (!parsed.ok) throw invalid(path, `It cannot be read as JSON: ${parsed.reason}.`);
    const list = listOf(parsed.value);
    if (list !== undefined)
      return {
        name,
        tools: named(
          path,
          list.map((entry, index) => describedTool(path, entry, index)),
        ),
      };
  }
  if (/\.(?:json|md)$/.test(path)) return toolsOfAgent(await loadAgent(path, { tools: definitionTools }));
  const found = await loadAgentOrTools(path);
  return "run" in found ? toolsOfAgent(found) : { name, tools: found.map(toolAsDrafted) };
}

/** The text of a file. @throws WritError `file-unreadable` */
export function readText(path: string): string {
  try {
    return decoded(readFileSync(path));
  } catch (cause) {
    throw new WritError("file-unreadable", { path, reason: messageOf(cause) }, { cause });
  }
}

/** The list of tools in a JSON value; undefined for a value without one, such as the definition of an agent. */
function listOf(value: Json): readonly Json[] | undefined {
  const list = isJsonObject(value) ? own(value, "tools") : value;
  return Array.isArray(list) && list.length > 0 && list.every(isJsonObject) ? list : undefined;
}

function describedTool(path: string, entry: Json, index: number): DraftedTool {
  const outer = asObject(entry);
  const inner = own(outer, "function");
  const tool: JsonObject = isJsonObject(inner) ? inner : outer;
  const name = own(tool, "name");
  if (typeof name !== "string" || name === "") throw invalid(path, `The tool ${index + 1} has no name.`);
  const description = own(tool, "description");
  const schema = ["inputSchema", "input_schema", "parameters"]
    .map((key) => own(tool, key))
    .find(isJsonObject);
  return { name, description: typeof description === "string" ? description : "", schema: schema ?? {} };
}

/** Refuses two tools of one name: a policy could not tell them apart. */
function named(path: string, tools: readonly DraftedTool[]): readonly DraftedTool[] {
  const names = tools.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return tools;
  throw invalid(path, `The tool ${JSON.stringify(twice)} occurs twice.`);
}

function invalid(path: string, advice: string): WritError {
  return new WritError("option-invalid", { option: "<file>", value: path, advice });
}

function toolsOfAgent(agent: AnyAgent): ToolsFile {
  const tools = toolsIn(definitionOf(single(agent, "The tools")));
  const named = new Map(tools.map((tool) => [tool.name, tool]));
  return { name: agent.name, tools: [...named.values()].map(toolAsDrafted) };
}

function toolAsDrafted(made: Tool): ReadTool {
  const { name, description, input, effect, trusted, parameters } = made;
  return {
    made,
    name,
    description,
    schema: input.jsonSchema,
    said: {
      ...(effect === "undeclared" ? {} : { effect }),
      ...(trusted === undefined ? {} : { trusted }),
      parameters,
    },
  };
}
