import { contentText } from "../message/message.ts";
import { fingerprint } from "../util/hash.ts";
import type { Json } from "../util/json.ts";

/** The most characters of one text that a page gets. */
const most = 20_000;

/** The most characters of one text in a value that is longer than that, so that what stands behind it is seen. */
const mostInside = 2_000;

/** A text that a page can show: its beginning, the length of the rest, and a fingerprint that tells it from other texts that begin like it. */
export function bounded(text: string, length: number = most): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length)}… (${text.length - length} more characters, fingerprint ${fingerprint(text)})`;
}

/** True for a text of which a page has the beginning, or a value with such a text in it. */
export const isCut = (text: string): boolean => /… \(\d+ more characters, fingerprint /.test(text);

/** A value that a page can show: in a value that is too long, each long text is cut. What is too long even so becomes the beginning of its text. */
export function boundedJson(value: Json): Json {
  if (typeof value === "string") return bounded(value);
  const text = JSON.stringify(value);
  if (text.length <= most) return value;
  const shorter = withShortTexts(value);
  return JSON.stringify(shorter).length <= most ? shorter : bounded(text);
}

function withShortTexts(value: Json): Json {
  if (typeof value === "string") return bounded(value, mostInside);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withShortTexts);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withShortTexts(each)]));
}

/** The most characters of a text on one line. */
const mostOnLine = 200;

/** A text on one line. */
export function lineOf(value: Json | undefined): string {
  if (value === undefined) return "";
  const line = contentText(value)
    .slice(0, mostOnLine * 2)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > mostOnLine ? `${line.slice(0, mostOnLine)}…` : line;
}
