import { checkShape, closed } from "../error/check-shape.ts";
import { type Fields, fieldsOf } from "../message/foreign-parts.ts";
import { isJsonObject } from "../util/json.ts";
import { map, named, oneOf, optional, record } from "../util/shape.ts";
import {
  foreignFields,
  foreignTool,
  type ForeignToolOptions,
  refuseForeign,
  takenNames,
  withoutParts,
} from "./foreign-tools.ts";
import type { Tool, ToolContext } from "./tool.ts";

/**
 * Options of {@link fromAiSdk}.
 *
 * @example
 * ```ts
 * import type { FromAiSdkOptions } from "writ/tools";
 *
 * export const options: FromAiSdkOptions = { tools: { pay: { effect: "irreversible" } }, approvals: "policy" };
 * ```
 */
export interface FromAiSdkOptions extends ForeignToolOptions {
  /**
   * `policy`: the policy of the agent asks, in place of the tools' `needsApproval`. Default: a tool with `needsApproval` is refused, so that
   * no call that needed a question before runs without one.
   */
  readonly approvals?: "policy";
}

const toolMap = named("tools of the AI SDK by their names: { search: tool({ … }) }", map(record));
const shape = closed({ ...foreignFields, approvals: optional(oneOf("policy")) });

/**
 * Makes tools from those of the AI SDK: `tool()`, `dynamicTool()`, and those of its MCP client. It imports nothing from the AI SDK. Schemas are enforced here;
 * effects stay undeclared and results count as a stranger's, unless `tools` says otherwise. Values that a tool yields before its last
 * one are its progress, and `toModelOutput` makes what the model is told. `messages` is empty: a tool does not get the conversation.
 *
 * @throws WritError `definition-invalid` for a tool without `execute`, one that a provider runs or defines, one with `needsApproval` or `requireApproval`, and unknown options;
 * `tool-unknown` for an unknown name in the options; the errors of `tool()`
 * @example
 * ```ts
 * import { tool } from "ai";
 * import { agent } from "writ";
 * import { fromAiSdk } from "writ/tools";
 * import { z } from "zod";
 *
 * const search = tool({ description: "Searches", inputSchema: z.object({ query: z.string() }), execute: ({ query }) => `nothing of ${query}` });
 * const tools = fromAiSdk({ search }, { tools: { search: { effect: "read" } } });
 * export const finder = agent({ name: "finder", model: "ollama/qwen2.5:7b", tools });
 * ```
 */
export function fromAiSdk(
  tools: Readonly<Record<string, object>>,
  options: FromAiSdkOptions = {},
): readonly Tool[] {
  const where = "fromAiSdk()";
  checkShape(where, tools, toolMap);
  checkShape(where, options, shape);
  const taken = takenNames(where, Object.keys(tools), options);
  return Object.entries(tools).flatMap(([name, given]) =>
    taken.has(name) ? [aiSdkTool(name, fieldsOf(given), options)] : [],
  );
}

/** The fields of a tool whose calls are asked about: of the AI SDK, and of Mastra, whose tools have the same form. */
const approvalFields = ["needsApproval", "requireApproval"] as const;

function aiSdkTool(name: string, given: Fields, options: FromAiSdkOptions): Tool {
  const where = `fromAiSdk(): the tool "${name}"`;
  const { type, execute, toModelOutput, description } = given;
  if (type === "provider" || type === "provider-defined")
    return refuseForeign(
      where,
      "its provider defines it: give it to aiSdk(model, { providerTools }) or { boundTools }",
    );
  if (!isFunction(execute)) return refuseForeign(where, "it has no `execute`: it is carried out elsewhere");
  const asking = approvalFields.find((field) => given[field] !== undefined && given[field] !== false);
  if (asking !== undefined && options.approvals !== "policy")
    return refuseForeign(
      where,
      `it has \`${asking}\`, and here the policy of the agent asks: say so there, and give \`approvals: "policy"\``,
    );
  const outputSchema = toModelOutput === undefined ? given["outputSchema"] : undefined;
  const inputSchema = resolved(given["inputSchema"]);
  return foreignTool(
    {
      name,
      description: isFunction(description) ? undefined : description,
      inputSchema: schemaOf(inputSchema, where),
      ...(outputSchema === undefined ? {} : { outputSchema: schemaOf(outputSchema, where) }),
      providerOptions: given["providerOptions"],
      execute: async (args, context) => run(given, await validated(fieldsOf(inputSchema), args), context),
    },
    options,
  );
}

/** The schema, also if a function returns it. */
function resolved(given: unknown): unknown {
  return isFunction(given) && !("~standard" in given) ? given() : given;
}

/** The schema in a Standard Schema, in a value of `jsonSchema()`, or in a function that returns one of these. */
function schemaOf(given: unknown, where: string): unknown {
  const schema = resolved(given);
  const { jsonSchema, "~standard": standard } = fieldsOf(schema);
  if (standard !== undefined || jsonSchema === undefined) return schema;
  return isJsonObject(jsonSchema) && !("then" in jsonSchema)
    ? jsonSchema
    : refuseForeign(where, "its schema is a promise: await it, and give `jsonSchema()` what it is");
}

async function run(
  given: Fields,
  input: unknown,
  { callId: toolCallId, signal, progress }: ToolContext,
): Promise<unknown> {
  const { execute, toModelOutput } = given;
  const output = await last(
    call(execute, input, { toolCallId, messages: [], abortSignal: signal }),
    progress,
  );
  if (toModelOutput === undefined) return output;
  return told(fieldsOf(await call(toModelOutput, { toolCallId, input, output })));
}

/** Validates arguments with the function that was passed to `jsonSchema()`. */
async function validated({ validate, "~standard": standard }: Fields, args: unknown): Promise<unknown> {
  if (standard !== undefined || !isFunction(validate)) return args;
  const { success, value, error } = fieldsOf(await validate(args));
  if (success === true) return value;
  throw error instanceof Error ? error : new Error("the arguments do not fit its schema");
}

function isFunction(value: unknown): value is (...given: unknown[]) => unknown {
  return typeof value === "function";
}

const call = (code: unknown, ...given: unknown[]): unknown => (isFunction(code) ? code(...given) : undefined);

/** The last of the values that a tool yields; the earlier ones are its progress. */
async function last(given: unknown, progress: ToolContext["progress"]): Promise<unknown> {
  const output = await given;
  if (typeof output !== "object" || output === null || !(Symbol.asyncIterator in output)) return output;
  let latest: { readonly value: unknown } | undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has an asynchronous iterator
  for await (const value of output as AsyncIterable<unknown>) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- watchers are told what can be told
    if (latest !== undefined) progress(latest.value as never);
    latest = { value };
  }
  return latest?.value;
}

/** The text for the model in place of the tool's result. @throws Error for a failure that the tool reports */
function told({ type, value, reason }: Fields): unknown {
  if (type === "execution-denied") throw new Error(typeof reason === "string" ? reason : "It was denied.");
  if (String(type).startsWith("error"))
    throw new Error(typeof value === "string" ? value : JSON.stringify(value));
  return type === "content" ? withoutParts(value) : value;
}
