import { isJsonObject, type Json } from "../../util/json.ts";
import { isSaid, type SaidPart } from "../chat-messages.ts";

/** An event of AG-UI 1.0 (`EventSchemas` of `@ag-ui/core`). */
export type AguiEvent = { readonly type: string } & { readonly [field: string]: unknown };

/** A call in a message of AG-UI. */
export interface AguiCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; arguments: string };
}

/** A message of AG-UI 1.0 (`Message` of `@ag-ui/core`), with the fields that this server reads and writes. */
export interface AguiMessage {
  readonly id: string;
  readonly role: string;
  content?: string | readonly AguiPart[];
  toolCalls?: AguiCall[];
  readonly toolCallId?: string;
}

/** A part of a user's message: text, or a file of some kind. */
export type AguiPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: FileKind; readonly source: AguiSource };

type FileKind = "image" | "audio" | "video" | "document";
type AguiSource = { readonly type: string; readonly value: string; readonly mimeType?: string };

/** Information about the user's surroundings, which a page sends beside their message. */
export interface AguiContext {
  readonly description: string;
  readonly value: string;
}

/**
 * Makes the input of a run from a user's message: one message, because the session has those before it. What the page knows stands before the user's words in
 * it, as the first part. `refuse` is called for content that no agent takes.
 */
export function inputOf(
  { content = "" }: AguiMessage,
  context: readonly AguiContext[],
  refuse: (reason: string) => never,
): Json {
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  if (!Array.isArray(parts)) return refuse("what the user said is an object");
  const said = parts.map((part) => saidPart(part, refuse));
  const texts = said.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const isText = texts.length === said.length;
  if (context.length === 0) return isText ? texts.join("\n") : [{ role: "user", content: [...said] }];
  const known = context.map(({ description, value }) => `${description}: ${value}\n`).join("");
  const asked: readonly SaidPart[] = isText ? [{ type: "text", text: texts.join("\n") }] : said;
  return [{ role: "user", content: [{ type: "text", text: `${known}\n` }, ...asked] }];
}

/** The user's own text, if the input of a run has more than that. */
export function wordsOf({ content = "" }: AguiMessage): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** A content as it is if it is a text, otherwise its parts as agents take them. */
export function saidIn(
  content: AguiMessage["content"] = "",
  refuse: (reason: string) => never,
): string | readonly SaidPart[] {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return refuse("the content of a message is an object");
  return content.map((part: AguiPart) => saidPart(part, refuse));
}

function saidPart(part: AguiPart, refuse: (reason: string) => never): SaidPart {
  if (part.type === "text") return { type: "text", text: part.text };
  const { type, value, mimeType } = part.source;
  if (type !== "data" || mimeType === undefined)
    return refuse(`the source of a part of the type "${part.type}" must be data with its mimeType`);
  return { type: "file", mediaType: mimeType, data: value };
}

/** The message of the user from which {@link inputOf} made the input of a run. `intent` is the user's own text, if the input has what the page knew too. */
export function askedMessage(id: string, input: Json, intent?: string): AguiMessage {
  const message = Array.isArray(input) ? input.at(-1) : undefined;
  const given = isJsonObject(message) ? message["content"] : input;
  const content = isSaid(given) ? withoutContext(given, intent) : given;
  if (typeof content === "string") return { id, role: "user", content };
  if (isSaid(content)) return { id, role: "user", content: content.map(shownPart) };
  return { id, role: "user", content: JSON.stringify(input) };
}

/** The parts of a message without what the page knew, which is not among the words of the user. */
function withoutContext(
  [known, ...said]: readonly SaidPart[],
  intent?: string,
): string | readonly SaidPart[] {
  const all = known === undefined ? said : [known, ...said];
  if (intent === undefined || known?.type !== "text") return all;
  const texts = said.flatMap((part) => (part.type === "text" ? [part.text] : []));
  if (texts.join("\n") !== intent) return all;
  return texts.length === said.length ? intent : said;
}

function shownPart(part: SaidPart): AguiPart {
  if (part.type === "text") return part;
  const { mediaType: mimeType, data: value } = part;
  return { type: kindOf(mimeType), source: { type: "data", value, mimeType } };
}

function kindOf(mimeType: string): FileKind {
  const kind = mimeType.split("/")[0];
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "document";
}
