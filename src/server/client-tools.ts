import { aboutOf, type Runnable } from "../agent/runnable.ts";
import { type CallerTool, withCallerTools } from "../durable/caller-tools.ts";
import { isWritError, WritError } from "../error/writ-error.ts";
import { type Conversation, meansConversation, readConversation } from "../message/conversation.ts";
import { fieldsOf, readPart } from "../message/foreign-parts.ts";
import { filesIn } from "../message/file-part.ts";
import { ofClient } from "../message/message.ts";
import { asObject, isJsonObject, type Json, jsonOrNull, type JsonObject, parseJson } from "../util/json.ts";
import { isAddress } from "../util/media.ts";
import { sameJson } from "../util/same-json.ts";
import type { SaidPart } from "./chat-messages.ts";

/** A client's own tools, in the form of OpenAI's clients. */
export interface ClientTools {
  /** Their definitions, in the form of chat completions or of responses. */
  readonly tools?: readonly JsonObject[] | null;
  readonly tool_choice?: unknown;
}

/**
 * The result of a call from a client, in the form that a tool returns: its text, or its texts and files if it has files.
 *
 * @throws WritError `request-invalid` for a part that is neither, and for a file at an address that is not one of the web
 */
export function resultOf(tool: string, content: unknown): Json {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content : [content ?? ""];
  const read = parts.map((part: unknown) => partOf(tool, part));
  const texts = read.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === read.length ? texts.join("\n") : read;
}

/** False if the record of a result has another one. */
export function isTaken(json: string | undefined, result: Json): boolean {
  const kept = parseJson(json ?? "null");
  const { value } = asObject(kept.ok ? kept.value : undefined);
  return value === undefined || sameJson(value, result);
}

/** Checks a result of a call that a run had before, by the record of that one. @throws WritError `request-invalid` for another result */
export function checkTaken(json: string | undefined, content: unknown): void {
  if (isTaken(json, resultOf("a tool", content))) return;
  const where = "the result of a call";
  const reason = "its run was given another one before; for another answer, ask again from before the call";
  throw new WritError("request-invalid", { where, reason });
}

function partOf(tool: string, given: unknown): SaidPart {
  const part = readPartOf(tool, given);
  if (part.type === "text") return { type: part.type, text: part.text };
  checkAddress(`the result of a call of "${tool}"`, part.data);
  return { type: part.type, mediaType: part.mediaType, data: part.data };
}

function readPartOf(tool: string, given: unknown): ReturnType<typeof readPart> {
  try {
    return readPart(given);
  } catch {
    const { type } = fieldsOf(given);
    const shown = typeof type === "string" ? ` of the type ${JSON.stringify(type)}` : "";
    throw new WritError("request-invalid", {
      where: `the result of a call of "${tool}"`,
      reason: `a part${shown} is neither a text nor a picture or file with its data or address in it; send it as one of these, or in words`,
    });
  }
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

/**
 * The input from a client: results of calls in a conversation are the client's word, whatever it says of them.
 *
 * @throws WritError `request-invalid` for a file at an address that is not one of the web
 */
export function clientInput<Input>(agent: Runnable<Input>, input: Json): Input {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `start` holds it against what the agent takes
  return cleanInput(aboutOf(agent)?.input, input) as Input;
}

function cleanInput(schema: unknown, input: Json): Json {
  if ((schema !== undefined && schema !== "various") || !meansConversation(input)) return input;
  const conversation = conversationIn(input);
  if (conversation === undefined) return input;
  const { before, asked } = conversation;
  for (const { data } of [...before, asked].flatMap(filesIn)) checkAddress("a message", data);
  if (before.every(({ role }) => role !== "tool")) return input;
  return jsonOrNull([...before.map(ofClient), asked]);
}

/** Checks the data of a file from a client: the model's server reads what stands at an address, as `file:` its own files. @throws WritError `request-invalid` */
function checkAddress(where: string, data: string): void {
  if (!isAddress(data) || /^(?:https?|data):/i.test(data)) return;
  const scheme = data.slice(0, data.indexOf(":") + 1).slice(0, 30);
  const reason = `a file in it has an address that begins with ${JSON.stringify(scheme)}; send its data, or an address with https:`;
  throw new WritError("request-invalid", { where, reason });
}

/** The conversation; undefined for what is none, which `start` refuses. */
function conversationIn(input: Json): Conversation | undefined {
  try {
    return readConversation(input);
  } catch {
    return undefined;
  }
}
