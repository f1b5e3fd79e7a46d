import { contentText } from "../message/message.ts";
import type { Json } from "../util/json.ts";

/** The most characters of one text that a page gets. */
const most = 20_000;

/** A text that a page can show: its beginning, and the length of the rest. */
export function bounded(text: string): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} more characters)`;
}

/** A value that a page can show: a value that is too long becomes the beginning of its text. */
export function boundedJson(value: Json): Json {
  if (typeof value === "string") return bounded(value);
  const text = JSON.stringify(value);
  return text.length <= most ? value : bounded(text);
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
