import { statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isDefinitionFile, loadAgent as readDefinition } from "../adapters/files/definition-file.ts";
import { agent } from "../adapters/node.ts";
import type { Agent } from "../agent/agent.ts";
import type { ModelSource } from "../agent/definition.ts";
import { isWritError, messageOf, WritError } from "../error/writ-error.ts";
import { loadAdvice } from "./load-advice.ts";
import { placeInCode } from "./place-in-code.ts";
import type { Tool } from "../tool/tool.ts";

/** Any agent, whatever it takes and gives. */
export type AnyAgent = Agent;

/** @throws WritError `file-missing` when there is no file at the path. */
export function checkFile(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
    throw new WritError("file-missing", { path });
}

/** Parts that the command line gives to a definition in Markdown or JSON. */
export interface DefinitionFlags {
  /** The path of a program that exports the tools which the definition names. A definition cannot name a program itself. */
  readonly tools?: string;
  /** The model of a definition that names none. */
  readonly model?: ModelSource;
}

/**
 * Loads the agent of a file: of a program (TypeScript or JavaScript) the default export, or the only export that is one; of a `.md` or `.json`
 * file the agent that it defines. Node strips the types of TypeScript itself; what a program imports is resolved in the user's project.
 *
 * @throws WritError `file-missing`, `agent-file-broken` (with the place in the user's code, and the user's error as cause), `agent-missing`,
 * `agent-ambiguous`, `definition-file-invalid`, `tools-missing`, `option-invalid`
 */
export async function loadAgent(path: string, { tools, model }: DefinitionFlags = {}): Promise<AnyAgent> {
  checkFile(path);
  if (isDefinitionFile(path)) {
    const given = tools === undefined ? [] : await loadTools(tools);
    const definition = await readDefinition(path, { tools: given, model });
    return orBroken(path, () => agent(definition));
  }
  if (tools !== undefined) {
    const advice = "It goes with a definition in Markdown or JSON: a program has its tools already.";
    throw new WritError("option-invalid", { option: "--tools", value: tools, advice });
  }
  return agentAmong(path, await importFile(path));
}

/** True for an agent that `agent()` made: a composition of agents has no definition. */
export const isSingle = (agent: Partial<AnyAgent>): boolean => typeof agent.manifest === "function";

/** Gives an agent that `agent()` made, to a command that needs its definition. @throws WritError `definition-invalid` for a composition */
export function single(agent: AnyAgent, command: string): AnyAgent {
  if (isSingle(agent)) return agent;
  const reason = "it is put together of agents. Name the file of one of them.";
  throw new WritError("definition-invalid", { where: `${command} of "${agent.name}"`, reason });
}

/** The agents of several files. @throws WritError as {@link loadAgent}, `name-taken` */
export async function loadAgents(paths: readonly string[]): Promise<readonly AnyAgent[]> {
  const agents = await Promise.all(paths.map((path) => loadAgent(path)));
  checkAgentNames(agents, paths);
  return agents;
}

/** @throws WritError `name-taken` where agents of two of these files have one name */
export function checkAgentNames(agents: readonly AnyAgent[], paths: readonly string[]): void {
  const placeOf = new Map<string, string>();
  for (const [index, { name }] of agents.entries()) {
    const path = paths[index] ?? "";
    const other = placeOf.get(name);
    if (other !== undefined)
      throw new WritError("name-taken", { kind: "agent", name, where: `${other} and ${path}` });
    placeOf.set(name, path);
  }
}

/** The agent that a program exports, or else its tools. @throws WritError `agent-file-broken`, `agent-ambiguous`, `tools-missing` */
export async function loadAgentOrTools(path: string): Promise<AnyAgent | readonly Tool[]> {
  const exported = await importFile(path);
  return Object.values(exported).some(isAgent) ? agentAmong(path, exported) : toolsAmong(path, exported);
}

/** @throws WritError `file-missing`, `agent-file-broken`, `tools-missing` */
async function loadTools(path: string): Promise<readonly Tool[]> {
  checkFile(path);
  return toolsAmong(path, await importFile(path));
}

function toolsAmong(path: string, exported: Readonly<Record<string, unknown>>): readonly Tool[] {
  const tools = [...new Set(Object.values(exported).flatMap(toolsIn))];
  if (tools.length > 0) return tools;
  throw new WritError("tools-missing", { path, found: Object.keys(exported).join(", ") || "nothing" });
}

function toolsIn(value: unknown): readonly Tool[] {
  if (Array.isArray(value)) return value.flatMap(toolsIn);
  return isTool(value) ? [value] : [];
}

/** Tells tools from everything else a file may export, also those of another copy of the package. */
function isTool(value: unknown): value is Tool {
  if (typeof value !== "object" || value === null) return false;
  const { name, input, execute } = value as Partial<Tool>;
  return typeof name === "string" && typeof execute === "function" && typeof input?.parse === "function";
}

/** Tells agents from everything else a file may export, also those of another copy of the package. */
export function isAgent(value: unknown): value is AnyAgent {
  if (typeof value !== "function") return false;
  const { run, stream } = value as Partial<AnyAgent>;
  return typeof run === "function" && typeof stream === "function";
}

/** Imports a program. One whose top level never ends leaves the process with nothing to do: Node would end it without a word of the program. */
function importFile(path: string): Promise<Readonly<Record<string, unknown>>> {
  return orBroken(path, async () => {
    const { promise: idle, reject } = Promise.withResolvers<never>();
    const onIdle = (): void => reject(new Error("its top level waits for what never comes"));
    process.once("beforeExit", onIdle);
    try {
      return await Promise.race([import(pathToFileURL(resolve(path)).href), idle]);
    } finally {
      process.off("beforeExit", onIdle);
    }
  });
}

/** Makes something of the user's file, or the error that it is broken, with the place and the code. */
async function orBroken<Value>(path: string, make: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await make();
  } catch (cause) {
    const place = placeInCode(cause);
    const code = isWritError(cause) ? `[${cause.code}] ` : "";
    const reason = `${code}${firstLine(messageOf(cause))}${place === undefined ? "" : ` (${place})`}`;
    throw new WritError("agent-file-broken", { path, reason, advice: loadAdvice(cause) }, { cause });
  }
}

function agentAmong(path: string, exported: Readonly<Record<string, unknown>>): AnyAgent {
  if (isAgent(exported["default"])) return exported["default"];
  const names = Object.keys(exported);
  const agents = names.filter((name) => isAgent(exported[name]));
  if (new Set(agents.map((name) => exported[name])).size > 1) {
    throw new WritError("agent-ambiguous", { path, found: agents.join(", ") });
  }
  const only = exported[agents[0] ?? ""];
  if (isAgent(only)) return only;
  throw new WritError("agent-missing", { path, found: names.length === 0 ? "nothing" : names.join(", ") });
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
