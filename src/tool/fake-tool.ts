import type { SchemaSource } from "../schema/to-schema.ts";
import { tool, type ToolContext, type ToolDefinition, type TypedTool } from "./tool.ts";

/** A tool for tests that remembers its calls. */
export interface FakeTool extends TypedTool<unknown, unknown> {
  /** The arguments of every call that reached the tool, in order. */
  readonly calls: readonly unknown[];
}

/** The definition of a fake tool: all fields of a tool except its name and its function. */
export type FakeToolOptions = Partial<Omit<ToolDefinition<SchemaSource, unknown>, "name" | "execute">>;

/**
 * Makes a tool that takes any arguments, or those of `about.inputSchema`, and returns `result`. A function as `result` is called: the tool returns or
 * throws what it does. The other fields of `about` (`effect`, `retry`, `parameters`, ...) mean the same as on any other tool.
 *
 * @throws WritError the errors of `tool()`
 * @example
 * ```ts
 * import { fakeTool } from "writ/testing";
 *
 * export const clock = fakeTool("clock", "12:00", { effect: "read" });
 * ```
 */
export function fakeTool(name: string, result: unknown, about: FakeToolOptions = {}): FakeTool {
  const calls: unknown[] = [];
  const made = tool({
    description: `fake ${name}`,
    inputSchema: { type: "object", properties: {}, additionalProperties: true },
    ...about,
    name,
    execute(args: unknown, context: ToolContext): unknown {
      calls.push(args);
      return typeof result === "function" ? Reflect.apply(result, undefined, [args, context]) : result;
    },
  });
  return { ...made, calls };
}
