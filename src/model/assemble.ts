import { shownValue } from "../util/shape.ts";
import { WritError } from "../error/writ-error.ts";
import type {
  FinishReason,
  ProviderMetadata,
  ReplyMessage,
  ReplyPart,
  ToolCall,
} from "../message/message.ts";
import type { ReportedUsage } from "../message/usage.ts";
import { parseCallJson } from "../util/call-json.ts";
import { type Json, isJsonObject, type ParsedJson, toJson } from "../util/json.ts";
import { sameJson } from "../util/same-json.ts";
import type { Delta, ReportedResponse, UnreadableCall } from "./model.ts";
import type { Writing } from "../util/writing.ts";

/** A whole reply, put together from its deltas. */
export interface Reply {
  readonly message: ReplyMessage;
  readonly finishReason: FinishReason;
  readonly usage?: ReportedUsage;
  readonly response?: ReportedResponse;
  readonly unreadable?: UnreadableCall;
}

/** Takes the deltas of one reply in order; its time and memory grow only with their text. */
export interface Assembler {
  /** Takes the next delta. Returns the call that this delta completed, if any. */
  push(delta: Delta): ToolCall | undefined;
  /** The reply, once the last delta was taken. Of one that was cut at the token limit the last call cannot run, unless it was complete and has begun. */
  reply(hasBegun?: HasBegun): Reply;
}

type HasBegun = (call: ToolCall) => boolean;

/** A call as its provider began it, with its place among the calls of the reply. */
export interface CallStart {
  readonly id: string;
  readonly name: string;
  readonly index: number;
}

/** Gives a call its id and name in the transcript; `malformed` if it has no name that can run. */
export type NameCall = (start: CallStart) => Pick<ToolCall, "id" | "name" | "malformed">;

interface OpenBlock {
  readonly type: "text" | "reasoning";
  text: string;
  providerMetadata: ProviderMetadata | undefined;
}

interface UnfinishedCall {
  readonly id: string;
  readonly place: number;
  /** The name as the provider wrote it. */
  readonly name: string;
  readonly named: Pick<ToolCall, "id" | "name" | "malformed">;
  text: string;
}

/** The parts of the reply in order; unfinished blocks and calls keep their places. */
type Parts = (ReplyPart | OpenBlock | UnfinishedCall)[];

type TextDelta = Extract<Delta, { type: "text-delta" | "reasoning-delta" }>;
type CallEnd = Extract<Delta, { type: "call-end" }>;

/**
 * Begins a reply of the model `modelId`.
 *
 * @throws WritError `reply-invalid` if the deltas violate the port: a piece of a call that never started, a reply without an end, a malformed delta
 */
export function assemble(modelId: string, nameCall: NameCall): Assembler {
  return new ReplyAssembler(modelId, nameCall);
}

/** A class because every reply has one: its members live once, on the prototype, and its maps are made on first use. */
class ReplyAssembler implements Assembler {
  private readonly modelId: string;
  private readonly nameCall: NameCall;
  private readonly parts: Parts = [];
  /** The blocks that have a name. */
  private named: Map<string, OpenBlock> | undefined;
  /** The block without a name that the next piece of text belongs to. */
  private unnamed: OpenBlock | undefined;
  /** The latest call, while it is being written. */
  private latest: UnfinishedCall | undefined;
  /** The earlier calls that are still being written; undefined if each ends before the next begins. */
  private open: Map<string, UnfinishedCall> | undefined;
  private count = 0;
  private end: Extract<Delta, { type: "end" }> | undefined;

  constructor(modelId: string, nameCall: NameCall) {
    this.modelId = modelId;
    this.nameCall = nameCall;
  }

  push(delta: Delta): ToolCall | undefined {
    if (delta.type === "text-delta" || delta.type === "reasoning-delta") {
      this.addText(delta);
      return undefined;
    }
    this.unnamed = undefined; // another part came between
    if (delta.type === "call-start") this.startCall(delta);
    else if (delta.type === "call-delta") this.openCall(delta.id).text += delta.text;
    else if (delta.type === "call-end") return this.endCall(delta);
    else if (delta.type === "provider-part" || delta.type === "file") this.parts.push(delta.part);
    else if (delta.type === "end") this.end = delta;
    else throw this.invalid(`a piece of it is not a delta, but ${shownValue(delta)}`);
    return undefined;
  }

  reply(hasBegun: HasBegun = () => false): Reply {
    if (this.end === undefined) throw this.invalid("it broke off before its end", { retryable: true });
    const { finishReason, usage, response, unreadable } = this.end;
    const closed: ReplyPart[] = [];
    for (const open of this.parts) {
      const part = closePart(open);
      if (!isEmptyText(part)) closed.push(part);
    }
    const said = closed.slice(); // of just this length: a list that grew has room for 16 more, and a run keeps its replies
    const parts = finishReason === "length" ? cutLastCall(said, hasBegun) : said;
    const reply: Reply = { message: { role: "assistant", parts }, finishReason, usage, response };
    return unreadable === undefined ? reply : { ...reply, unreadable };
  }

  /** Adds a piece of text to its block: the named one, or the last open one. */
  private addText(delta: TextDelta): void {
    const type = delta.type === "text-delta" ? "text" : "reasoning";
    const key = delta.block === undefined ? undefined : `${type} ${delta.block}`;
    const open = key === undefined ? this.unnamed : this.named?.get(key);
    const block: OpenBlock = open?.type === type ? open : { type, text: "", providerMetadata: undefined };
    if (block !== open) this.parts.push(block);
    if (key !== undefined) (this.named ??= new Map()).set(key, block);
    this.unnamed = key === undefined ? block : undefined;
    block.text += delta.text;
    if (delta.providerMetadata !== undefined)
      block.providerMetadata = { ...block.providerMetadata, ...delta.providerMetadata };
  }

  private startCall({ id, name }: { readonly id: string; readonly name: string }): void {
    const named = this.nameCall({ id, name, index: this.count });
    const call = { id, place: this.parts.length, name, named, text: "" };
    this.count += 1;
    if (this.latest !== undefined) (this.open ??= new Map()).set(this.latest.id, this.latest);
    this.latest = call;
    this.parts.push(call);
  }

  private openCall(id: string): UnfinishedCall {
    const call = this.latest?.id === id ? this.latest : this.open?.get(id);
    if (call === undefined) throw this.invalid(`a piece of the call "${id}" came before its start`);
    return call;
  }

  private endCall(delta: CallEnd): ToolCall {
    const { id, place, name, named, text } = this.openCall(delta.id);
    if (this.latest?.id === id) this.latest = undefined;
    this.open?.delete(id);
    const { arguments: whole, providerExecuted, providerMetadata } = delta;
    const isDone = providerExecuted === true; // a provider's own tool keeps the provider's name
    const read = whole === undefined || isDone ? readArguments(whole ?? text) : writtenArguments(text, whole);
    const malformed = (isDone ? undefined : named.malformed) ?? read.malformed;
    const call: Writing<ToolCall> = {
      type: "tool-call",
      arguments: read.arguments,
      id: named.id,
      name: isDone ? name : named.name,
    };
    if (malformed !== undefined) call.malformed = malformed;
    if (providerExecuted !== undefined) call.providerExecuted = providerExecuted;
    if (providerMetadata !== undefined) call.providerMetadata = providerMetadata;
    this.parts[place] = call;
    return call;
  }

  private invalid(reason: string, options?: { readonly retryable: true }): WritError {
    return new WritError("reply-invalid", { model: this.modelId, reason }, options);
  }
}

function closePart(part: ReplyPart | OpenBlock | UnfinishedCall): ReplyPart {
  if ("place" in part) {
    const malformed = "the reply ended before the call did";
    return { type: "tool-call", ...part.named, arguments: part.text, malformed };
  }
  if (part.type !== "text" && part.type !== "reasoning") return part;
  const { type, text, providerMetadata } = part;
  return { type, text, ...(providerMetadata === undefined ? {} : { providerMetadata }) };
}

function isEmptyText(part: ReplyPart): boolean {
  return (
    (part.type === "text" || part.type === "reasoning") &&
    part.text === "" &&
    part.providerMetadata === undefined
  );
}

/** The parts of a reply that was cut at the token limit: its last call may be cut too, even if the rest happens to parse. What has begun is not told otherwise. */
function cutLastCall(parts: readonly ReplyPart[], hasBegun: HasBegun): readonly ReplyPart[] {
  const last = parts.findLastIndex((part) => part.type === "tool-call");
  return parts.map((part, index) => {
    if (index !== last || part.type !== "tool-call" || part.malformed !== undefined || hasBegun(part))
      return part;
    const text = typeof part.arguments === "string" ? part.arguments : JSON.stringify(part.arguments);
    return { ...part, arguments: text, malformed: "the reply was cut off at the token limit" };
  });
}

/**
 * The arguments of a call that came both in pieces and whole. Some packages put `{}`, or
 * a repaired value, in place of text that is not JSON: a call runs only with the value that the
 * model wrote. Without pieces, the whole value counts.
 */
function writtenArguments(text: string, whole: Json): Pick<ToolCall, "arguments" | "malformed"> {
  const given = readArguments(whole);
  if (text === whole || text === given.arguments || text.trim() === "") return given;
  const written = readArguments(text);
  if (written.malformed !== undefined || sameJson(written.arguments, given.arguments)) return written;
  const malformed = "the provider gave them a second time, with another value";
  return { arguments: text, malformed };
}

/**
 * The arguments of a call from the provider's value: JSON text, or a value. Nothing means no
 * arguments. An object that was encoded as JSON twice is decoded twice. Proxies of Bedrock begin with an empty object, and the real one follows.
 */
export function readArguments(given: Json): Pick<ToolCall, "arguments" | "malformed"> {
  if (given === "" || given === null) return { arguments: {} };
  if (typeof given === "string") {
    const parsed = parseCallJson(given.replace(/^\{\}(?=\{)/, ""));
    const value = parsed.ok ? withinText(parsed.value) : parsed;
    return value.ok
      ? { arguments: value.value ?? {} }
      : { arguments: given, malformed: `they are not valid JSON: ${value.reason}` };
  }
  if (isJsonObject(given)) {
    const checked = toJson(given);
    return checked.ok
      ? { arguments: checked.value }
      : { arguments: JSON.stringify(given), malformed: checked.reason };
  }
  return { arguments: given };
}

/** The object in a text of JSON, if it is one; else the value. */
function withinText(value: Json): ParsedJson {
  if (typeof value !== "string" || !/^\s*\{/.test(value)) return { ok: true, value };
  const parsed = parseCallJson(value);
  return parsed.ok || "twice" in parsed ? parsed : { ok: true, value };
}
