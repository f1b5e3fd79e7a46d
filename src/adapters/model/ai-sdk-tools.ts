import type { ModelRequest, ToolDescription } from "../../model/model.ts";
import { wholeTool } from "./wire-fields.ts";
import { asObject, isJsonObject, type JsonObject } from "../../util/json.ts";

/** A tool that the provider runs itself, as its package makes it: `anthropic.tools.webSearch_20250305({})`. */
export interface AiSdkProviderTool {
  /** The id, like `anthropic.web_search_20250305`. */
  readonly id: string;
  readonly args?: object;
}

interface ToolForms {
  readonly provider: string;
  readonly boundTools?: Readonly<Record<string, AiSdkProviderTool>>;
  readonly providerTools?: Readonly<Record<string, AiSdkProviderTool>>;
  /** The type of a provider's tool in the version. */
  readonly type: string;
}

/** The tools of a request: functions, those that the provider defines, and those that it runs itself. */
export function toolsOf(
  tools: ModelRequest["tools"],
  { provider, boundTools: bound = {}, providerTools = {}, type }: ToolForms,
): readonly object[] {
  const formOf = ([name, { id, args = {} }]: [string, AiSdkProviderTool]): object => ({
    type,
    id,
    name,
    args,
  });
  const [server = ""] = provider.split(".");
  return [
    ...tools.map((tool) => {
      const form = Object.hasOwn(bound, tool.name) ? bound[tool.name] : undefined;
      return form === undefined ? functionTool(tool, server) : formOf([tool.name, form]);
    }),
    ...Object.entries(providerTools).map(formOf),
  ];
}

/** A function tool. The specification has a field of its own for `strict`. */
function functionTool(given: ToolDescription, server: string): object {
  const tool = wholeTool(given);
  const own = tool.providerOptions?.[server];
  const strict = isJsonObject(own) ? own["strict"] : undefined;
  return { type: "function", ...tool, ...(typeof strict === "boolean" ? { strict } : {}) };
}

/** The choice of tools in the form of the specification. */
export function toolChoiceOf(choice: ModelRequest["toolChoice"]): object {
  return typeof choice === "string" ? { type: choice } : { type: "tool", toolName: choice.tool };
}

/**
 * The options of a request in which some tools may not be called: OpenAI's Responses restrict the model to the others. With other providers the runtime
 * refuses such calls, as it also does here.
 */
export function allowedOptions(
  { callable, toolChoice }: ModelRequest,
  provider: string,
  given: unknown,
): { readonly providerOptions?: JsonObject } {
  const isOpen = toolChoice === "auto" || toolChoice === "required";
  if (callable === undefined || !isOpen || provider !== "openai.responses") return {};
  const options = asObject(given);
  const openai = asObject(options["openai"]);
  const allowedTools = { toolNames: callable, mode: toolChoice };
  return { providerOptions: { ...options, openai: { allowedTools, ...openai } } };
}
