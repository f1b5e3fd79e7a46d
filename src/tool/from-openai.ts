import { checkShape, closed } from "../error/check-shape.ts";
import { type Fields, fieldsOf } from "../message/foreign-parts.ts";
import { callable, fits, list, map, record } from "../util/shape.ts";
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
 * Options of {@link fromOpenAI}.
 *
 * @example
 * ```ts
 * import type { FromOpenAIOptions } from "writ/tools";
 *
 * export const options: FromOpenAIOptions = {
 *   execute: { get_weather: ({ city }) => `rain in ${String(city)}` },
 *   tools: { get_weather: { effect: "read" } },
 * };
 * ```
 */
export interface FromOpenAIOptions extends ForeignToolOptions {
  /** The functions, by the names of their definitions. Each definition that is taken needs one. */
  readonly execute: Readonly<
    Record<string, (args: Readonly<Record<string, unknown>>, context: ToolContext) => unknown>
  >;
}

const definitionList = list(record, "a list of function definitions of OpenAI");
const shape = closed({
  ...foreignFields,
  execute: map(callable),
});

/**
 * Makes tools from OpenAI's function definitions, in the form of chat completions or of responses, and from the functions that carry them out.
 * Schemas are enforced here; effects stay undeclared and results count as a stranger's, unless `tools` says otherwise.
 *
 * @throws WritError `definition-invalid` for a definition without a function, a function without a definition, a tool that is not a function, and unknown
 * options; `tool-unknown` for an unknown name in the options; the errors of `tool()`
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { fromOpenAI } from "writ/tools";
 *
 * const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };
 * const definitions = [{ type: "function", function: { name: "get_weather", description: "The weather in a city", parameters } }];
 * const tools = fromOpenAI(definitions, { execute: { get_weather: ({ city }) => `rain in ${String(city)}` } });
 * export const guide = agent({ name: "guide", model: "ollama/qwen2.5:7b", tools });
 * ```
 */
export function fromOpenAI(definitions: readonly object[], options: FromOpenAIOptions): readonly Tool[] {
  const where = "fromOpenAI()";
  checkShape(where, definitions, definitionList);
  checkShape(where, options, shape);
  const read = definitions.map((definition, place) => definitionOf(fieldsOf(definition), place));
  const names = read.map(({ name }) => name);
  const taken = takenNames(where, names, options);
  const { execute } = options;
  const stray = Object.keys(execute).find((name) => !names.includes(name));
  if (stray !== undefined) refuseForeign(where, `\`execute.${stray}\` is a function without a definition`);
  return read
    .filter(({ name }) => taken.has(name))
    .map(({ name, description, parameters = noParameters, strict }) => {
      const run = Object.hasOwn(execute, name) ? execute[name] : undefined;
      if (run === undefined)
        return refuseForeign(where, `the definition "${name}" has no function in \`execute\``);
      return foreignTool(
        {
          name,
          description,
          inputSchema: parameters,
          ...(strict === true ? { providerOptions: { openai: { strict } } } : {}),
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the arguments of a tool are an object
          execute: async (args, context) => withoutParts(await run(args as Fields, context)),
        },
        options,
      );
    });
}

/** The parameters of a definition without any: OpenAI takes it for a function without arguments. */
const noParameters = { type: "object", properties: {}, additionalProperties: false };

interface Definition extends Fields {
  readonly name: string;
}

function definitionOf({ type, function: inner, ...flat }: Fields, place: number): Definition {
  const definition = fits(record, inner) ? fieldsOf(inner) : flat;
  const { name } = definition;
  if (type === "function" && typeof name === "string") return { ...definition, name };
  return refuseForeign(
    "fromOpenAI()",
    `definition ${place} is not a function with a name: its type is ${JSON.stringify(type)}`,
  );
}
