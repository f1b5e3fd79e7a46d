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
import type { Delta } from "./model.ts";

/** A whole reply, put together from its deltas. */
export interface Reply {
  readonly message: ReplyMessage;
  readonly finishReason: FinishReason;
  readonly usage?: ReportedUsage;
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
  readonly block: string | undefined;
  text: string;
  providerMetadata: ProviderMetadata | undefined;
}

interface OpenCall {
  readonly place: number;
  readonly named: Pick<ToolCall, "id" | "name" | "malformed">;
  text: string;
}

/**
 * Begins a reply of the model `modelId`.
 *
 * @throws WritError `reply-invalid` from `push` when the deltas contradict the port (a piece of a call that never started).
 */
export function assemble(modelId: string, nameCall: NameCall): Assembler {
  const parts: (ReplyPart | OpenBlock | OpenCall)[] = [];
  const calls = new Map<string, OpenCall>();
  let block: OpenBlock | undefined;
  const blocks = new Map<string, OpenBlock>();
  let callCount = 0;
  let end: Extract<Delta, { type: "end" }> | undefined;

  function addText(
    type: OpenBlock["type"],
    delta: Extract<Delta, { type: "text-delta" | "reasoning-delta" }>,
  ): void {
    const key = `${type} ${delta.block}`;
    const open = delta.block === undefined ? sameKind(block, type) : blocks.get(key);
    block = open ?? { type, block: delta.block, text: "", providerMetadata: undefined };
    if (open === undefined) parts.push(block);
    if (delta.block !== undefined) blocks.set(key, block);
    block.text += delta.text;
    if (delta.providerMetadata !== undefined)
      block.providerMetadata = { ...block.providerMetadata, ...delta.providerMetadata };
  }

  function startCall(delta: Extract<Delta, { type: "call-start" }>): void {
    const call = {
      place: parts.length,
      named: nameCall({ id: delta.id, name: delta.name, index: callCount }),
      text: "",
    };
    callCount += 1;
    calls.set(delta.id, call);
    parts.push(call);
  }

  function callOf(id: string): OpenCall {
    const call = calls.get(id);
    if (call === undefined)
      throw new WritError("reply-invalid", {
        model: modelId,
        reason: `a piece of the call "${id}" came before its start`,
      });
    return call;
  }

  function endCall(delta: Extract<Delta, { type: "call-end" }>): ToolCall {
    const open = callOf(delta.id);
    calls.delete(delta.id);
    const { type: _type, id: _id, arguments: whole, ...rest } = delta;
    const call: ToolCall = {
      type: "tool-call",
      ...readArguments(whole ?? open.text),
      ...open.named,
      ...rest,
    };
    parts[open.place] = call;
    return call;
  }

  return {
    push(delta) {
      if (delta.type === "text-delta") addText("text", delta);
      else if (delta.type === "reasoning-delta") addText("reasoning", delta);
      else {
        block = undefined;
        if (delta.type === "call-start") startCall(delta);
        else if (delta.type === "call-delta") callOf(delta.id).text += delta.text;
        else if (delta.type === "call-end") return endCall(delta);
        else if (delta.type === "provider-part") parts.push(delta.part);
        else end = delta;
      }
      return undefined;
    },
    reply() {
      const finishReason = end?.finishReason ?? "other";
      const closed = parts.map(closePart).filter((part) => !isEmptyText(part));
      return {
        message: { role: "assistant", parts: finishReason === "length" ? cutLastCall(closed) : closed },
        finishReason,
        usage: end?.usage,
      };
    },
  };
}

/** The open block, when a piece without the name of a block goes on with it. */
function sameKind(block: OpenBlock | undefined, type: OpenBlock["type"]): OpenBlock | undefined {
  return block?.type === type && block.block === undefined ? block : undefined;
}

function closePart(part: ReplyPart | OpenBlock | OpenCall): ReplyPart {
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
