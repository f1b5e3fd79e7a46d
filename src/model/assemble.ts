import { WritError } from "../error/writ-error.ts";
import type {
  FinishReason,
  ProviderMetadata,
  ReplyMessage,
  ReplyPart,
  ToolCall,
} from "../message/message.ts";
import type { ReportedUsage } from "../message/usage.ts";
import { type Json, isJsonObject, parseJson, toJson } from "../util/json.ts";
import { sameJson } from "../util/same-json.ts";
import type { Delta, ReportedResponse } from "./model.ts";

/** A whole reply, put together from its deltas. */
export interface Reply {
  readonly message: ReplyMessage;
  readonly finishReason: FinishReason;
  readonly usage?: ReportedUsage;
  readonly response?: ReportedResponse;
}

/** Takes the deltas of one reply in order; the time and memory it needs grow with their text and nothing else. */
export interface Assembler {
  /** Takes the next delta. Gives the call that this delta completed, if it did. */
  push(delta: Delta): ToolCall | undefined;
  /** The reply, when the last delta was taken. */
  reply(): Reply;
}

/** A call as its provider began it, and its place among the calls of the reply. */
export interface CallStart {
  readonly id: string;
  readonly name: string;
  readonly index: number;
}

/** Gives a call the id and name it has in the transcript; `malformed` when it has none that can run. */
export type NameCall = (start: CallStart) => Pick<ToolCall, "id" | "name" | "malformed">;

interface OpenBlock {
  readonly type: "text" | "reasoning";
  text: string;
  providerMetadata: ProviderMetadata | undefined;
}

interface UnfinishedCall {
  readonly place: number;
  readonly named: Pick<ToolCall, "id" | "name" | "malformed">;
  text: string;
}

/** The parts of the reply in their order; blocks and calls that are still being written stand in their place. */
type Parts = (ReplyPart | OpenBlock | UnfinishedCall)[];

type TextDelta = Extract<Delta, { type: "text-delta" | "reasoning-delta" }>;
type CallEnd = Extract<Delta, { type: "call-end" }>;

/**
 * Begins a reply of the model `modelId`.
 *
 * @throws WritError `reply-invalid` when the deltas contradict the port: a piece of a call that never started, a reply without an end.
 */
export function assemble(modelId: string, nameCall: NameCall): Assembler {
  const parts: Parts = [];
  const addText = textBlocks(parts);
  const calls = callParts(parts, modelId, nameCall);
  let end: Extract<Delta, { type: "end" }> | undefined;
  return {
    push(delta) {
      if (delta.type === "text-delta" || delta.type === "reasoning-delta") {
        addText(delta);
        return undefined;
      }
      addText(undefined);
      if (delta.type === "call-start") calls.start(delta);
      else if (delta.type === "call-delta") calls.open(delta.id).text += delta.text;
      else if (delta.type === "call-end") return calls.end(delta);
      else if (delta.type === "provider-part") parts.push(delta.part);
      else end = delta;
      return undefined;
    },
    reply() {
      if (end === undefined)
        throw new WritError(
          "reply-invalid",
          { model: modelId, reason: "it broke off before its end" },
          { retryable: true },
        );
      const { finishReason, usage, response } = end;
      const closed: ReplyPart[] = [];
      for (const open of parts) {
        const part = closePart(open);
        if (!isEmptyText(part)) closed.push(part);
      }
      const message = {
        role: "assistant" as const,
        parts: finishReason === "length" ? cutLastCall(closed) : closed,
      };
      return { message, finishReason, usage, ...(response === undefined ? {} : { response }) };
    },
  };
}

/**
 * Adds pieces of text to their blocks: by the name of the block, or to the block that was open last. Undefined closes the block that has no
 * name, since something else came between.
 */
function textBlocks(parts: Parts): (delta: TextDelta | undefined) => void {
  const named = new Map<string, OpenBlock>();
  let unnamed: OpenBlock | undefined;
  return (delta) => {
    if (delta === undefined) {
      unnamed = undefined;
      return;
    }
    const type = delta.type === "text-delta" ? "text" : "reasoning";
    const key = `${type} ${delta.block ?? ""}`;
    const open = delta.block === undefined ? unnamed : named.get(key);
    const block: OpenBlock = open?.type === type ? open : { type, text: "", providerMetadata: undefined };
    if (block !== open) parts.push(block);
    if (delta.block !== undefined) named.set(key, block);
    unnamed = delta.block === undefined ? block : undefined;
    block.text += delta.text;
    if (delta.providerMetadata !== undefined)
      block.providerMetadata = { ...block.providerMetadata, ...delta.providerMetadata };
  };
}

interface CallParts {
  start(delta: { readonly id: string; readonly name: string }): void;
  open(id: string): UnfinishedCall;
  end(delta: CallEnd): ToolCall;
}

function callParts(parts: Parts, modelId: string, nameCall: NameCall): CallParts {
  const calls = new Map<string, UnfinishedCall>();
  let count = 0;
  function open(id: string): UnfinishedCall {
    const call = calls.get(id);
    if (call !== undefined) return call;
    throw new WritError("reply-invalid", {
      model: modelId,
      reason: `a piece of the call "${id}" came before its start`,
    });
  }
  return {
    open,
    start({ id, name }) {
      const call = { place: parts.length, named: nameCall({ id, name, index: count }), text: "" };
      count += 1;
      calls.set(id, call);
      parts.push(call);
    },
    end(delta) {
      const { place, named, text } = open(delta.id);
      calls.delete(delta.id);
      const { type: _type, id: _id, arguments: whole, ...rest } = delta;
      const read =
        whole === undefined || rest.providerExecuted === true
          ? readArguments(whole ?? text)
          : writtenArguments(text, whole);
      const call: ToolCall = { type: "tool-call", ...read, ...named, ...rest };
      parts[place] = call;
      return call;
    },
  };
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

/** A reply that was cut at the token limit may have been cut inside its last call, even where the rest happens to parse. */
function cutLastCall(parts: readonly ReplyPart[]): readonly ReplyPart[] {
  const last = parts.findLastIndex((part) => part.type === "tool-call");
  return parts.map((part, index) => {
    if (index !== last || part.type !== "tool-call" || part.malformed !== undefined) return part;
    const text = typeof part.arguments === "string" ? part.arguments : JSON.stringify(part.arguments);
    return { ...part, arguments: text, malformed: "the reply was cut off at the token limit" };
  });
}

/**
 * The arguments of a call that came in pieces and are given whole as well. Some packages put `{}`, or something
 * that they mended, in place of text that is not JSON: a call runs only with the value that the model wrote.
 * Where no text came, the whole alone counts.
 */
function writtenArguments(text: string, whole: Json): Pick<ToolCall, "arguments" | "malformed"> {
  const given = readArguments(whole);
  if (text === whole || text === given.arguments || text.trim() === "") return given;
  const written = readArguments(text);
  if (written.malformed !== undefined || sameJson(written.arguments, given.arguments)) return written;
  const malformed = "the provider gave them a second time, with another value";
  return { arguments: text, malformed };
}

/** The arguments of a call from what the provider gave: the text of JSON, or a value. Nothing at all means no arguments. */
export function readArguments(given: Json): Pick<ToolCall, "arguments" | "malformed"> {
  if (given === "" || given === null) return { arguments: {} };
  if (typeof given === "string") {
    const parsed = parseJson(given);
    return parsed.ok
      ? { arguments: parsed.value ?? {} }
      : { arguments: given, malformed: `they are not valid JSON: ${parsed.reason}` };
  }
  if (isJsonObject(given)) {
    const checked = toJson(given);
    return checked.ok
      ? { arguments: checked.value }
      : { arguments: JSON.stringify(given), malformed: checked.reason };
  }
  return { arguments: given };
}
