import { attempt, type Cursor, take } from "./cursor.ts";

/** A quote of Python or JSON, or the marks that some models put around texts. */
const opening = /(?:[rRbBfFuU]{1,2}(?=["']))?("""|'''|["'`]|<\|"\|>|<escape>)/y;
/** Signs that can come after a value; before anything else a quote belongs to the text, as in 'It's here'. */
const closing = /\s*(?:[,:)\]}=;+*<]|$|\n)/y;

/** Reads a text in quotes. A quote inside of it that closes nothing is a part of it. */
export function readString(cursor: Cursor): string | undefined {
  return attempt(cursor, (inner) => {
    const opened = take(inner, opening);
    const quote = opened?.replace(/^[rRbBfFuU]+(?=["'])/, "");
    if (opened === undefined || quote === undefined) return undefined;
    const start = inner.at;
    const end = endOfString(inner, quote);
    inner.work -= (end ?? inner.text.length) - start;
    if (end === undefined) return undefined;
    inner.at = end + quote.length;
    const written = inner.text.slice(start, end);
    return /^[bf]?r/i.test(opened) ? written : unescaped(written);
  });
}

function endOfString({ text, at }: Cursor, quote: string): number | undefined {
  for (let end = nextQuote(text, quote, at); end !== -1; end = nextQuote(text, quote, end + 1)) {
    closing.lastIndex = end + quote.length;
    if (quote.length > 1 || closing.test(text)) return end;
    if (/^\s+["']/.test(text.slice(end + 1, end + 12))) return undefined; // "a" "b", which is no text that could be told
  }
  return undefined;
}

/** The next place of a quote that no backslash escapes; -1 when there is none. */
export function nextQuote(text: string, quote: string, from: number): number {
  let next = text.indexOf(quote, from);
  while (next !== -1 && slashesBefore(text, next) % 2 === 1) next = text.indexOf(quote, next + 1);
  return next;
}

function slashesBefore(text: string, end: number): number {
  let count = 0;
  while (text[end - count - 1] === "\\") count += 1;
  return count;
}

const escapes: ReadonlyMap<string, string> = new Map([
  ...['"', "'", "`", "\\", "/"].map((sign) => [sign, sign] as const),
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["b", "\b"],
  ["f", "\f"],
  ["\n", ""],
  ["_", "_"], // no language has it, and models that write Markdown do
]);

const escape = /\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|[^])/g;

/** Reads escapes. Any other backslash stays as it is, as in the regular expression `\\d+`. */
function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replaceAll(escape, (written) => {
    const code = written.length > 2 ? Number.parseInt(written.slice(2), 16) : undefined;
    if (code !== undefined) return code > 0x10ffff ? written : String.fromCodePoint(code);
    return escapes.get(written.slice(1)) ?? written;
  });
}
