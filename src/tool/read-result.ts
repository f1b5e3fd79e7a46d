import { labelOf, type ResultMessage, contentText } from "../message/message.ts";
import { withDropped } from "../message/transcript.ts";
import { Labelled } from "./labelled.ts";
import { tool, type Tool } from "./tool.ts";

/** The name of the tool with which a model reads on in a result that was too long to show. */
export const readResult = "read_result";

/** The beginning of a text that fits into so many bytes of UTF-8; the whole text if it fits. */
export function beginning(text: string, maxBytes: number): { readonly text: string; readonly bytes: number } {
  if (maxBytes === Infinity) return { text, bytes: Infinity };
  const room = new Uint8Array(Math.min(maxBytes, text.length * 3));
  const { read, written } = new TextEncoder().encodeInto(text, room);
  return { text: text.slice(0, read), bytes: written };
}

/** The notice about the rest of a result, after the model was shown the characters before `from`. */
export function restText(callId: string, { from, length }: { from: number; length: number }): string {
  const call = JSON.stringify({ call: callId, from });
  return `[${length - from} characters are left. ${readOn}${call}.]`;
}

const readOn = `Read on with ${readResult} `;

/** True for a result with a notice of how to read on. */
export function isCut({ text, value }: ResultMessage): boolean {
  return value !== undefined && text.includes(readOn);
}

/** The text of a result, with the call ids in its notice as they are now. */
export function withCallIds(text: string, ids: ReadonlyMap<string, string>): string {
  return text.replaceAll(writtenCall, (whole, before: string, written: string) => {
    const id: unknown = JSON.parse(written);
    const now = typeof id === "string" ? ids.get(id) : undefined;
    return now === undefined ? whole : `${before}${JSON.stringify(now)}`;
  });
}

const writtenCall = new RegExp(
  String.raw`(${readOn}\{"call":)("(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[0-9a-f]{4})*")`,
  "g",
);

// Register: the tools that read on, by the number of bytes that they show at a time.
const readers = new Map<number, Tool>();

/** The tool that reads on in results of its own run, so many bytes at a time. It reads nothing else, and its output has the label of the result. */
export function resultReader(maxBytes: number): Tool {
  const known = readers.get(maxBytes);
  if (known !== undefined) return known;
  const reader: Tool = tool({
    name: readResult,
    description: "Read on in a result that was too long to be shown whole.",
    inputSchema: {
      type: "object",
      properties: {
        call: { type: "string", description: "The id of the call whose result it is" },
        from: { type: "integer", minimum: 0, description: "How many of its characters to leave out" },
      },
      required: ["call", "from"],
      additionalProperties: false,
    },
    effect: "none",
    execute: (args: unknown, { run }) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema above parsed them
      const { call, from } = args as { readonly call: string; readonly from: number };
      const results = withDropped(run.transcript).flatMap((message) =>
        message.role === "tool" ? [message] : [],
      );
      const result = results.findLast(({ callId }) => callId === call);
      if (result?.value === undefined) throw new Error(noResult(call, results));
      return new Labelled(partOf(contentText(result.value), { call, from, maxBytes }), labelOf(result));
    },
  });
  readers.set(maxBytes, reader);
  return reader;
}

/** Tells the runtime's own reader from an author's tool of its name. */
export function isReader(tool: Tool): boolean {
  return tool.name === readResult && readers.values().some((reader) => reader === tool);
}

function noResult(call: string, results: readonly ResultMessage[]): string {
  const cut = results.flatMap(({ callId, text, value }) =>
    value !== undefined && contentText(value) !== text ? [callId] : [],
  );
  return `there is no result of a call ${JSON.stringify(call)} to read on in; there is: ${cut.join(", ") || "none"}`;
}

interface Part {
  readonly call: string;
  readonly from: number;
  readonly maxBytes: number;
}

function partOf(whole: string, { call, from, maxBytes }: Part): string {
  if (from >= whole.length)
    return `[The result has ${whole.length} characters, and you have read all of them.]`;
  const start = isSecondHalf(whole.charCodeAt(from)) ? from - 1 : from;
  const { text } = beginning(whole.slice(start), maxBytes);
  const next = start + text.length;
  return next >= whole.length ? text : `${text}\n${restText(call, { from: next, length: whole.length })}`;
}

/** True for the second half of a character beyond the first 65 536, which takes two code units. */
function isSecondHalf(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
