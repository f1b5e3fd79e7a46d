import { attempt, type Cursor, take } from "./cursor.ts";

/** A quote of Python or JSON, or the marks that some models put around texts. */
const opening = /(?:[rRbBfFuU]{1,2}(?=["']))?("""|'''|["'`]|<\|"\|>|<escape>)/y;
/** What can come after a value; a quote before anything else belongs to the text, as in 'It's here'. */
const closing = /\s*(?:[,:)\]}=;+*<]|$|\n)/y;

/** Reads a text in quotes. A quote inside of it that closes nothing is a part of it. */
export function readString(cursor: Cursor): string | undefined {
  return attempt(cursor, (inner) => {
    const quote = take(inner, opening)?.replace(/^[rRbBfFuU]+(?=["'])/, "");
    if (quote === undefined) return undefined;
    const start = inner.at;
    const end = endOfString(inner, quote);
    inner.work -= (end ?? inner.text.length) - start;
    if (end === undefined) return undefined;
    inner.at = end + quote.length;
    return unescaped(inner.text.slice(start, end));
  });
}

function endOfString({ text, at }: Cursor, quote: string): number | undefined {
  for (let end = text.indexOf(quote, at); end !== -1; end = text.indexOf(quote, end + 1)) {
    closing.lastIndex = end + quote.length;
    const isEscaped = slashesBefore(text, { end, start: at }) % 2 === 1;
    if (!isEscaped && (quote.length > 1 || closing.test(text))) return end;
  }
  return undefined;
}

function slashesBefore(
  text: string,
  { end, start }: { readonly end: number; readonly start: number },
): number {
  let count = 0;
  while (end - count - 1 >= start && text[end - count - 1] === "\\") count += 1;
  return count;
}

const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  "\n": "",
};

const escape = /\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[^])/g;

function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replaceAll(escape, (written) => {
    if (written.length > 2) return String.fromCodePoint(Number.parseInt(written.slice(2), 16));
    const sign = written.slice(1);
    return escapes[sign] ?? sign;
  });
}
