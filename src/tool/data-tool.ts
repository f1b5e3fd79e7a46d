import { object, string } from "../util/shape.ts";
import { checkArguments } from "../error/check-shape.ts";
import type { JsonSchema, Issue, ParseResult, Schema } from "../schema/schema.ts";
import { describeIssues } from "../schema/schema.ts";
import { type InferOutput, type SchemaSource, toSchema } from "../schema/to-schema.ts";
import { type JsonObject, wholeJson } from "../util/json.ts";
import { argumentSchema } from "./argument-schema.ts";
import type { ArgumentsOf, Tool, TypedTool } from "./tool.ts";
import { argumentProblem, wrongArguments, wrongResult } from "./wrong-values.ts";

const toolShape = object({ name: string }, "a tool, or one as data");

/**
 * A tool as data: the description for a model, without a function. `chat` offers it. Your program carries out its calls, and checks them against the
 * schemas with {@link validateCall} and {@link validateResult}.
 *
 * @example
 * ```ts
 * import { chat } from "writ/doors";
 * import type { DataTool } from "writ/tools";
 *
 * const now: DataTool = { name: "now", description: "The time in UTC" }; // takes any arguments, or none
 * const reply = await chat({ model: "ollama/qwen2.5:7b", messages: "What time is it?", tools: [now] });
 * console.log(reply.calls);
 * ```
 */
export interface DataTool<
  Input extends SchemaSource = SchemaSource,
  Output extends SchemaSource | undefined = SchemaSource | undefined,
> {
  readonly name: string;
  readonly description: string;
  /**
   * The schema of its arguments: any Standard Schema or a JSON Schema 2020-12 of an object. Default `{}`: any
   * object.
   */
  readonly inputSchema?: Input;
  /** The schema of its results, which models are not told. Default: any JSON. */
  readonly outputSchema?: Output;
  /** Options that providers take for this tool, by provider, like those of `tool()`: `{ anthropic: { deferLoading: true } }`. */
  readonly providerOptions?: JsonObject;
}

/**
 * A value that fits its schema, with defaults filled in, or the faults of one that does not: `issues` for programs, `text` for the model, as a
 * run tells it.
 */
export type Validated<Value> =
  | Extract<ParseResult<Value>, { readonly ok: true }>
  | { readonly ok: false; readonly issues: readonly Issue[]; readonly text: string };

/**
 * Checks the arguments of a call against a tool's input schema, as a run does before it runs the tool. It converts a value only if nothing is lost, and refuses
 * fields that the schema does not have. It never throws for a mistake of a model. It refuses a text, because the `arguments` of an unreadable call
 * (`malformed`) are a text.
 *
 * @throws WritError `schema-invalid`, `schema-without-json-schema` for the schema of a tool as data
 * @example
 * ```ts
 * import { validateCall } from "writ/tools";
 * import { z } from "zod";
 *
 * const weather = { name: "get_weather", description: "Weather for a city", inputSchema: z.object({ city: z.string() }) };
 * const checked = await validateCall(weather, { city: 7, unit: "C" });
 * if (checked.ok) console.log(checked.value.city);
 * else console.log(checked.issues); // [{ path: ["unit"], message: "unknown; known: city" }]
 * ```
 */
export function validateCall<Args>(
  tool: TypedTool<Args, unknown, never>,
  args: unknown,
): Promise<Validated<Args>>;
export function validateCall<const Input extends SchemaSource = JsonSchema>(
  tool: DataTool<Input>,
  args: unknown,
): Promise<Validated<ArgumentsOf<Input>>>;
export async function validateCall(tool: Tool | DataTool, args: unknown): Promise<Validated<unknown>> {
  checkArguments("validateCall()", { tool }, { tool: toolShape });
  const input = inputOf(tool);
  const parsed =
    typeof args === "string"
      ? { ok: false as const, issues: [{ path: [], message: "a text, where an object is expected" }] }
      : await input.parse(args);
  if (parsed.ok) return parsed;
  const { issues } = parsed;
  const problem = argumentProblem(input, args, issues);
  return { ok: false, issues, text: wrongArguments({ name: tool.name, input }, problem) };
}

/**
 * Checks a result against a tool's output schema, and checks that JSON can hold it. It never throws for the result.
 *
 * @throws WritError `schema-invalid`, `schema-without-json-schema` for the schema of a tool as data
 * @example
 * ```ts
 * import { validateResult } from "writ/tools";
 * import { z } from "zod";
 *
 * const weather = { name: "get_weather", description: "", outputSchema: z.object({ celsius: z.number() }) };
 * console.log(await validateResult(weather, { celsius: 18 })); // { ok: true, value: { celsius: 18 } }
 * ```
 */
export function validateResult<Given>(
  tool: TypedTool<never, unknown, never, Given>,
  value: unknown,
): Promise<Validated<Given>>;
export function validateResult<const Output extends SchemaSource = JsonSchema>(
  tool: DataTool<SchemaSource, Output>,
  value: unknown,
): Promise<Validated<InferOutput<Output>>>;
export async function validateResult(tool: Tool | DataTool, value: unknown): Promise<Validated<unknown>> {
  checkArguments("validateResult()", { tool }, { tool: toolShape });
  const parsed: ParseResult<unknown> = (await outputOf(tool)?.parse(value)) ?? { ok: true, value };
  const checked = parsed.ok ? asJson(parsed.value) : parsed;
  if (checked.ok) return checked;
  return { ...checked, text: `${wrongResult(tool.name)}: ${describeIssues(checked.issues)}` };
}

function asJson(value: unknown): ParseResult<unknown> {
  const json = wholeJson(value);
  return json.ok
    ? { ok: true, value }
    : { ok: false, issues: [{ path: [], message: `no JSON: ${json.reason}` }] };
}

/** The schema of the arguments, for a tool or a tool as data. @throws WritError `schema-invalid`, `schema-without-json-schema` */
export function inputOf(tool: Tool | DataTool): Schema {
  return "input" in tool
    ? tool.input
    : argumentSchema(tool.inputSchema ?? {}, { name: tool.name, refusesSlips: true });
}

function outputOf(tool: Tool | DataTool): Schema | undefined {
  if ("input" in tool) return tool.output;
  const { name, outputSchema } = tool;
  return outputSchema === undefined
    ? undefined
    : toSchema(outputSchema, { name, role: "output", refusesSlips: true });
}
