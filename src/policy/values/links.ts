import { lazy } from "../../util/remembered.ts";
import { linkEnd } from "./link-end.ts";
import { compatible, hasHidden, withoutHidden } from "./normal.ts";
import { canonicalUrl, isBareLink } from "./url.ts";

/** The default for the most links of one text that are listed. */
const defaultLimit = 256;

/**
 * The links in a free text, each once, in order, at most `limit`: as `canonical("url")` spells them, or else as a parser of
 * links reads them. It finds
 * - addresses with any scheme and `://`, also `hxxp`, `https:x.y` whatever its ending, backslashes for slashes, and with a user in them;
 * - `data:`, `javascript:` and `vbscript:`; `mailto:`, `tel:` and `sms:` with somebody behind them;
 * - `//x.y` and `\\x.y`, `www.x.y`, and hosts with an ending of the list of IANA: of countries and the most used (`x.com`) with or without a path; of all others, and
 *   of those that files have as well (`x.py`), only with a path, a query or a port behind it;
 * - any scheme in the targets of Markdown, in attributes of HTML and in `<bitcoin:x>`;
 * - all of these in the targets of Markdown (definitions of references too) and HTML, behind HTML entities and backslashes, in full-width letters, with
 *   invisible characters between, or as `x[.]com`. What a backslash escapes in Markdown is read with and without it.
 *
 * Not found: e-mail addresses, names of files, `e.g.`, and addresses spelled out ("evil dot com", base64). Never throws. Linear.
 */
export function linksIn(text: string, limit: number = defaultLimit): readonly string[] {
  const shown = visible(text);
  const found = new Set<string>();
  collect(shown, found, limit);
  if (shown.includes("\\")) collect(shown.replaceAll(escaped, "$1"), found, limit);
  for (const value of attributesOf(shown)) collect(value, found, limit);
  return [...found];
}

/** A backslash before a mark, which Markdown takes for the plain mark. */
const escaped = /\\([!-\/:-@\[-`\{-~])/gv;

/** Marks in links. A dot before white space, as at the end of a sentence, is not part of a host. */
const mark = /[:\/\\]|\.(?![\n ]|$)/gv;

function collect(text: string, found: Set<string>, limit: number): void {
  mark.lastIndex = 0;
  while (found.size < limit && mark.test(text)) {
    const index = mark.lastIndex - 1;
    const link = linkAt(text, index);
    if (link?.canonical !== undefined) found.add(link.canonical);
    mark.lastIndex = Math.max(link?.end ?? 0, index + 1);
  }
}

/** A part of the text that was read; without `canonical` it is not a link, like an e-mail address. */
interface Link {
  readonly canonical?: string;
  readonly end: number;
}

function linkAt(text: string, index: number): Link | undefined {
  const character = text[index];
  if (character === ":") return schemed(text, index);
  if (character === ".") return hosted(text, index);
  return /[\/\\]/v.test(text[index + 1] ?? "") ? relative(text, index) : undefined;
}

const longestScheme = 24;
/** The most characters that are searched for the host of a link, so that half links stay linear. */
const hostWindow = 300;
const web = /(?:^|[^a-z])(?<scheme>h(?:tt|xx)ps?|ftps?|wss?)$/iv;
const script = /(?:^|[^a-z])(?<scheme>data|javascript|vbscript)$/iv;
const person = /(?:^|[^a-z])(?<scheme>mailto|tel|sms)$/iv;
const dataStart = /^data:(?:[a-z]+\/[a-z0-9.+\-]|[;,])/iv;
/** Signs before the target of a link in Markdown and HTML: directly before it, or with white space between. */
const beforeTarget = /[\("'=<]/v;
const beforeEqualSign = /(?:href|src|action|poster|data|background|cite|ping)$/iv;
const longestName = 10;

function isTarget(text: string, start: number): boolean {
  return beforeTarget.test(text[start - 1] ?? "") || opensTarget(text, withoutSpace(text, start));
}

/** True if a text up to this place opens the target of a Markdown link, or of an attribute of HTML. */
function opensTarget(text: string, end: number): boolean {
  if (text[end - 1] !== "=") return /\][\(:]/v.test(text.slice(Math.max(0, end - 2), end));
  const name = withoutSpace(text, end - 1);
  return beforeEqualSign.test(text.slice(Math.max(0, name - longestName), name));
}

const inBrackets = /^[^\s<>]+>/v;

/** True at a place where nothing but the target of a link stands, so that any scheme makes one: in Markdown, in an attribute of HTML, in `<scheme:…>`. */
function isOnlyTarget(text: string, start: number, colon: number): boolean {
  if (!/\S/v.test(text[colon + 1] ?? " ")) return false;
  const before = text[start - 1] ?? "";
  if (before === "<" && inBrackets.test(text.slice(colon + 1, colon + hostWindow))) return true;
  return opensTarget(text, withoutSpace(text, /["'<]/v.test(before) ? start - 1 : start));
}

function withoutSpace(text: string, end: number): number {
  let index = end;
  while (/[\t\n\r ]/v.test(text[index - 1] ?? "")) index -= 1;
  return index;
}

function schemed(text: string, colon: number): Link | undefined {
  let start = colon;
  while (start > colon - longestScheme && /[a-z0-9+.\-]/iv.test(text[start - 1] ?? " ")) start -= 1;
  const before = text.slice(start, colon);
  const scheme = web.exec(before)?.groups?.["scheme"];
  if (scheme !== undefined) return onWeb(text, scheme, colon);
  const runs = script.exec(before)?.groups?.["scheme"];
  if (runs !== undefined) return runnable(text, runs, colon);
  const reaches = person.exec(before)?.groups?.["scheme"];
  if (reaches !== undefined) return reaching(text, reaches, colon);
  const own = before.replace(/^[^a-z]+/iv, "");
  const isLink = text.startsWith("//", colon + 1) || isOnlyTarget(text, colon - own.length, colon);
  if (own.length < 2 || !isLink) return undefined;
  const end = Math.max(linkEnd(text, colon - own.length), colon + 1);
  return { canonical: spelled(text.slice(colon - own.length, end)), end };
}

function onWeb(text: string, scheme: string, colon: number): Link | undefined {
  let start = colon + 1;
  while (/[\/\\]/v.test(text[start] ?? "")) start += 1;
  if (start === colon + 1 && !isHost(authorityAt(text, start), isTarget(text, colon - scheme.length)))
    return undefined;
  const end = Math.max(linkEnd(text, colon - scheme.length), start);
  const rest = text.slice(start, end).replaceAll("\\", "/");
  return rest === ""
    ? { end }
    : { canonical: spelled(`${scheme.toLowerCase().replace("xx", "tt")}://${rest}`), end };
}

/** A link that writes to somebody or calls them. */
function reaching(text: string, scheme: string, colon: number): Link | undefined {
  if (!/[\p{L}\p{N}+%]/v.test(text[colon + 1] ?? "")) return undefined;
  const end = Math.max(linkEnd(text, colon - scheme.length), colon + 1);
  return { canonical: `${scheme.toLowerCase()}:${text.slice(colon + 1, end)}`, end };
}

/** True if a parser reads a host with several parts here, or any host if nothing else fits here. */
function isHost(authority: string, isAlone: boolean): boolean {
  const host = URL.parse(`https://${authority}`)?.hostname ?? "";
  return isAlone ? /^[a-z0-9\[]/iv.test(host) : /[a-z0-9]\.[a-z0-9]/iv.test(host);
}

const authority =
  /^(?:(?:[^\/\\?#\s<>"'`,;\(\)\[\]\{\}]*@)?\[[\da-f:.]+\])?[^\/\\?#\s<>"'`,;\(\)\[\]\{\}]*/iv;

/** The part of a text that could be the host of a link, with a user before it and a port. */
function authorityAt(text: string, start: number): string {
  return authority.exec(text.slice(start, start + hostWindow))?.[0] ?? "";
}

function runnable(text: string, written: string, colon: number): Link | undefined {
  const scheme = written.toLowerCase();
  const start = colon - scheme.length;
  const isAlone = isTarget(text, start);
  if (scheme === "data" && !isAlone && !dataStart.test(text.slice(start, start + 32))) return undefined;
  if (!isAlone && !/\S/v.test(text[colon + 1] ?? " ")) return undefined;
  const end = Math.max(linkEnd(text, start), colon + 1);
  return { canonical: scheme + text.slice(colon, end), end };
}

/** `//x.y/z`, `\\x.y\z` and `\\x.y@SSL\z`: a link if no word or other slash is before it; as a target also with a host of one part. */
function relative(text: string, index: number): Link | undefined {
  const before = text[index - 1] ?? " ";
  if (/[\p{L}\p{N}\/\\.\-_]/v.test(before)) return undefined;
  let start = index;
  while (/[\/\\]/v.test(text[start] ?? "")) start += 1;
  const parts = authorityAt(text, start).split("@");
  const host = parts.at(-1) ?? "";
  const server = text[index] === "\\" ? (parts[0] ?? "") : host; // `\\x.y@SSL\z` leads to `x.y`
  const isOnWeb = isBareLink(`${host}/`) || isBareLink(`${server}/`);
  if (!isOnWeb && !(isTarget(text, index) && /^[a-z0-9\[]/iv.test(host))) return { end: start };
  const end = Math.max(linkEnd(text, start), start);
  return { canonical: onHttps(text.slice(start, end)), end };
}

const inHost = lazy(() => /[\p{L}\p{N}\p{M}_\-]/v);

/** A bare host, and what follows it. A part of a path or of an e-mail address is not one. */
function hosted(text: string, dot: number): Link {
  let start = dot;
  while (inHost().test(text[start - 1] ?? "")) start -= 1;
  const end = hostEnd(text, dot);
  if (start === dot || end - start > hostWindow || isPartOfMore(text, start, end)) return { end };
  const host = text.slice(start, end).replace(/[.\-]+$/v, "");
  const follows = /^(?::\d|[\/\\]|[?#][\p{L}\p{N}%=_\-])/v.test(
    text.slice(start + host.length, start + host.length + 2),
  );
  if (!isBareLink(follows ? `${host}/` : host)) return { end };
  if (!follows) return { canonical: onHttps(host), end };
  const last = Math.max(linkEnd(text, start), end);
  return { canonical: onHttps(text.slice(start, last)), end: last };
}

function isPartOfMore(text: string, start: number, end: number): boolean {
  const before = text[start - 1] ?? " ";
  if (before === "/" || before === "\\" || (before === "@" && inHost().test(text[start - 2] ?? " ")))
    return true;
  return /^(?:\+[a-z0-9._\-]{0,40})?@/iv.test(text.slice(end, end + 42));
}

function hostEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && (text[end] === "." || inHost().test(text[end] ?? ""))) end += 1;
  return end;
}

/** A link as `canonical("url")` spells it, or else as a parser reads it, or else as written. */
function spelled(link: string): string {
  return canonicalUrl(link) ?? URL.parse(link)?.href ?? link;
}

function onHttps(address: string): string {
  return spelled(`https://${address.replaceAll("\\", "/")}`);
}

const attribute =
  /(?:href|src|srcset|action|poster|data|background|cite|ping|url)[\t\n\r ]*=[\t\n\r ]*(?<quote>["'])/giv;

/** The values of HTML attributes that hold links. A browser ignores tabs and line ends in them, which would end a link in a text. */
function attributesOf(text: string): readonly string[] {
  if (!text.includes("=")) return [];
  const values: string[] = [];
  const search = new RegExp(attribute);
  for (let match = search.exec(text); match !== null; match = search.exec(text)) {
    const end = text.indexOf(match.groups?.["quote"] ?? '"', search.lastIndex);
    if (end < 0) break;
    const value = text.slice(search.lastIndex, end);
    if (/[\t\n\r]/v.test(value)) values.push(`"${value.replaceAll(/[\t\n\r]/gv, "").trim()}"`);
    search.lastIndex = end;
  }
  return values;
}

/** Names of characters that hide links in HTML. */
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
/** A character that may be written differently from how it is seen. */
const veiling = /[&\[\(\{]|[^\t\n\v\f\r\x20-\x7e]/v;

/**
 * A text as a page, a mail program or an obliging reader would take it, for finding links: HTML entities decoded, full-width letters folded, invisible
 * characters removed, `evil[.]com` and `evil(dot)com` restored. Linear.
 */
function visible(text: string): string {
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
