import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isDefinitionFile, loadAgent as readDefinition } from "../adapters/files/definition-file.ts";
import { agent } from "../adapters/node.ts";
import type { Agent } from "../agent/agent.ts";
import type { ModelSource } from "../agent/definition.ts";
import { isWritError, messageOf, WritError } from "../error/writ-error.ts";
import type { Tool } from "../tool/tool.ts";
import { placeInCode } from "./place-in-code.ts";

/** Any agent, with any input and output. */
export type AnyAgent = Agent;

/** @throws WritError `file-missing` if there is no file at the path. */
export function checkFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() !== true)
    throw new WritError("file-missing", {
      path,
      instead: found?.isDirectory() === true ? ": it is a folder." : ".",
    });
}

/** The parts that the command line adds to a definition in Markdown or JSON. */
interface DefinitionFlags {
  /** The path of a program that exports the tools which the definition names. A definition cannot name a program itself. */
  readonly tools?: string;
  /** The model of a definition that names none. */
  readonly model?: ModelSource;
}

/**
 * Loads the agent of a file: from a program (TypeScript or JavaScript) the default export, or the only export that is an agent; from a `.md` or `.json`
 * file the agent that it defines. Node strips the types of TypeScript itself; imports of a program are resolved in the user's project.
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

/** Returns an agent that `agent()` made, for a command that needs its definition. @throws WritError `definition-invalid` for a composition */
export function single(agent: AnyAgent, command: string): AnyAgent {
  if (isSingle(agent)) return agent;
  const reason = "it is a composition of agents. Name the file of one of them.";
  throw new WritError("definition-invalid", { where: `${command} of "${agent.name}"`, reason });
}

/** The agents of several files. @throws WritError the errors of {@link loadAgent}, `name-taken` */
export async function loadAgents(paths: readonly string[]): Promise<readonly AnyAgent[]> {
  const agents = await Promise.all(paths.map((path) => loadAgent(path)));
  checkAgentNames(agents, paths);
  return agents;
}

/** @throws WritError `name-taken` if agents of two of these files have one name */
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

/** The agent that a program exports, or its tools if it exports no agent. @throws WritError `agent-file-broken`, `agent-ambiguous`, `tools-missing` */
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

/** True for a tool, also of another copy of the package. A file may export anything. */
function isTool(value: unknown): value is Tool {
  if (typeof value !== "object" || value === null) return false;
  const { name, input, execute } = value as Partial<Tool>;
  return typeof name === "string" && typeof execute === "function" && typeof input?.parse === "function";
}

/** True for an agent, also of another copy of the package. A file may export anything. */
export function isAgent(value: unknown): value is AnyAgent {
  if (typeof value !== "function") return false;
  const { run, stream } = value as Partial<AnyAgent>;
  return typeof run === "function" && typeof stream === "function";
}

/** Imports a program. If its top level never ends and nothing keeps the process, Node would exit without naming the program. */
function importFile(path: string): Promise<Readonly<Record<string, unknown>>> {
  return orBroken(path, async () => {
    const { promise: idle, reject } = Promise.withResolvers<never>();
    const onIdle = (): void => reject(new Error("its top level waits for something that never comes"));
    process.once("beforeExit", onIdle);
    try {
      return await Promise.race([import(pathToFileURL(resolve(path)).href), idle]);
    } finally {
      process.off("beforeExit", onIdle);
    }
  });
}

/** Makes a value from the user's file, or throws the error that it is broken, with the place and the code. */
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

/** Advice about a program that Node cannot load, by the text of Node's error. */
function loadAdvice(cause: unknown): string {
  const { code = "", url } = Object(cause) as { readonly code?: string; readonly url?: string }; // oxlint-disable-line typescript/no-unsafe-type-assertion -- it is looked at
  const message = messageOf(cause);
  if (code === "ERR_MODULE_NOT_FOUND") return aboutMissing(message, url);
  const found = advices.find(([sign]) => sign.test(code) || sign.test(message));
  if (found !== undefined) return found[1];
  const [, module, name] = /module '([^']+)' does not provide an export named '([^']+)'/.exec(message) ?? [];
  return module === undefined || name === undefined ? "Correct the file." : aboutName(module, name);
}

const advices: readonly (readonly [sign: RegExp, advice: string])[] = [
  [
    /^ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX$/,
    "Node removes types but translates nothing: write it without enums, namespaces and parameter properties (`erasableSyntaxOnly` in tsconfig.json finds them), or name the compiled JavaScript.",
  ],
  [
    /^ERR_UNKNOWN_FILE_EXTENSION$/,
    "Node runs .ts, .mts, .cts, .js, .mjs and .cjs: rename the file, or name the compiled JavaScript.",
  ],
  [
    /^Cannot use import statement outside a module$/,
    "Set `type` to `module` in package.json (npm pkg set type=module), or give the file the ending .mts.",
  ],
  [/^require is not defined/, "Write `import` in place of `require`, or give the file the ending .cts."],
  [/^__dirname is not defined/, "Write `import.meta.dirname` in place of `__dirname`."],
  [/^__filename is not defined/, "Write `import.meta.filename` in place of `__filename`."],
];

/** Advice about a missing file, whose import lacks the ending or names JavaScript that was not built, or about a missing package. */
function aboutMissing(message: string, url: string | undefined): string {
  if (url === undefined) {
    const [, name = ""] = /package '([^']+)'/.exec(message) ?? [];
    return /^[@~]\/|^#/.test(name)
      ? "Node does not read `paths` of tsconfig.json: write the path of the file, or use `imports` of package.json."
      : `Install it (npm i ${name}), or correct its name.`;
  }
  const path = fileURLToPath(url);
  const meant = [
    `${path}.ts`,
    `${path}.js`,
    path.replace(/\.([cm]?)js$/, ".$1ts"),
    join(path, "index.ts"),
  ].find((file) => file !== path && existsSync(file));
  return meant === undefined
    ? "Correct the path of the import."
    : `Node needs the full name of a file: import ${meant}.`;
}

/** Advice about a name that a module does not export: the entry of writ that has it, or that it may be a type. */
function aboutName(module: string, name: string): string {
  const found = /^writ(?:\/|$)/.test(module) ? entriesWith(name) : [];
  const [first] = found;
  if (first === undefined)
    return `Correct the name; a type is imported by \`import type { ${name} } from "${module}"\`.`;
  const entry = found.find((each) => each.module === module) ?? first;
  return `Write \`import ${entry.isType ? "type " : ""}{ ${name} } from "${entry.module}"\`.`;
}

/** The folder of this package, from the source and from the build. */
const packageFolder = join(import.meta.dirname, "../..");

/** The entries of writ that export a name. A type stands in their declarations alone. */
function entriesWith(name: string): readonly { readonly module: string; readonly isType: boolean }[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the package is this one
  const { exports } = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, { readonly types?: string; readonly default?: string }>>;
  };
  return Object.entries(exports).flatMap(([path, { types, default: code }]) =>
    isExported(name, types) ? [{ module: `writ${path.slice(1)}`, isType: !isExported(name, code) }] : [],
  );
}

/** True if a file of the package exports a name. */
function isExported(name: string, path: string | undefined): boolean {
  const file = join(packageFolder, path ?? "");
  const text = path !== undefined && existsSync(file) ? readFileSync(file, "utf8") : "";
  return [...text.matchAll(/^export \{([^}]*)\}/gm)].some(([, names = ""]) =>
    names.split(",").some((part) => part.trim().split(" as ").at(-1) === name),
  );
}
