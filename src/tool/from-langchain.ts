import { checkShape, closed } from "../error/check-shape.ts";
import { fieldsOf } from "../message/foreign-parts.ts";
import { list, shapeOf } from "../util/shape.ts";
import {
  foreignFields,
  foreignTool,
  type ForeignToolOptions,
  takenNames,
  withoutParts,
} from "./foreign-tools.ts";
import type { Tool } from "./tool.ts";

/**
 * The fields that writ needs of a LangChain tool (`StructuredToolInterface` of `@langchain/core`).
 *
 * @example
 * ```ts
 * import { tool } from "@langchain/core/tools";
 * import type { LangChainTool } from "writ/tools";
 * import { z } from "zod";
 *
 * export const search: LangChainTool = tool(({ query }) => `nothing of ${query}`, { name: "search", schema: z.object({ query: z.string() }) });
 * ```
 */
export interface LangChainTool {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
  invoke(input: never, config?: never): Promise<unknown>;
}

const like = shapeOf("a tool of LangChain", (value) => {
  const { name, schema, invoke } = fieldsOf(value);
  return typeof name === "string" && schema !== undefined && typeof invoke === "function";
});
const tools = list(like, "a list of tools of LangChain");
const shape = closed(foreignFields);

/**
 * Makes tools from those of LangChain: `tool()` of `@langchain/core/tools`, and those of its packages and tool kits. It imports nothing from LangChain.
 * Schemas are enforced here; effects stay undeclared and results count as a stranger's, unless `tools` says otherwise. `returnDirect` and
 * LangChain's callbacks are not read; an artifact is dropped.
 *
 * @throws WritError `definition-invalid` unless the value is a list of such tools, and for unknown options; `tool-unknown` for an unknown name in the options;
 * the errors of `tool()`
 * @example
 * ```ts
 * import { tool } from "@langchain/core/tools";
 * import { agent } from "writ";
 * import { fromLangChain } from "writ/tools";
 * import { z } from "zod";
 *
 * const search = tool(({ query }) => `nothing of ${query}`, { name: "search", description: "Searches", schema: z.object({ query: z.string() }) });
 * const tools = fromLangChain([search], { tools: { search: { effect: "read" } } });
 * export const finder = agent({ name: "finder", model: "ollama/qwen2.5:7b", tools });
 * ```
 */
export function fromLangChain(
  given: readonly LangChainTool[],
  options: ForeignToolOptions = {},
): readonly Tool[] {
  const where = "fromLangChain()";
  checkShape(where, given, tools);
  checkShape(where, options, shape);
  const names = given.map(({ name }) => name);
  const taken = takenNames(where, names, options);
  return given
    .filter(({ name }) => taken.has(name))
    .map((one) =>
      foreignTool(
        {
          name: one.name,
          description: one.description,
          inputSchema: one.schema,
          execute: async (args, { signal }) =>
            // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the arguments fit its schema
            withoutParts(await one.invoke(args as never, { signal } as never)),
        },
        options,
      ),
    );
}
