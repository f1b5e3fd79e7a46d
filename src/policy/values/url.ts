import { canonicalHost } from "./host.ts";
import { composed, hasHidden, maxValueLength } from "./normal.ts";
import { isKnownEnding } from "./top-level-domains.ts";

const schemed = /^(?<scheme>[a-z][a-z0-9+.\-]*):\/\/(?<authority>[^\/?#]+)/iv;
const authorityOf = /^[^\/?#]+/v;
/** Characters that a parser drops or takes for a slash: two programs may read two addresses. */
const misread = /[\s\\]/v;
const local = new Set(["file:", "javascript:", "vbscript:", "data:", "blob:", "about:"]);

/**
 * The canonical spelling of a link: scheme, host (lower case, Punycode, no final dot), port unless it is the scheme's default, path, query and fragment, with
 * percent signs only where required. An address without a scheme that looks like a link (`www.x.y`, `x.com/y`) is read as https. `undefined` for one
 * with a user, with white space or a backslash, and for anything that is not a place in a network (`file:`, `data:`, `javascript:`).
 */
export function canonicalUrl(value: string): string | undefined {
  const text = composed(value.trim());
  if (text.length > maxValueLength || misread.test(text) || hasHidden(text)) return undefined;
  const parts = schemed.exec(text)?.groups;
  if (parts === undefined) return isBareLink(text) ? parsed(`https://${text}`) : undefined;
  return parts["authority"]?.includes("@") === true ? undefined : parsed(text);
}

/** True if people read an address without a scheme as a link: `www.x.y`, or a host with a known ending. */
export function isBareLink(text: string): boolean {
  const authority = authorityOf.exec(text)?.[0] ?? "";
  if (!authority.includes(".") || canonicalHost(authority) === undefined) return false;
  return /^www\./iv.test(authority) || isKnownEnding(authority, authority.length < text.length);
}

function parsed(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || local.has(url.protocol)) return undefined;
  const name = url.hostname.endsWith(".") ? url.hostname.slice(0, -1) : url.hostname;
  if (name === "" || name.endsWith(".") || url.username !== "" || url.password !== "") return undefined;
  const host = url.port === "" ? name : `${name}:${url.port}`;
  return `${url.protocol}//${host}${onlyNeededPercents(url.pathname + url.search + url.hash)}`;
}

function onlyNeededPercents(text: string): string {
  if (!text.includes("%")) return text;
  return text.replaceAll(/%[0-9a-f]{2}/giv, (code) => {
    const letter = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return /[a-z0-9._~\-]/iv.test(letter) ? letter : code.toUpperCase();
  });
}
