import type { Delta } from "../../model/model.ts";
import { isJsonObject, type Json } from "../../util/json.ts";
import { newCallId } from "./wire-fields.ts";

interface StreamedCall {
  /** The id that the server gave; empty when it gave none. */
  readonly given: string;
  name: string;
  text: string;
  /** The id in the deltas, once the call has started. */
  id?: string;
  ended: boolean;
}

/** Puts the pieces of calls in a streamed reply together. */
export interface CallReader {
  readonly count: number;
  piece(piece: Json): readonly Delta[];
  /** Ends what is still open. */
  end(): readonly Delta[];
}

/**
 * Reads calls as servers write them: pieces told apart by their `index`, by their `id` where there is no index, and in the order in which they
 * come where there is neither; arguments in pieces, whole, or as a value; the name in the first piece, in each, or later than the id. Calls that
 * have no id, or that of another, get `call_` and their place in the reply.
 */
export function callReader(): CallReader {
  const calls: StreamedCall[] = [];
  const byIndex = new Map<number, StreamedCall>();
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
    return [...started, { type: "call-end", id: call.id ?? "" }];
  }

  /** A new call: those before it whose arguments are whole have ended, so that they can run. */
  function begin(given: string): { readonly call: StreamedCall; readonly ended: readonly Delta[] } {
    const whole = calls.filter((call) => !call.ended && call.name !== "" && isWhole(call.text));
    const ended = whole.flatMap(finish);
    const call: StreamedCall = { given, name: "", text: "", ended: false };
    calls.push(call);
    return { call, ended };
  }

  function callOf(index: Json | undefined, id: string, name: string): StreamedCall | undefined {
    const known =
      typeof index === "number"
        ? byIndex.get(index)
        : (calls.findLast((call) => id !== "" && call.given === id) ?? calls.at(-1));
    if (known === undefined) return undefined;
    const another = id !== "" && known.given !== "" && id !== known.given;
    // Some servers give every call the same index, or none; then its name begins a call, unless the last one still waits for its arguments.
    const afresh = name !== "" && known.name !== "" && (known.ended || isWhole(known.text));
    return (another && name !== "") || (afresh && (id === "" || another)) ? undefined : known;
  }

  return {
    get count() {
      return calls.length;
    },
    piece(piece) {
      const { index, id: given, function: called } = isJsonObject(piece) ? piece : {};
      const { name: said, arguments: args } = isJsonObject(called) ? called : {};
      const id = typeof given === "string" ? given.trim() : "";
      const name = typeof said === "string" ? said : "";
      const text =
        typeof args === "string" ? args : args === undefined || args === null ? "" : JSON.stringify(args);
      const found = callOf(index, id, name);
      const { call, ended } = found === undefined ? begin(id) : { call: found, ended: [] };
      if (typeof index === "number") byIndex.set(index, call);
      if (call.ended) return ended;
      call.text += text;
      if (call.id !== undefined)
        return text === "" ? ended : [...ended, { type: "call-delta", id: call.id, text }];
      call.name = name;
      return name === "" ? ended : [...ended, ...start(call)];
    },
    end: () => calls.filter((call) => !call.ended).flatMap(finish),
  };
}

function isWhole(text: string): boolean {
  if (!text.trimEnd().endsWith("}")) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
