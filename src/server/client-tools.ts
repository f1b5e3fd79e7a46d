import type { Runnable } from "../agent/runnable.ts";
import { type CallerTool, withCallerTools } from "../durable/caller-tools.ts";
import { isWritError, WritError } from "../error/writ-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../util/json.ts";

/** A client's own tools, as OpenAI's clients describe them. */
export interface ClientTools {
  /** Their definitions, in the form of chat completions or of responses. */
  readonly tools?: readonly JsonObject[] | null;
  readonly tool_choice?: unknown;
}

/** The words of a result: a text, or a list of texts. */
export function textOf(content: unknown): Json {
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  const texts = content.map((part: unknown) => (isJsonObject(part) ? part["text"] : part));
  return texts.map((text) => (typeof text === "string" ? text : "")).join("\n");
}

/** The client's tools as an agent takes them. @throws WritError `request-invalid` */
export function callerToolsOf(
  agent: Runnable,
  { tools, tool_choice: choice }: ClientTools,
): readonly CallerTool[] {
  if (!Array.isArray(tools) || tools.length === 0 || choice === "none") return [];
  const read = tools.map((definition: JsonObject): CallerTool => {
    const { type, function: inner, ...flat } = definition;
    const { name, description, parameters } = isJsonObject(inner) ? inner : flat;
    if (type !== "function" || typeof name !== "string")
      return refuseTools(`one of the type ${JSON.stringify(type)} is no function with a name`);
    return {
      name,
      ...(typeof description === "string" ? { description } : {}),
      ...(isJsonObject(parameters) ? { inputSchema: parameters } : {}),
    };
  });
  try {
    withCallerTools(agent, read);
    return read;
  } catch (error) {
    return isWritError(error) ? refuseTools(error.message) : refuseTools("they cannot be read");
  }
}

function refuseTools(reason: string): never {
  throw new WritError("request-invalid", { where: "`tools`", reason });
}
