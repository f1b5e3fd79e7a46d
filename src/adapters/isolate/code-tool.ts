import { checkShape } from "../../error/check-shape.ts";
import { record } from "../../util/shape.ts";
import { isWritError, messageOf, WritError } from "../../error/writ-error.ts";
import type { Capability } from "../../tool/capability.ts";
import { enforcedTool } from "../../tool/enforcement.ts";
import { tool, type Tool, type ToolDefinition, type TypedTool } from "../../tool/tool.ts";
import { asObject, type Json, parseJson } from "../../util/json.ts";
import { waitMs } from "../wait-ms.ts";
import type { GivenFunction } from "./broker.ts";
import { callCell, warmPool } from "./call-cell.ts";
import { boundFunctions, codeFunctions } from "./code-functions.ts";
import { isFunctionName } from "./code-names.ts";
import { openPool } from "./pool.ts";
import { interpreter, startInterpreter } from "./quickjs.ts";

/** The arguments of the tool: code, and its input. */
export interface CodeArguments {
  readonly code: string;
  readonly input?: Json;
}

/** The definition of a tool that runs code written by a model. */
export interface CodeToolDefinition<Needs extends readonly Capability[] = readonly Capability[]> extends Pick<
  ToolDefinition<never, Json, Needs>,
  "effect" | "parameters" | "trusted" | "secrecy" | "recover" | "constraints"
> {
  /** The name. Default `run_code`. */
  readonly name?: string;
  /** The text for the model before the list of what the code can use. */
  readonly description?: string;
  /** The powers of the code, as functions that take and return JSON. `secret` is not possible: give a function that uses it. */
  readonly needs?: Needs;
  /**
   * Further functions for the code. They get the code's arguments, which are unchecked JSON.
   * They run in this process, and no policy judges their calls. Their names may not be words or built-in objects of JavaScript.
   */
  readonly functions?: Readonly<Record<string, (...args: Json[]) => unknown>>;
  /** The time that a piece of code may take, including waiting, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number;
  /** The memory that it may take with its interpreter, in bytes: at least 17,000,000. Default 32,000,000. */
  readonly memoryBytes?: number;
  /** The most characters of its value as JSON. Default 1,000,000. */
  readonly resultChars?: number;
}

const inputSchema = {
  type: "object",
  properties: {
    code: { type: "string", description: "JavaScript", maxLength: 100_000 },
    input: { description: "JSON that the code finds as `input`" },
  },
  required: ["code"],
  additionalProperties: false,
} as const;

/**
 * Makes a tool that runs JavaScript written by a model: in QuickJS, an interpreter with its own heap, in a process of its own (under
 * bubblewrap if that works). The code has only `input` and the given functions: no `process`, no `import`, no `fetch`, no timers. It is an
 * expression, a script whose last expression is its value, or the body of an async function that returns it. The value must be JSON. Nothing
 * is kept between two pieces of code.
 *
 * @throws WritError `peer-missing` if `quickjs-emscripten` is not installed, `enforcement-unavailable` if the interpreter does not isolate,
 * `definition-invalid`, and the errors of {@link tool}. A call throws an error with the code's own message if the code fails, and `isolate-failed` if its
 * process had to be ended.
 * @example
 * ```ts
 * import { codeTool } from "writ/isolate";
 *
 * const prices = new Map([["tea", 3]]);
 * export const calculate = await codeTool({
 *   functions: { price: (name) => prices.get(String(name)) ?? null },
 *   timeoutMs: 1_000,
 * });
 * ```
 */
export async function codeTool<const Needs extends readonly Capability[] = readonly []>(
  definition: CodeToolDefinition<Needs> = {},
): Promise<TypedTool<CodeArguments, Json>> {
  checkShape("codeTool()", definition, record);
  const { functions = {}, memoryBytes = 32_000_000, resultChars = 1_000_000, ...about } = definition;
  const { name = "run_code", needs, timeoutMs = 5_000 } = about;
  checkBounds(name, { timeoutMs, memoryBytes, resultChars });
  if (needs?.some(({ kind }) => kind === "secret") === true)
    throw invalid(name, "code that a model writes gets no `secret`: give it a function that uses it.");
  const handles = codeFunctions((needs ?? []).map(({ kind }) => kind));
  const names = [...handles.map((each) => each.name), ...Object.keys(functions)];
  checkNames(name, names);
  const start = { memoryBytes, handles: names.map((each) => `functions.${each}`) };
  const pool = openPool({ start: () => startInterpreter(start), processes: 2, idleMs: 30_000, fresh: false });
  const { effect = names.length === 0 ? "none" : undefined } = definition;
  const made = tool<typeof inputSchema, Json, readonly Capability[]>({
    ...about,
    name,
    description: describe(definition.description, [
      ...handles.map(({ usage }) => usage),
      ...Object.keys(functions).map((each) => `${each}(...)`),
    ]),
    inputSchema,
    effect,
    timeoutMs: timeoutMs + answerMs + startMs,
    execute: async ({ code, input = null }, context) => {
      const job = {
        code,
        input,
        functions: names,
        timeoutMs: waitMs(timeoutMs),
        memoryBytes,
        resultBytes: resultChars,
      };
      const own = Object.entries(functions).map(([each, call]): [string, GivenFunction] => [
        each,
        (given) => call(...given),
      ]);
      const given = { functions: new Map([...boundFunctions(handles, context), ...own]) };
      const calling = { tool: name, args: job, context, handles: given, timeoutMs: timeoutMs + answerMs };
      return valueOf(await callCell(pool, calling));
    },
  });
  const unavailable = (reason: string, cause?: unknown): WritError =>
    new WritError("enforcement-unavailable", { tool: name, reason }, { cause });
  const found = await interpreter().catch((cause) => {
    throw isWritError(cause) ? cause : unavailable(messageOf(cause), cause);
  });
  const open = found.probes.flatMap((probe) => (probe.held ? [] : [probe.name]));
  if (open.length > 0) throw unavailable(`QuickJS does not hold code here (${open.join(", ")})`);
  await warmPool(pool, name);
  const enforcement = {
    level: "isolated",
    mechanism: "quickjs",
    platform: `${process.platform}-${process.arch}`,
    probes: found.probes,
  } as const;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema says of the arguments what the type says
  return enforcedTool(made as Tool, () => enforcement) as TypedTool<CodeArguments, Json>;
}

/** The time for the interpreter to report its own time-out; only if it does not, its process is ended. */
const answerMs = 250;
/** The time for a new process before the code begins. */
const startMs = 5_000;

function describe(about: string | undefined, functions: readonly string[]): string {
  const base =
    "Runs JavaScript and gives the value of its last expression, or what it returns. It has the language's own objects and `input`, and nothing else";
  const uses = functions.length === 0 ? "." : `, but for these, which are awaited:\n${functions.join("\n")}`;
  return [...(about === undefined ? [] : [about]), base + uses].join("\n");
}

function valueOf(outcome: Json): Json {
  const { json, reason } = asObject(outcome);
  if (typeof json !== "string")
    throw new Error(typeof reason === "string" ? reason : "The code gave nothing.");
  const parsed = parseJson(json);
  if (!parsed.ok) throw new Error(`The value of the code cannot be taken: ${parsed.reason}.`);
  return parsed.value;
}

function checkNames(tool: string, names: readonly string[]): void {
  const wrong = names.find((name, index) => !isFunctionName(name) || names.indexOf(name) !== index);
  if (wrong !== undefined) throw invalid(tool, `"${wrong}" cannot be the name of a function, or is taken.`);
}

/** The memory that the interpreter begins with. */
const leastMemory = 17_000_000;

function checkBounds(
  tool: string,
  bounds: Readonly<Record<"timeoutMs" | "memoryBytes" | "resultChars", number>>,
): void {
  for (const [field, value] of Object.entries(bounds))
    if (!(Number.isFinite(value) && value > 0))
      throw invalid(tool, `\`${field}\` must be a positive number.`);
  if (bounds.memoryBytes < leastMemory)
    throw invalid(tool, `\`memoryBytes\` must be at least ${leastMemory}.`);
}

function invalid(tool: string, reason: string): WritError<"definition-invalid"> {
  return new WritError("definition-invalid", { where: `Code tool "${tool}"`, reason });
}
