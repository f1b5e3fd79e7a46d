import { Buffer } from "node:buffer";
import type { ProviderMetadata } from "../../message/message.ts";
import type { Delta, ReportedResponse } from "../../model/model.ts";
import type { Json, JsonObject } from "../../util/json.ts";
import {
  finishReasonOf,
  type ResponseMetadata,
  responseOf,
  type StreamFinish,
  usageOf,
} from "./ai-sdk-end.ts";
import { UnreadableReply } from "./http-reply.ts";

interface WithMetadata {
  readonly providerMetadata?: ProviderMetadata;
}

interface BlockPart extends WithMetadata {
  readonly type:
    | "text-start"
    | "text-delta"
    | "text-end"
    | "reasoning-start"
    | "reasoning-delta"
    | "reasoning-end";
  readonly id: string;
  readonly delta?: string;
}

interface InputPart extends WithMetadata {
  readonly type: "tool-input-start" | "tool-input-delta";
  readonly id: string;
  readonly toolName: string;
  readonly delta: string;
  readonly providerExecuted?: boolean;
}

interface CallPart extends WithMetadata {
  readonly type: "tool-call";
  readonly toolCallId: string;
  readonly toolName: string;
  /** The text of JSON. */
  readonly input: Json;
  readonly providerExecuted?: boolean;
}

interface ResultPart extends WithMetadata {
  readonly type: "tool-result";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly result?: Json;
  readonly isError?: boolean;
  /** A later result of the same call takes its place. */
  readonly preliminary?: boolean;
}

interface FileContent extends WithMetadata {
  readonly type: "file" | "reasoning-file";
  readonly mediaType: string;
  readonly data:
    | FileData
    | { readonly type: "data"; readonly data: FileData }
    | { readonly type: "url"; readonly url: URL | string };
}

type FileData = string | Uint8Array | URL;

interface KeptPart extends WithMetadata {
  readonly type: "source" | "custom" | "tool-approval-request";
  readonly kind?: string;
}

interface FinishPart extends StreamFinish {
  readonly type: "finish";
}

interface ResponsePart extends ResponseMetadata {
  readonly type: "response-metadata";
}

interface ErrorPart {
  readonly type: "error";
  readonly error: unknown;
}

/** A part of a stream of any version, with the fields that are read here. Types that are not listed may come and are passed over. */
export type StreamPart =
  | BlockPart
  | InputPart
  | CallPart
  | ResultPart
  | FileContent
  | KeptPart
  | ResponsePart
  | FinishPart
  | ErrorPart;

/** A part of a reply that came whole. */
export type ContentPart =
  | (WithMetadata & { readonly type: "text"; readonly text: string })
  | (WithMetadata & { readonly type: "reasoning"; readonly text: string })
  | CallPart
  | ResultPart
  | FileContent
  | KeptPart;

/** A reply that came whole, from `doGenerate`. */
export interface GeneratedReply extends StreamFinish {
  readonly content: readonly ContentPart[];
  readonly response?: ResponseMetadata;
}

/** What an `error` part of a stream brought; its `cause` is the thing itself, whatever it is. */
export class StreamFailure extends Error {
  override readonly name: string = "StreamFailure";
}

/** The parts that a stream of the same reply would have had. */
export function* partsOf(reply: GeneratedReply): Generator<StreamPart> {
  for (const [index, part] of reply.content.entries()) {
    if (part.type === "text" || part.type === "reasoning") {
      const id = String(index);
      const { providerMetadata } = part;
      yield { type: `${part.type}-start`, id, providerMetadata };
      yield { type: `${part.type}-delta`, id, delta: part.text };
      yield { type: `${part.type}-end`, id };
    } else {
      yield part;
    }
  }
  if (reply.response !== undefined) yield { ...reply.response, type: "response-metadata" };
  yield { type: "finish", usage: reply.usage, finishReason: reply.finishReason };
}

/**
 * The parts of a stream as deltas. Every call starts once and ends once, whether or not its arguments came in
 * pieces before; sources that stand inside a text come after it, so that a text stays one part.
 *
 * @throws StreamFailure at an `error` part. UnreadableReply when the parts end without a `finish`.
 */
export async function* toDeltas(
  parts: AsyncIterable<StreamPart> | Iterable<StreamPart>,
): AsyncGenerator<Delta> {
  const state: ReadState = {
    open: new Map(),
    blockNames: new Set(),
    calls: new Map(),
    callIds: new Set(),
    held: [],
  };
  for await (const part of parts) {
    if (part.type === "error") throw new StreamFailure("the stream brought an error", { cause: part.error });
    if (part.type === "finish") {
      yield* release(state);
      yield {
        type: "end",
        finishReason: finishReasonOf(part.finishReason),
        ...usageOf(part.usage),
        ...(state.response === undefined ? {} : { response: state.response }),
      };
      return;
    }
    yield* read(part, state);
  }
  throw new UnreadableReply("the answer ended before the reply did");
}

interface StartedCall {
  /** The id that the call has in the deltas. */
  readonly id: string;
  /** Its `tool-call`, when that came. */
  whole?: CallPart;
  readonly providerExecuted: boolean;
  readonly providerMetadata: ProviderMetadata | undefined;
}

interface ReadState {
  /** The names of the blocks that began and did not end, by kind and id. */
  readonly open: Map<string, string>;
  readonly blockNames: Set<string>;
  /** The last call of each id that the provider gave. */
  readonly calls: Map<string, StartedCall>;
  readonly callIds: Set<string>;
  /** Sources that came while a block was open. */
  held: Delta[];
  response?: ReportedResponse;
}

function read(part: Exclude<StreamPart, FinishPart | ErrorPart>, state: ReadState): readonly Delta[] {
  if (isBlockPart(part)) return readBlock(part, state);
  switch (part.type) {
    case "tool-input-start":
      return startCall({ ...part, toolCallId: part.id }, state);
    case "tool-input-delta":
      return readInput(part.delta, state.calls.get(part.id));
    case "tool-call":
      return endCall(part, state);
    case "source":
      state.held.push(kept(part));
      return state.open.size === 0 ? release(state) : [];
    case "tool-result":
      if (part.preliminary === true) return [];
      return [...release(state), kept({ ...part, toolCallId: callIdOf(part.toolCallId, state) })];
    case "file":
    case "reasoning-file":
      return [...release(state), kept({ ...part, data: textOfFile(part.data) })];
    case "response-metadata":
      state.response = responseOf(part) ?? state.response;
      return [];
    case "tool-approval-request":
    case "custom":
      return part.kind === responseStart ? [] : [...release(state), kept(part)];
    default:
      return [];
  }
}

/** Says of Anthropic's whole response what `finish` says again; it is no content, and `doGenerate` does not give it. */
const responseStart = "anthropic.message_start";

function release(state: ReadState): readonly Delta[] {
  const { held } = state;
  if (held.length > 0) state.held = [];
  return held;
}

type BlockKind = "text" | "reasoning";

const blockTypes: ReadonlyMap<string, readonly [kind: BlockKind, at: "start" | "delta" | "end"]> = new Map([
  ["text-start", ["text", "start"]],
  ["text-delta", ["text", "delta"]],
  ["text-end", ["text", "end"]],
  ["reasoning-start", ["reasoning", "start"]],
  ["reasoning-delta", ["reasoning", "delta"]],
  ["reasoning-end", ["reasoning", "end"]],
]);

function isBlockPart(part: StreamPart): part is BlockPart {
  return blockTypes.has(part.type);
}

/** A provider may use the id of a block again after its end: the new block gets a name of its own. */
function readBlock(part: BlockPart, state: ReadState): readonly Delta[] {
  const [kind, at] = blockTypes.get(part.type) ?? [];
  const key = `${kind} ${part.id}`;
  if (at === "start") state.open.delete(key);
  let block = state.open.get(key);
  if (kind === undefined || (block === undefined && at === "end")) return [];
  if (block === undefined) {
    block = newBlockName(kind, part.id, state.blockNames);
    state.open.set(key, block);
  }
  const { delta: text = "", providerMetadata } = part;
  const nothing = text === "" && providerMetadata === undefined;
  const deltas: Delta[] = nothing
    ? []
    : [{ type: `${kind}-delta`, text, block, ...metadataOf(providerMetadata) }];
  if (at !== "end") return deltas;
  state.open.delete(key);
  return state.open.size === 0 ? [...deltas, ...release(state)] : deltas;
}

function newBlockName(kind: BlockKind, id: string, taken: Set<string>): string {
  let name = id;
  for (let again = 2; taken.has(`${kind} ${name}`); again += 1) name = `${id}#${again}`;
  taken.add(`${kind} ${name}`);
  return name;
}

type CallHead = Pick<CallPart, "toolCallId" | "toolName" | "providerExecuted" | "providerMetadata">;

/** Some servers give calls no id, or several the same: after the end of the first it begins another. */
function startCall(part: CallHead, state: ReadState): readonly Delta[] {
  const { toolCallId, toolName: name, providerExecuted = false, providerMetadata } = part;
  const known = state.calls.get(toolCallId);
  if (known !== undefined && known.whole === undefined) return [];
  const id = newCallId(toolCallId, state.callIds);
  state.calls.set(toolCallId, { id, providerExecuted, providerMetadata });
  return [...release(state), { type: "call-start", id, name }];
}

function newCallId(given: string, taken: Set<string>): string {
  let id = given.trim();
  for (let next = taken.size + 1; id === "" || taken.has(id); next += 1) id = `call_${next}`;
  taken.add(id);
  return id;
}

function callIdOf(given: string, state: ReadState): string {
  return state.calls.get(given)?.id ?? given;
}

function readInput(text: string, call: StartedCall | undefined): readonly Delta[] {
  return call === undefined || call.whole !== undefined || text === ""
    ? []
    : [{ type: "call-delta", id: call.id, text }];
}

function endCall(part: CallPart, state: ReadState): readonly Delta[] {
  const before = state.calls.get(part.toolCallId)?.whole;
  if (before?.toolName === part.toolName && before.input === part.input) return [];
  const start = startCall(part, state);
  const call = state.calls.get(part.toolCallId);
  if (call !== undefined) call.whole = part;
  const providerExecuted = part.providerExecuted === true || call?.providerExecuted === true;
  return [
    ...start,
    {
      type: "call-end",
      id: callIdOf(part.toolCallId, state),
      arguments: part.input,
      ...(providerExecuted ? { providerExecuted } : {}),
      ...metadataOf(part.providerMetadata ?? call?.providerMetadata),
    },
  ];
}

function metadataOf(providerMetadata: ProviderMetadata | undefined): WithMetadata {
  return providerMetadata === undefined ? {} : { providerMetadata: plain(providerMetadata) };
}

function kept(part: object): Delta {
  return { type: "provider-part", part: { type: "provider", data: plain(part) } };
}

/** The same as JSON has it, without the fields that are undefined: what is kept now equals what a journal gives back later. */
function plain(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value));
}

function textOfFile(data: FileContent["data"]): string {
  if (typeof data === "string") return data;
  if (data instanceof Uint8Array)
    return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
  if (data instanceof URL) return data.href;
  return data.type === "url" ? String(data.url) : textOfFile(data.data);
}
