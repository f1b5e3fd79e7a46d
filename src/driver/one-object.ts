import { endOfString } from "../util/end-of-string.ts";
import { keyTwice, repeatedKey } from "../util/call-json.ts";
import { isJsonObject, type JsonObject, parseJson } from "../util/json.ts";

/** The one JSON object that a text should be, or the fault of the text. */
export type OneObject =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly reason: string };

/** The depth of a protocol's own keys. Of deeper keys in an answer the last of two counts, as everywhere in JSON. */
const protocolDepth = 2;

/**
 * Reads a text that must be one JSON object, without a key twice in one object; `isAnswer` tells the objects whose deeper keys no call has. The fault of
 * another text is described as exactly as possible. Never throws.
 */
export function oneObject(text: string, isAnswer: (value: JsonObject) => boolean = () => false): OneObject {
  const trimmed = text.trim();
  const parsed = parseJson(trimmed);
  if (parsed.ok) {
    const twice = isJsonObject(parsed.value)
      ? repeatedKey(trimmed, isAnswer(parsed.value) ? protocolDepth : Infinity)
      : undefined;
    if (twice !== undefined) return wrong(keyTwice(twice.key));
    if (isJsonObject(parsed.value)) return { ok: true, value: parsed.value };
    return wrong(`it is ${Array.isArray(parsed.value) ? "a list" : "a plain value"}, not a JSON object`);
  }
  const open = trimmed.indexOf("{");
  if (open === -1) return wrong("it is not one JSON object: there is none in it");
  if (trimmed.startsWith("```")) return wrong("the JSON object stands in a code fence");
  if (open > 0) return wrong("there is text before the JSON object");
  const end = endOfObject(trimmed);
  if (end === undefined) return wrong("it is not one JSON object: a bracket or a quote is not closed");
  const first = parseJson(trimmed.slice(0, end));
  if (!first.ok) return wrong(`it is not one JSON object: ${first.reason}`);
  const rest = trimmed.slice(end).trimStart();
  if (rest === "") return wrong(`it is not one JSON object: ${parsed.reason}`);
  return wrong(rest.startsWith("{") ? "there are two JSON objects" : "there is text after the JSON object");
}

function wrong(reason: string): OneObject {
  return { ok: false, reason };
}

/** The index after the object that begins at `start`; undefined if it is not closed. */
export function endOfObject(text: string, start = 0): number | undefined {
  const marks = /["{}[\]]/g;
  marks.lastIndex = start;
  let depth = 0;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    const [sign] = mark;
    if (sign === '"') {
      const end = endOfString(text, mark.index);
      if (end === undefined) return undefined;
      marks.lastIndex = end;
    } else if (sign === "{" || sign === "[") depth += 1;
    else if ((depth -= 1) === 0) return marks.lastIndex;
  }
  return undefined;
}

/** The content of a text that is exactly one code block of Markdown; otherwise undefined. */
export function insideFence(text: string): string | undefined {
  const block = text.trim();
  const start = block.indexOf("\n") + 1;
  const isFenced = start > 0 && /^```[\w-]*\s*$/.test(block.slice(0, start)) && block.endsWith("```");
  const inner = isFenced ? block.slice(start, -3) : "```";
  return inner.includes("```") ? undefined : inner.trim();
}
