import "../check-node.ts";
import { checkShape, closed } from "../../error/check-shape.ts";
import { WritError } from "../../error/writ-error.ts";
import { anything, boolean, optional, type Shape, shapeOf } from "../../util/shape.ts";
import { type Capability, exec, fs } from "../../tool/capability.ts";
import type { ExecResult, Handles, Secret } from "../../tool/handles.ts";
import { type Effect, tool, type Tool } from "../../tool/tool.ts";
import { isRefusedVariable } from "../capability/exec-variables.ts";
import { checkBound } from "./file-tools.ts";

/** The settings of a shell tool. */
export interface ShellToolOptions {
  /** The name. Default `run_program`. */
  readonly name?: string;
  /**
   * The programs that may be run. A list names them: `["ls", "wc"]`. An object gives each a name for the
   * model, and first arguments that come before the model's: `{ log: ["git", "log", "--oneline"] }`.
   */
  readonly programs:
    | readonly string[]
    | Readonly<Record<string, readonly [program: string, ...args: string[]]>>;
  /**
   * The folder that they run in: an absolute path, or a `file:` address. Default: a new empty folder for each
   * call.
   */
  readonly cwd?: string | URL;
  /**
   * Variables: texts, `env("NAME")` for a variable of this process, `secret("NAME")`. The programs also get PATH,
   * HOME (an empty folder) and LANG.
   */
  readonly env?: Readonly<Record<string, string | Capability<"env"> | Capability<"secret">>>;
  /**
   * The milliseconds after which a program is stopped; the model is told what it printed until then. Default
   * 120,000.
   */
  readonly timeMs?: number;
  /** The most bytes of each output that the model is told; the middle of a longer output is left out. Default 32,000. */
  readonly outputBytes?: number;
  /** The effect of the programs on the world. Default `irreversible`. */
  readonly effect?: Exclude<Effect, "undeclared">;
  /** Declares the output of the programs as the author's own data. Default false. */
  readonly trusted?: boolean;
}

/**
 * Makes a tool with which a model runs the programs of a list. No shell reads the arguments, the environment has
 * only the named variables, PATH, HOME and LANG, and the whole process group ends with the call. The tool needs `exec` of each
 * program, `fs.read` of the folder, and the `env` and `secret` of its variables: the agent grants them. The behaviour of a running program, and its
 * options, are not judged: name only programs that may do everything they can.
 *
 * @throws WritError `definition-invalid`, `capability-invalid`
 * @example
 * ```ts
 * import { agent, exec, fs } from "writ";
 * import { shellTool } from "writ/workspace";
 *
 * const cwd = "/srv/project";
 *
 * export const clerk = agent({
 *   name: "clerk",
 *   model: "ollama/qwen2.5:7b",
 *   tools: [shellTool({ programs: { log: ["git", "log", "--oneline"], count: ["wc", "-l"] }, cwd, effect: "read" })],
 *   grants: [exec("git"), exec("wc"), fs.read(cwd)],
 * });
 * ```
 */
export function shellTool(options: ShellToolOptions): Tool {
  checkShape("shellTool()", options, optionsShape);
  const { name = "run_program", timeMs = 120_000, outputBytes = 32_000, effect = "irreversible" } = options;
  const { trusted = false, env = {} } = options;
  for (const [field, value] of Object.entries({ timeMs, outputBytes }))
    checkBound("shellTool()", field, value);
  const commands = commandsOf(options.programs);
  const cwd = options.cwd === undefined ? undefined : fs.read(options.cwd);
  const refused = Object.keys(env).find(isRefusedVariable);
  if (refused !== undefined) {
    const reason = `\`env.${refused}\` is refused: it changes which code programs load, or whom they trust.`;
    throw new WritError("definition-invalid", { where: "shellTool()", reason });
  }
  const asked = Object.values(env).filter((value) => typeof value !== "string");
  const files = new Set([...commands.values()].map(([program = ""]) => program));
  const needs: readonly Capability[] = [...files].map((program) => exec(program));
  return tool({
    name,
    description: `Run a program. No shell reads the arguments: there are no pipes, variables, redirections or wildcards. ${described(commands)}`,
    inputSchema: {
      type: "object",
      properties: {
        program: { type: "string", enum: [...commands.keys()] },
        args: {
          type: "array",
          items: { type: "string" },
          maxItems: 1000,
          description: "One entry for each argument",
        },
        input: { type: "string", description: "What the program reads from its standard input" },
      },
      required: ["program"],
      additionalProperties: false,
    },
    effect,
    trusted,
    timeoutMs: timeMs + graceMs,
    needs: [...needs, ...(cwd === undefined ? [] : [cwd]), ...asked],
    parameters: { program: "target", args: "target", input: "content" },
    async execute(args, context) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema above parsed them
      const { program, args: more = [], input } = args as unknown as ShellArguments;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the needs above give these handles
      const handles = context as unknown as Handles;
      const [file = "", ...first] = commands.get(program) ?? [];
      const result = await handles.exec(file, [...first, ...more], {
        ...(cwd !== undefined && { cwd: cwd.scope }),
        ...(input !== undefined && { input }),
        env: valuesOf(env, handles),
        timeoutMs: timeMs,
        maxBytes: outputBytes,
        onLimit: "cut",
      });
      return shown(result, timeMs);
    },
  });
}

const fields: { readonly [Field in keyof Required<ShellToolOptions>]: Shape<unknown> } = {
  name: anything,
  programs: shapeOf(
    "a list of programs, or an object of them",
    (value) => typeof value === "object" && value !== null,
  ),
  cwd: anything,
  env: anything,
  timeMs: anything,
  outputBytes: anything,
  effect: anything,
  trusted: optional(boolean),
};
const optionsShape = closed(fields);

interface ShellArguments {
  readonly program: string;
  readonly args?: readonly string[];
  readonly input?: string;
}

/** The extra time before the tool's own time-out: the time-out of the handle comes first, and tells more. */
const graceMs = 5_000;

type Commands = ReadonlyMap<string, readonly string[]>;

function commandsOf(programs: ShellToolOptions["programs"]): Commands {
  const given = programs as readonly string[] | Readonly<Record<string, readonly string[]>>;
  const entries = Array.isArray(given)
    ? given.map((program: string) => [program, [program]] as const)
    : // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a list of names was taken above
      Object.entries(given as Readonly<Record<string, readonly string[]>>);
  const wrong = entries.find(
    ([, words]) =>
      !Array.isArray(words) || words.length === 0 || !words.every((word) => typeof word === "string"),
  );
  if (entries.length > 0 && wrong === undefined) return new Map(entries);
  const reason =
    wrong === undefined
      ? "`programs` names none."
      : `\`programs.${wrong[0]}\` must be a list of the program and its first arguments.`;
  throw new WritError("definition-invalid", { where: "shellTool()", reason });
}

/** The fixed first arguments, so that the model knows what it adds to. */
function described(commands: Commands): string {
  const fixed = [...commands].filter(([name, words]) => words.length > 1 || words[0] !== name);
  if (fixed.length === 0) return "";
  return `The arguments are added to: ${fixed.map(([name, words]) => `${name} = ${words.join(" ")}`).join("; ")}.`;
}

function valuesOf(
  env: NonNullable<ShellToolOptions["env"]>,
  handles: Handles,
): Record<string, string | Secret> {
  const values: Record<string, string | Secret> = {};
  for (const [name, given] of Object.entries(env)) {
    const value =
      typeof given === "string"
        ? given
        : given.kind === "secret"
          ? handles.secret(given.scope)
          : handles.env(given.scope);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

/** The output of a program, and its end, as text for the model. */
function shown(
  { exitCode, signal, stdout, stderr, stoppedBy, leftOutBytes = 0 }: ExecResult,
  timeMs: number,
): string {
  const end =
    stoppedBy === "time"
      ? `stopped after ${timeMs} ms: it had not ended`
      : stoppedBy === "output"
        ? "stopped: it printed far too much"
        : exitCode === null
          ? `ended by ${signal ?? "a signal"}`
          : `exit code ${exitCode}`;
  return [
    ...printed(stdout),
    ...(stderr === "" ? [] : ["[standard error]", ...printed(stderr)]),
    ...(stdout === "" && stderr === "" ? ["[no output]"] : []),
    ...(leftOutBytes === 0
      ? []
      : ["[the middle of the output is left out: ask for less of it, or for one part after the other]"]),
    `[${end}]`,
  ].join("\n");
}

function printed(text: string): readonly string[] {
  if (text === "") return [];
  return text.includes("\0") ? ["[binary output, which is not shown]"] : [text.replace(/\n$/, "")];
}
