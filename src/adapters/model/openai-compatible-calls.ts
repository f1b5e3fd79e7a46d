import type { ProviderMetadata } from "../../message/message.ts";
import type { Delta } from "../../model/model.ts";
import { asObject, isJsonObject, type Json } from "../../util/json.ts";
import { UnreadableReply } from "./http-reply.ts";
import { type Kept, keptCall } from "./kept.ts";
import { newCallId } from "./wire-fields.ts";

interface StreamedCall extends Closing {
  /** The id from the server; empty if it gave none. */
  readonly given: string;
  name: string;
  /** The id in the deltas, once the call has started. */
  id?: string;
  ended: boolean;
  /** Fields of the server's own, which must go back to it. */
  readonly kept: Kept;
}

/** Joins the pieces of calls in a streamed reply. */
export interface CallReader {
  readonly count: number;
  /** Takes the pieces of one chunk. */
  read(pieces: readonly Json[]): readonly Delta[];
  /** Ends the open calls. */
  end(): readonly Delta[];
}

/**
 * Reads calls as servers write them. Pieces belong to a call by their `index`, without one by their `id`, and without either by their
 * order. Arguments come in pieces, whole, or as a value; the name comes in pieces, in each piece, or later than the id. Calls
 * without an id, or with that of another call, get `call_` and their place in the reply. A call that is repeated with its id counts once.
 *
 * `read` throws UnreadableReply for a call that continues after it ended: the earlier call was then not what the model wrote.
 */
export function callReader(server: string): CallReader {
  const open = new Set<StreamedCall>();
  /** The calls whose arguments are whole. */
  const whole = new Set<StreamedCall>();
  const byIndex = new Map<number, StreamedCall>();
  /** The calls with each id from the server. */
  const byId = new Map<string, StreamedCall[]>();
  let latest: StreamedCall | undefined;
  let count = 0;
  const ids = new Set<string>();

  function start(call: StreamedCall): readonly Delta[] {
    const { name, text } = call;
    const id = (call.id = newCallId(call.given, ids));
    return [
      { type: "call-start", id, name },
      ...(text === "" ? [] : [{ type: "call-delta", id, text } as const]),
    ];
  }

  function finish(call: StreamedCall): readonly Delta[] {
    const started = call.id === undefined ? start(call) : [];
    call.ended = true;
    open.delete(call);
    whole.delete(call);
    const { id = "", kept } = call;
    return [...started, { type: "call-end", id, ...metadataOf(keptCall(server, id, kept)) }];
  }

  /** Begins a call: earlier calls whose arguments are whole have ended, so that they can run. */
  function begin(given: string): { readonly call: StreamedCall; readonly ended: readonly Delta[] } {
    const ended = [...whole].filter((call) => call.name !== "").flatMap(finish);
    const call: StreamedCall = { given, name: "", ended: false, kept: {}, ...nothingRead };
    open.add(call);
    const same = byId.get(given);
    if (same === undefined) byId.set(given, [call]);
    else if (given !== "") same.push(call);
    latest = call;
    count += 1;
    return { call, ended };
  }

  function callOf(index: Json | undefined, id: string, name: string): StreamedCall | undefined {
    const known =
      typeof index === "number"
        ? byIndex.get(index)
        : ((id === "" ? undefined : byId.get(id)?.at(-1)) ?? latest);
    if (known === undefined) return undefined;
    const another = id !== "" && known.given !== "" && id !== known.given;
    // Some servers give every call the same index, or none; then its name begins a call, unless the last one still waits for its arguments.
    const afresh = name !== "" && known.name !== "" && (known.ended || known.isWhole);
    return (another && name !== "") || (afresh && (id === "" || another)) ? undefined : known;
  }

  function isNew(piece: ReadPiece): boolean {
    return byId.get(piece.id)?.some((call) => isToldAgain(call, piece)) !== true;
  }

  function read(piece: ReadPiece): readonly Delta[] {
    const { index, id, name, text } = piece;
    const found = callOf(index, id, name);
    const { call, ended } = found === undefined ? begin(id) : { call: found, ended: [] };
    if (typeof index === "number") byIndex.set(index, call);
    if (call.ended) {
      if (text.trim() === "" || text === call.text) return ended;
      throw new UnreadableReply(`the call of "${call.name}" went on after it was whole`); // it may have begun to run
    }
    Object.assign(call.kept, piece.kept);
    append(call, text);
    if (call.isWhole) whole.add(call);
    else whole.delete(call);
    if (call.id !== undefined)
      return text === "" ? ended : [...ended, { type: "call-delta", id: call.id, text }];
    // A name may come in pieces, as long as there are no arguments; some servers repeat it.
    if (name !== call.name) call.name += name;
    return call.name === "" || call.text === "" ? ended : [...ended, ...start(call)];
  }

  return {
    get count() {
      return count;
    },
    read(pieces) {
      return pieces.map(readPiece).filter(isNew).flatMap(read);
    },
    end: () => [...open].flatMap(finish),
  };
}

/** True for a call that is repeated as a whole. */
function isToldAgain(call: StreamedCall, { id, name, text }: ReadPiece): boolean {
  return id !== "" && call.given === id && call.name === name && call.text === text && call.isWhole;
}

function metadataOf(providerMetadata: ProviderMetadata | undefined): {
  readonly providerMetadata?: ProviderMetadata;
} {
  return providerMetadata === undefined ? {} : { providerMetadata };
}

interface ReadPiece {
  readonly index: Json | undefined;
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly kept: Kept;
}

/** The fields of a call beside OpenAI's own that servers send and want back: mostly signatures. */
const ownFields = ["extra_content", "provider_specific_fields"] as const;

function readPiece(given: Json): ReadPiece {
  const piece = asObject(given);
  const { index, id, function: called } = piece;
  const { name, arguments: args } = asObject(called);
  const text =
    typeof args === "string" ? args : args === undefined || args === null ? "" : JSON.stringify(args);
  return {
    index,
    id: typeof id === "string" ? id.trim() : "",
    name: typeof name === "string" ? name : "",
    text,
    kept: Object.fromEntries(
      ownFields.flatMap((field) => (isJsonObject(piece[field]) ? [[field, piece[field]]] : [])),
    ),
  };
}

/** A JSON text that comes in pieces, with the state of its brackets. */
interface Closing {
  text: string;
  depth: number;
  within: "" | "string" | "escape";
  /** True if the object or list that it begins with is closed, and nothing follows it. */
  isWhole: boolean;
}

const nothingRead: Closing = { text: "", depth: 0, within: "", isWhole: false };

/** Adds a piece. Each character is read once, however many pieces there are. */
function append(call: Closing, text: string): void {
  call.text += text;
  for (const sign of text) {
    if (call.within === "escape") call.within = "string";
    else if (call.within === "string") {
      if (sign === "\\") call.within = "escape";
      else if (sign === '"') call.within = "";
    } else if (sign === "}" || sign === "]") {
      call.depth -= 1;
      call.isWhole = call.depth === 0;
    } else if (sign.trim() !== "") {
      call.isWhole = false;
      if (sign === '"') call.within = "string";
      else if (sign === "{" || sign === "[") call.depth += 1;
    }
  }
}
