import { Buffer } from "node:buffer";
import type { ProviderMetadata } from "../../message/message.ts";
import type { Delta, ReportedResponse } from "../../model/model.ts";
import type { Json } from "../../util/json.ts";
import { endDelta, plain, type ResponseMetadata, responseOf, type StreamFinish } from "./ai-sdk-end.ts";
import { UnreadableReply } from "./http-reply.ts";
import { keptBy, keptCall } from "./kept.ts";
import { newCallId } from "./wire-fields.ts";
import { type WrittenReply, writtenReply } from "./ai-sdk-written.ts";

type FileData = string | Uint8Array | URL;

/**
 * A part of a stream, or of a whole reply, with the fields that are read here; packages of three versions write them. Parts of other
 * types are ignored.
 */
export interface StreamPart extends StreamFinish {
  readonly type: string;
  readonly id?: string;
  readonly modelId?: unknown;
  readonly delta?: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  /** The JSON text. */
  readonly input?: Json;
  readonly providerExecuted?: boolean;
  readonly providerMetadata?: ProviderMetadata;
  /** True for a result that a later one of the same call replaces. */
  readonly preliminary?: boolean;
  readonly data?:
    | FileData
    | { readonly type: "data"; readonly data: FileData }
    | { readonly type: "url"; readonly url: URL | string };
  readonly mediaType?: unknown;
  readonly kind?: string;
  readonly error?: unknown;
  /** A chunk as the provider sent it. */
  readonly rawValue?: unknown;
  /** The warnings at the beginning of a stream. */
  readonly warnings?: unknown;
}

/** A whole reply, from `doGenerate`. */
export interface GeneratedReply extends StreamFinish {
  readonly content: readonly StreamPart[];
  readonly response?: ResponseMetadata;
  readonly warnings?: unknown;
}

/** An `error` part of a stream; its `cause` is the value that the package put into the part. */
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
  const { id, modelId } = reply.response ?? {};
  yield { type: "response-metadata", id: typeof id === "string" ? id : undefined, modelId };
  const { usage, finishReason, providerMetadata } = reply;
  yield { type: "finish", usage, finishReason, providerMetadata };
}

/**
 * The parts of a stream as deltas. Every call starts once and ends once, whether or not its arguments came in
 * pieces before; sources inside a text come after it, so that a text stays one part. `server` is
 * noted on parts that must go back to the provider that wrote them, and to no other.
 *
 * @throws StreamFailure at an `error` part. UnreadableReply if the parts end without a `finish`.
 */
export async function* toDeltas(
  parts: AsyncIterable<StreamPart> | Iterable<StreamPart>,
  server?: string,
): AsyncGenerator<Delta> {
  const [blockNames, callIds] = [new Set<string>(), new Set<string>()];
  const noted = new Set<string>();
  const state: ReadState = {
    server,
    open: new Map(),
    blockNames,
    noted,
    calls: new Map(),
    callIds,
    held: [],
    written: writtenReply(server),
  };
  for await (const part of parts) {
    if (part.type === "raw") state.written?.read(part.rawValue);
    if (part.type === "error") throw new StreamFailure("the stream brought an error", { cause: part.error });
    if (part.type === "finish") {
      if (state.written?.hasEnded === false) break;
      yield* release(state);
      yield endDelta(part, state.response, server);
      return;
    }
    yield* read(part, state);
  }
  throw new UnreadableReply("the answer ended before the reply did");
}

interface StartedCall {
  /** The id that the call has in the deltas. */
  readonly id: string;
  /** Its `tool-call`, if it has come. */
  whole?: StreamPart;
  readonly providerExecuted: boolean;
  readonly providerMetadata: ProviderMetadata | undefined;
}

interface ReadState {
  readonly server: string | undefined;
  /** The names of the blocks that began and did not end, by kind and id. */
  readonly open: Map<string, string>;
  readonly blockNames: Set<string>;
  /** The blocks of reasoning that have a note of the server. */
  readonly noted: Set<string>;
  /** The last call with each id of the provider. */
  readonly calls: Map<string, StartedCall>;
  readonly callIds: Set<string>;
  /** Sources that came while a block was open. */
  held: Delta[];
  /** The provider's own chunks, for a package that changes their content. */
  readonly written: WrittenReply | undefined;
  response?: ReportedResponse;
}

function read(part: StreamPart, state: ReadState): readonly Delta[] {
  const kind = blockKinds.get(part.type);
  if (kind !== undefined) return readBlock(kind, part, state);
  switch (part.type) {
    case "tool-input-start":
      return startCall({ ...part, toolCallId: part.id }, state);
    case "tool-input-delta":
      return readInput(part, state);
    case "tool-call":
      return endCall(part, state);
    case "source":
      state.held.push(kept(part));
      return state.open.size === 0 ? release(state) : [];
    case "tool-result":
      if (part.preliminary === true) return [];
      return [...release(state), kept({ ...part, toolCallId: callIdOf(part, state) })];
    case "file":
      return [...release(state), fileOf(part)];
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

/** The part with Anthropic's data about the whole response, which `finish` repeats; it is not content, and `doGenerate` does not have it. */
const responseStart = "anthropic.message_start";

function release(state: ReadState): readonly Delta[] {
  const { held } = state;
  if (held.length > 0) state.held = [];
  return held;
}

type BlockKind = "text" | "reasoning";

const blockKinds: ReadonlyMap<string, BlockKind> = new Map(
  ["start", "delta", "end"].flatMap((at): [string, BlockKind][] => [
    [`text-${at}`, "text"],
    [`reasoning-${at}`, "reasoning"],
  ]),
);

/** Reads a block. A provider may reuse the id of a block after its end: the new block gets a name of its own. */
function readBlock(kind: BlockKind, part: StreamPart, state: ReadState): readonly Delta[] {
  const { id = "", delta: text = "", providerMetadata } = part;
  const key = `${kind} ${id}`;
  const isEnd = part.type.endsWith("-end");
  if (part.type.endsWith("-start")) state.open.delete(key);
  let block = state.open.get(key);
  if (block === undefined && isEnd) return [];
  if (block === undefined) state.open.set(key, (block = newBlockName(kind, id, state.blockNames)));
  const deltas: Delta[] =
    text === "" && providerMetadata === undefined
      ? []
      : [{ type: `${kind}-delta`, text, block, ...metadataOf(providerMetadata, noteOf(kind, block, state)) }];
  if (!isEnd) return deltas;
  state.open.delete(key);
  return state.open.size === 0 ? [...deltas, ...release(state)] : deltas;
}

/** The note for a block: once is enough, because the metadata of a block are merged. */
function noteOf(kind: BlockKind, block: string, { server, noted }: ReadState): ProviderMetadata | undefined {
  if (server === undefined || kind === "text" || noted.has(block)) return undefined;
  noted.add(block);
  return keptBy(server, {});
}

function newBlockName(kind: BlockKind, id: string, taken: Set<string>): string {
  let name = id;
  for (let again = 2; taken.has(`${kind} ${name}`); again += 1) name = `${id}#${again}`;
  taken.add(`${kind} ${name}`);
  return name;
}

/** Starts a call. Some servers give calls no id, or several the same: after the end of the first, the id begins another call. */
function startCall(part: StreamPart, state: ReadState): readonly Delta[] {
  const { toolCallId = "", toolName: name = "", providerExecuted = false, providerMetadata } = part;
  const known = state.calls.get(toolCallId);
  if (known !== undefined && known.whole === undefined) return [];
  const id = newCallId(toolCallId, state.callIds, state.callIds.size + 1);
  state.calls.set(toolCallId, { id, providerExecuted, providerMetadata });
  return [...release(state), { type: "call-start", id, name }];
}

function callIdOf({ toolCallId = "" }: StreamPart, state: ReadState): string {
  return state.calls.get(toolCallId)?.id ?? toolCallId;
}

/** @throws UnreadableReply for a call that continues after it was whole, because it may have begun to run */
function readInput({ id = "", delta: text = "" }: StreamPart, { calls }: ReadState): readonly Delta[] {
  const call = calls.get(id);
  if (call === undefined || text === "") return [];
  const { whole } = call;
  if (whole === undefined) return [{ type: "call-delta", id: call.id, text }];
  if (text.trim() === "" || text === whole.input) return [];
  throw new UnreadableReply(`the call of "${whole.toolName ?? ""}" went on after it was whole`);
}

function endCall(part: StreamPart, state: ReadState): readonly Delta[] {
  const { toolCallId = "" } = part;
  const before = state.calls.get(toolCallId)?.whole;
  if (before !== undefined && before.toolName === part.toolName && before.input === part.input) return [];
  const start = startCall(part, state);
  const call = state.calls.get(toolCallId);
  if (call !== undefined) call.whole = part;
  const providerExecuted = part.providerExecuted === true || call?.providerExecuted === true;
  const id = callIdOf(part, state);
  return [
    ...start,
    {
      type: "call-end",
      id,
      arguments: state.written?.take(toolCallId, part.toolName) ?? part.input,
      ...(providerExecuted ? { providerExecuted } : {}),
      ...metadataOf(part.providerMetadata ?? call?.providerMetadata, callNote(id, providerExecuted, state)),
    },
  ];
}

/** The note of the server on a call of the provider's own, which means nothing to another provider. */
function callNote(id: string, isExecuted: boolean, { server }: ReadState): ProviderMetadata | undefined {
  if (server === undefined) return undefined;
  return keptCall(server, id, {}) ?? (isExecuted ? keptBy(server, {}) : undefined);
}

function metadataOf(
  given: ProviderMetadata | undefined,
  note?: ProviderMetadata,
): { readonly providerMetadata?: ProviderMetadata } {
  if (given === undefined && note === undefined) return {};
  return { providerMetadata: { ...(given && plain(given)), ...note } };
}

function kept(part: object): Delta {
  return { type: "provider-part", part: { type: "provider", data: plain(part) } };
}

/** A file that the model made; if the package does not name its type, it is kept as it came. */
function fileOf(part: StreamPart): Delta {
  const { mediaType } = part;
  const data = textOfFile(part.data);
  if (typeof mediaType !== "string" || data === "") return kept({ ...part, data });
  return { type: "file", part: { type: "file", mediaType, data, ...metadataOf(part.providerMetadata) } };
}

function textOfFile(data: StreamPart["data"] = ""): string {
  if (typeof data === "string") return data;
  if (data instanceof Uint8Array)
    return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
  if (data instanceof URL) return data.href;
  return data.type === "url" ? String(data.url) : textOfFile(data.data);
}
