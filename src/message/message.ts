import { checkShape } from "../error/check-shape.ts";
import { isJsonObject, type Json, type JsonObject } from "../util/json.ts";
import { isAddress, readDataUrl, sizeOf } from "../util/media.ts";
import { list, object, record, string } from "../util/shape.ts";
import { joinLabels, type Label, readLabel, trustedLabel, untrustedFrom } from "./label.ts";

/**
 * Data that a provider wants to have back with a part exactly as it sent it (signatures of reasoning, ids of
 * items). Kept, never read here.
 */
export type ProviderMetadata = JsonObject;

/** Text that the user or the model wrote. */
export interface TextPart {
  readonly type: "text";
  readonly text: string;
  readonly providerMetadata?: ProviderMetadata;
}

/** Reasoning that a model shows. Sent back to the model that wrote it, never to people as the answer. */
export interface ReasoningPart {
  readonly type: "reasoning";
  readonly text: string;
  readonly providerMetadata?: ProviderMetadata;
}

/** A file in a message: base64 data or a URL, with its media type. */
export interface FilePart {
  readonly type: "file";
  readonly mediaType: string;
  readonly data: string;
  /** The size of the data. Only in events, where `data` is left out: there it is empty. */
  readonly bytes?: number;
  readonly providerMetadata?: ProviderMetadata;
}

/**
 * A call that the model proposes. `arguments` is what the model sent, parsed; when it could not be parsed it is the raw text and
 * `malformed` says why, and the call never runs. A call with `providerExecuted` was carried out by the provider and is only kept.
 */
export interface ToolCall {
  readonly type: "tool-call";
  readonly id: string;
  readonly name: string;
  readonly arguments: Json;
  readonly malformed?: string;
  readonly providerExecuted?: boolean;
  readonly providerMetadata?: ProviderMetadata;
}

/** A part that only its provider understands (a source, the result of a tool the provider ran). Kept and sent back in place. */
export interface ProviderPart {
  readonly type: "provider";
  readonly data: JsonObject;
}

/** A part of a model's reply, in the order the model wrote them. */
export type ReplyPart = TextPart | ReasoningPart | FilePart | ToolCall | ProviderPart;

/** The author's words to the model. */
export interface SystemMessage {
  readonly role: "system";
  readonly text: string;
}

/** The user's words to the model, or those of the runtime in the user's place. */
export interface UserMessage {
  readonly role: "user";
  readonly parts: readonly (TextPart | FilePart)[];
  /** Set when the runtime wrote it and no user did: feedback on a reply, a summary of what was said before. No provider is sent this field. */
  readonly by?: "runtime";
  /**
   * The origin, when that is not the user: a model or strangers spoke in the user's place. No provider is
   * sent this field.
   */
  readonly label?: Label;
}

/**
 * A reply of the model: text and calls together, in order. `raw` is the text as the model wrote it where a driver read the calls out of
 * text, so that the model sees its own words again.
 */
export interface ReplyMessage {
  readonly role: "assistant";
  readonly parts: readonly ReplyPart[];
  readonly raw?: string;
  /**
   * The label of all that the model had seen when it wrote this, where that was not the user and the author
   * alone. No provider is sent this field.
   */
  readonly label?: Label;
}

/**
 * The end of a call.
 *
 * - `ok`: the result of the tool.
 * - `error`: the tool failed.
 * - `invalid`: the arguments were wrong.
 * - `denied`: the allow-list, the policy or a person said no.
 * - `timeout`: it took too long.
 * - `cancelled`: the run was stopped.
 * - `skipped`: something before it stopped the batch, or a budget forbids it.
 * - `unknown`: nobody knows whether it happened. A stop, the end of its time or a crash overtook a tool that
 *   changes something.
 */
export type ResultStatus = (typeof resultStatuses)[number];

export const resultStatuses = [
  "ok",
  "error",
  "invalid",
  "denied",
  "timeout",
  "cancelled",
  "skipped",
  "unknown",
] as const;

/**
 * The one result of a call. The model reads `text`. People read `note` beside it. `value` is the value that the tool returned, unless that was a
 * file.
 */
export interface ToolResult {
  readonly status: ResultStatus;
  readonly text: string;
  /** The files that the tool gave. The text names each of them, for models that are shown none. */
  readonly files?: readonly FilePart[];
  readonly note?: string;
  readonly value?: Json;
  /** The arguments with which the call ran, if they are not the model's. */
  readonly arguments?: Json;
  /** The names of the tools of which it tells the model first: they were not offered before. */
  readonly offers?: readonly string[];
  /**
   * The origin. Left out: a stranger, namely the tool (`untrusted`, `tool/NAME`); or the runtime, for calls
   * that did not run.
   */
  readonly label?: Label;
}

/** A result in its place in the transcript. */
export interface ResultMessage extends ToolResult {
  readonly role: "tool";
  readonly callId: string;
  readonly name: string;
}

/** A message of a transcript. */
export type Message = SystemMessage | UserMessage | ReplyMessage | ResultMessage;

/**
 * The reason why a model stopped writing. `length`: the reply was cut, and its last call never runs. `pause`: the provider wants to be
 * asked again with the reply, to go on with it.
 */
export type FinishReason = "stop" | "length" | "tool-calls" | "content-filter" | "pause" | "error" | "other";

/**
 * A provider's report on its reply as a whole: its id of the reply, its name of the model that wrote it, and
 * its word for the reason of the end. `metadata` is the rest, by provider: logprobs, grounding.
 */
export interface ReportedResponse {
  readonly id?: string;
  readonly model?: string;
  readonly finishReason?: string;
  readonly metadata?: ProviderMetadata;
}

/**
 * Makes a user message of a text.
 *
 * @example
 * ```ts
 * import { userMessage } from "writ/doors";
 *
 * export const question = userMessage("What is 3 + 5?");
 * ```
 */
export function userMessage(text: string): UserMessage {
  if (typeof text !== "string") checkShape("userMessage()", text, string);
  return { role: "user", parts: [{ type: "text", text }] };
}

/** A message that the runtime itself writes in the user's place. */
export function runtimeMessage(text: string): UserMessage {
  return { ...userMessage(text), by: "runtime" };
}

/**
 * Tells messages that a user wrote. Of all messages of a run, the last of these is the one that the run
 * answers.
 */
export function isAsked(message: Message): message is UserMessage {
  return message.role === "user" && message.by === undefined;
}

/** The messages of a run itself: from what it was asked on. */
export function sinceAsked(messages: readonly Message[]): readonly Message[] {
  return messages.slice(Math.max(0, messages.findLastIndex(isAsked)));
}

/**
 * The text of a reply or a user message: its text parts, joined.
 *
 * @example
 * ```ts
 * import { textOf, userMessage } from "writ/doors";
 *
 * console.log(textOf(userMessage("hello"))); // hello
 * ```
 */
export function textOf(message: UserMessage | ReplyMessage): string {
  if (!Array.isArray((message as Partial<typeof message> | undefined | null)?.parts))
    checkShape("textOf()", message, withParts);
  let text = "";
  for (const part of message.parts) if (part.type === "text") text += part.text;
  return text;
}

/**
 * The calls of a reply that the program has to settle (not those that the provider carried out itself).
 *
 * @example
 * ```ts
 * import { callsOf, type ReplyMessage } from "writ/doors";
 *
 * export const names = (reply: ReplyMessage): string[] => callsOf(reply).map(({ name }) => name);
 * ```
 */
export function callsOf(reply: ReplyMessage): readonly ToolCall[] {
  if (!Array.isArray((reply as Partial<ReplyMessage> | undefined | null)?.parts))
    checkShape("callsOf()", reply, withParts);
  const { parts } = reply;
  return parts.every(isOwnCall) ? parts : parts.filter(isOwnCall);
}

const withParts = object({ parts: list(record) }, "a message of a user or a model");

function isOwnCall(part: ReplyPart): part is ToolCall {
  return part.type === "tool-call" && part.providerExecuted !== true;
}

/** The label of a reply by itself: what the provider did for it, as a search, brings strangers' words. */
export function labelOfReply(reply: ReplyMessage): Label {
  const isHelped = reply.parts.some(
    (part) => part.type === "provider" || (part.type === "tool-call" && part.providerExecuted === true),
  );
  return isHelped ? joinLabels(labelOf(reply), untrustedFrom("provider")) : labelOf(reply);
}

/** Tells of a reply that it has no text, no file and no calls to settle. */
export function isWordless(reply: ReplyMessage): boolean {
  const hasFile = reply.parts.some(({ type }) => type === "file");
  return !hasFile && textOf(reply).trim() === "" && callsOf(reply).length === 0;
}

/** The text of an answer, an input or a result: a text is told as it is, everything else as JSON. */
export function contentText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * The label of a message. Without one of its own a tool's result is a stranger's, in whatever transcript it stands; what the runtime says in the
 * place of a result, and what users, authors and a model that has seen nothing else say, is trusted.
 */
export function labelOf(message: Message): Label {
  if (message.role === "system") return trustedLabel;
  if (message.label !== undefined) return readLabel(message.label);
  if (message.role !== "tool" || runtimeWords.has(message.status)) return trustedLabel;
  return untrustedFrom(`tool/${message.name}`);
}

const clientSource = (tool: string): string => `client/${tool}`;

/** A message from a client of a server: the result of a call is a stranger's, and not that of a tool here. */
export function ofClient(message: Message): Message {
  if (message.role !== "tool") return message;
  const { secrecy } = labelOf(message);
  return { ...message, label: { ...untrustedFrom(clientSource(message.name)), secrecy } };
}

/** True for the result of a call as a client told it. */
export function isOfClient({ label, name }: ResultMessage): boolean {
  return label?.sources.includes(clientSource(name)) === true;
}

/** The ends of calls that did not run, or that the runtime ended: their results are the runtime's words. */
const runtimeWords: ReadonlySet<string> = new Set<ResultStatus>([
  "invalid",
  "denied",
  "timeout",
  "cancelled",
  "skipped",
]);

/** True if a message of a tool without a label of its own means this label. */
export function isDefaultLabel({ integrity, secrecy, sources }: Label, tool: string): boolean {
  return (
    integrity === "untrusted" && secrecy === "public" && sources.length === 1 && sources[0] === `tool/${tool}`
  );
}

/** The join of what stands in these messages. */
export function labelOfAll(messages: readonly Message[]): Label {
  return messages.reduce((sum, message) => joinLabels(sum, labelOf(message)), trustedLabel);
}

/** About how many characters a model reads or writes for a message: for estimates where a provider reports no usage. */
export function charactersOf(message: Message): number {
  if (message.role === "system") return message.text.length;
  if (message.role === "tool")
    return message.files?.reduce(addFile, message.text.length) ?? message.text.length;
  let sum = 0;
  for (const part of message.parts) sum += partCharacters(part);
  return sum;
}

function addFile(sum: number, file: FilePart): number {
  return sum + charactersOfFile(file);
}

function partCharacters(part: ReplyPart): number {
  if (part.type === "text" || part.type === "reasoning") return part.text.length;
  if (part.type === "file") return charactersOfFile(part);
  return part.type === "tool-call" ? part.name.length + jsonCharacters(part.arguments) : 0;
}

/** The length of the JSON text of a value, which is not written for it. Escapes are not counted. */
function jsonCharacters(value: Json): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return String(value).length;
  let sum = 1;
  if (isJsonObject(value))
    for (const key in value) sum += 4 + key.length + jsonCharacters(value[key] ?? null);
  else for (const each of value) sum += 1 + jsonCharacters(each);
  return Math.max(2, sum);
}

/** Providers count a picture as some hundred to some thousand tokens, whatever its bytes. */
const fileCharacters = 4_000;

/** About how many characters a model reads for a file: those of a text; for any other what providers count for a picture. */
export function charactersOfFile(file: FilePart): number {
  return isTextFile(file) ? (file.bytes ?? sizeOf(file.data) ?? fileCharacters) : fileCharacters;
}

const textType = /^(?:text\/|application\/(?:[^;]+\+)?(?:json|xml|yaml)\b)/i;

/** True for a file that is text, and whose data is at hand. */
export function isTextFile({ mediaType, data }: FilePart): boolean {
  return textType.test(mediaType) && (!isAddress(data) || readDataUrl(data) !== undefined);
}

/**
 * The names that may stand in a transcript. Any other that a model invents could not be sent back to a
 * provider.
 */
export const storableName: RegExp = /^[a-zA-Z0-9_./-]{1,64}$/;
