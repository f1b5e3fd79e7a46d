import { closed, unknownTool } from "../error/check-shape.ts";
import { WritError } from "../error/writ-error.ts";
import { isPart, readPart } from "../message/foreign-parts.ts";
import type { SchemaSource } from "../schema/to-schema.ts";
import { isJsonObject } from "../util/json.ts";
import { anything, list, map, optional, type Shape, string } from "../util/shape.ts";
import { tool, type Tool, type ToolContext, type ToolDefinition } from "./tool.ts";
import { withFiles } from "./with-files.ts";

/**
 * The author's declarations about a tool of another library, which does not have them. Undeclared properties stay so, and its results count as a stranger's.
 *
 * @example
 * ```ts
 * import type { ForeignToolWords } from "writ/tools";
 *
 * export const search: ForeignToolWords = { effect: "read", timeoutMs: 10_000 };
 * ```
 */
export type ForeignToolWords = Pick<
  ToolDefinition<SchemaSource, unknown>,
  | "effect"
  | "trusted"
  | "resolves"
  | "secrecy"
  | "parameters"
  | "timeoutMs"
  | "exclusive"
  | "constraints"
  | "retry"
  | "recover"
>;

/**
 * A choice of tools of another library, with the author's declarations about them.
 *
 * @example
 * ```ts
 * import type { ForeignToolOptions } from "writ/tools";
 *
 * export const options: ForeignToolOptions = { only: ["search"], tools: { search: { effect: "read" } } };
 * ```
 */
export interface ForeignToolOptions {
  /** The only tools to take. Default: all. */
  readonly only?: readonly string[];
  /** The author's declarations, by tool name. */
  readonly tools?: Readonly<Record<string, ForeignToolWords>>;
}

/** A tool of another library, after it was read. */
export interface ForeignTool {
  readonly name: string;
  readonly description: unknown;
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
  readonly providerOptions?: unknown;
  readonly execute: (args: unknown, context: ToolContext) => unknown;
}

const words = closed({
  effect: anything,
  trusted: anything,
  resolves: anything,
  secrecy: anything,
  parameters: anything,
  timeoutMs: anything,
  exclusive: anything,
  constraints: anything,
  retry: anything,
  recover: anything,
} satisfies Record<keyof ForeignToolWords, unknown>);
export const foreignFields: { readonly only: Shape<unknown>; readonly tools: Shape<unknown> } = {
  only: optional(list(string, "a list of names")),
  tools: optional(map(words)),
};

/** The names of the tools to take. @throws WritError `tool-unknown` for an unknown name in the options */
export function takenNames(
  where: string,
  names: readonly string[],
  { only, tools = {} }: ForeignToolOptions,
): ReadonlySet<string> {
  const missing = [...(only ?? []), ...Object.keys(tools)].find((name) => !names.includes(name));
  if (missing !== undefined) throw unknownTool(where, missing, names);
  return new Set(only ?? names);
}

/** Makes a tool from one of another library. */
export function foreignTool(foreign: ForeignTool, { tools = {} }: ForeignToolOptions): Tool {
  const { name, description, inputSchema, outputSchema, providerOptions, execute } = foreign;
  const made = tool({
    ...(Object.hasOwn(tools, name) ? tools[name] : {}),
    name,
    description: typeof description === "string" ? description : "",
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- tool() says what is no schema
    inputSchema: inputSchema as SchemaSource,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same
    ...(outputSchema === undefined ? {} : { outputSchema: outputSchema as SchemaSource }),
    ...(isJsonObject(providerOptions) ? { providerOptions } : {}),
    execute,
  });
  return { ...made, hasOwnSchema: undefined };
}

/** The result, if it is a list of message parts, as its texts with its files beside them. */
export function withoutParts(given: unknown): unknown {
  if (!Array.isArray(given) || given.length === 0 || !given.every(isPart)) return given;
  const parts = given.map((each) => readPart(each));
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const files = parts.filter((part) => part.type === "file");
  return files.length === 0 ? text : withFiles(text, files);
}

/** Refuses a value that cannot be made a tool. */
export function refuseForeign(where: string, reason: string): never {
  throw new WritError("definition-invalid", { where, reason });
}
