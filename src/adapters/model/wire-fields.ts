import { fileText } from "../../message/file-part.ts";
import { callsOf, type ReplyMessage, textOf, type ToolCall } from "../../message/message.ts";
import type { ReportedUsage } from "../../message/usage.ts";
import type { ModelSettings, ReportedResponse, ToolDescription, UnreadableCall } from "../../model/model.ts";
import { wholeTexts } from "../../message/whole-texts.ts";
import { asObject, isJsonObject, type JsonObject, parseJson } from "../../util/json.ts";
import { remembered } from "../../util/remembered.ts";
import { fits, whole } from "../../util/shape.ts";
import { withoutLookAround } from "./ollama-schema.ts";

/** A tool of a request, in the form of OpenAI and Ollama. */
export interface WireTool {
  readonly type: "function";
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonObject };
}

/** The tool as it goes to a provider. Descriptions of others, such as MCP servers, may contain half a character. */
// Depends on: the tool.
export const wholeTool: (tool: ToolDescription) => ToolDescription = remembered((tool) => {
  const whole = wholeTexts(tool);
  return { ...whole, inputSchema: withoutLookAround(whole.inputSchema) };
});

/** The tools of a request; `parametersOf` converts the schema of a tool's arguments for the server. */
export function wireTools(
  tools: readonly ToolDescription[],
  parametersOf: (schema: JsonObject) => JsonObject = (schema) => schema,
): readonly WireTool[] {
  return tools.map(wholeTool).map(({ name, description, inputSchema }) => ({
    type: "function",
    function: { name, description, parameters: parametersOf(inputSchema) },
  }));
}

/** The contents of a reply, as a later request repeats them. */
export interface SaidFields {
  /** Null in a reply with only calls: strict validators refuse an empty text there. */
  readonly content: string | null;
  readonly calls: readonly ToolCall[];
}

/** The text and calls of a reply. */
export function saidFields(message: ReplyMessage): SaidFields {
  const calls = callsOf(message);
  const text = textOf(message) || (calls.length > 0 ? "" : filesText(message));
  return { content: text === "" && calls.length > 0 ? null : text, calls };
}

/** The files of a reply in words, if it has nothing else: providers refuse an empty reply, and take no files in one. */
function filesText({ parts }: ReplyMessage): string {
  return parts.map((part) => (part.type === "file" ? fileText(part) : "")).join("");
}

/**
 * The arguments of a call as an object. Arguments that a model encoded twice go back as they were understood, others that are not an object as an empty one:
 * the model learns from the call's result what was wrong.
 */
export function objectArguments({ arguments: args, malformed }: ToolCall): JsonObject {
  if (isJsonObject(args)) return args;
  const parsed = typeof args === "string" && malformed === undefined ? parseJson(args) : undefined;
  return asObject(parsed?.ok === true ? parsed.value : undefined);
}

/** The given settings, under the names of OpenAI and Ollama; `maxTokens` is the name of the bound of a reply. */
export function settingFields(settings: ModelSettings, maxTokens: string): JsonObject {
  const named = {
    temperature: settings.temperature,
    top_p: settings.topP,
    top_k: settings.topK,
    seed: settings.seed,
    frequency_penalty: settings.frequencyPenalty,
    presence_penalty: settings.presencePenalty,
    [maxTokens]: settings.maxOutputTokens,
    stop: settings.stopSequences,
  };
  const given = Object.entries(named).filter(
    (entry): entry is [string, number | readonly string[]] => entry[1] !== undefined,
  );
  return Object.fromEntries(given);
}

/** An id for a call: the provider's, or `call_` and a number if it gave none, or that of another call. */
export function newCallId(given: string, taken: Set<string>, from: number = taken.size): string {
  let id = given.trim();
  for (let next = from; id === "" || taken.has(id); next += 1) id = `call_${next}`;
  taken.add(id);
  return id;
}

/** The counts of a provider, as it gives them. */
type Counts = { readonly [Name in keyof ReportedUsage | "totalTokens"]?: unknown };

/**
 * The tokens that a provider counted; undefined if it counted none. Some (xAI, Gemini) leave the tokens of reasoning out of the output: then they
 * are only in the total.
 */
export function reportedUsage({ totalTokens, ...counts }: Counts): ReportedUsage | undefined {
  const entries = Object.entries(counts).flatMap(([name, count]): [string, number][] =>
    fits(whole, count) ? [[name, count]] : [],
  );
  if (entries.length === 0) return undefined;
  const known: ReportedUsage = Object.fromEntries(entries);
  const { inputTokens, outputTokens, reasoningTokens } = known;
  if (!fits(whole, totalTokens) || inputTokens === undefined || outputTokens === undefined) return known;
  const left = totalTokens - inputTokens - outputTokens;
  return left <= 0
    ? known
    : { ...known, outputTokens: outputTokens + Math.min(left, reasoningTokens || left) };
}

/** The id and the model in a provider's response; undefined if it gives neither. */
export function reportedResponse(id: unknown, model: unknown): ReportedResponse | undefined {
  const response = {
    ...(typeof id === "string" && id !== "" ? { id } : {}),
    ...(typeof model === "string" && model !== "" ? { model } : {}),
  };
  return Object.keys(response).length === 0 ? undefined : response;
}

/** The reason for the end of a reply, without the text after it: Gemini says `content_filter: PROHIBITED_CONTENT`. */
export function reasonWord(reason: unknown): string {
  return typeof reason === "string" ? reason.replace(/:.*/s, "") : "";
}

/** Reads the reason for which Gemini ended a reply: the call that it could not read itself, or nothing for any other reason. */
export function unreadableBy(reason: unknown): { readonly unreadable?: UnreadableCall } {
  const isSaid =
    typeof reason === "string" && /\b(?:MALFORMED_FUNCTION_CALL|UNEXPECTED_TOOL_CALL)\b/i.test(reason);
  return isSaid ? { unreadable: { reason: `${reason}.` } } : {};
}

/** The text of a reply that a server requires between results and a user, if the model gave none. */
export const wordsAfterResults = "(I have the results.)";

/** The text of a user that a provider requires first, if the conversation begins with a reply. */
export const wordsBeforeReply = "(The conversation begins.)";
