import type { SchemaSource } from "../schema/to-schema.ts";
import { tool, type ToolContext, type TypedTool } from "./tool.ts";

/** A tool for tests that remembers its calls. */
export interface FakeTool extends TypedTool<unknown, unknown> {
  /** The arguments of every call that reached the tool, in order. */
  readonly calls: readonly unknown[];
}

/**
 * Makes a tool that takes any arguments, or those of `about.inputSchema`, and gives `result`, or what `result` gives when it is a function (an
 * error it throws included).
 *
 * @example
 * ```ts
 * import { fakeTool } from "writ/testing";
 *
 * export const clock = fakeTool("clock", "12:00");
 * ```
 */
export function fakeTool(
  name: string,
  result: unknown,
  about: { readonly description?: string; readonly inputSchema?: SchemaSource } = {},
): FakeTool {
  const calls: unknown[] = [];
  const made = tool({
    name,
    description: about.description ?? `fake ${name}`,
    inputSchema: about.inputSchema ?? { type: "object", properties: {}, additionalProperties: true },
    execute(args: unknown, context: ToolContext): unknown {
      calls.push(args);
      return typeof result === "function" ? Reflect.apply(result, undefined, [args, context]) : result;
    },
  });
  return { ...made, calls };
}
