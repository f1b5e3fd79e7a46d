import { compatible, hasHidden, withoutHidden } from "./normal.ts";

/** Names of characters that links are hidden with in HTML. */
const named: Readonly<Record<string, string>> = {
  amp: "&",
  colon: ":",
  commat: "@",
  period: ".",
  sol: "/",
  bsol: "\\",
  tab: "",
  newline: "",
};
const entity =
  /&(?:#0*(?<decimal>[1-9]\d{0,6})|#x0*(?<hex>[1-9a-f][0-9a-f]{0,5})|(?<name>amp|colon|commat|period|sol|bsol|tab|newline));?/giv;
const defanged = /\[\.\]|\(\.\)|\{\.\}|\[dot\]|\(dot\)/giv;
const defangedColon = /\[:\]|\[:\/\/\]/gv;
const brackets = /[\[\(\{]/v;
const ideographicStops = /[\u{3002}\u{ff61}]/gv;
/** A character that may be written otherwise than it is seen. */
const veiling = /[&\[\(\{]|[^\t\n\v\f\r\x20-\x7e]/v;

/**
 * A text as a page, a mail program or an obliging reader would take it, to look for links in: HTML entities decoded, full-width letters folded, characters
 * that nobody sees left out, `evil[.]com` and `evil(dot)com` mended. Linear.
 */
export function visible(text: string): string {
  if (!veiling.test(text)) return text;
  const decoded = text.includes("&") ? text.replaceAll(entity, decode) : text;
  const plain = compatible(decoded);
  const seen = hasHidden(plain) ? withoutHidden(plain) : plain;
  const stopped = seen.replaceAll(ideographicStops, ".");
  if (!brackets.test(stopped)) return stopped;
  return stopped.replaceAll(defanged, ".").replaceAll(defangedColon, (found) => found.slice(1, -1));
}

function decode(found: string): string {
  const inner = found.replaceAll(/[&;]/gv, "").toLowerCase();
  if (!inner.startsWith("#")) return named[inner] ?? found;
  const code = inner.startsWith("#x") ? Number.parseInt(inner.slice(2), 16) : Number(inner.slice(1));
  return code > 0x10ffff || code === 0 ? found : String.fromCodePoint(code);
}
