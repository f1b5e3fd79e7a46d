import { type NetPlace, placeOf, placeText } from "../../tool/net-scope.ts";
import type { FetchOptions } from "../../tool/handles.ts";
import { handleFailed, type Lifetime } from "./lifetime.ts";
import { plain, reveal } from "./secrets.ts";

/** One request of a chain of redirects. */
export interface Hop {
  readonly url: URL;
  readonly place: NetPlace;
  readonly method: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body?: Uint8Array;
}

const maxRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const refusedMethods: ReadonlySet<string> = new Set(["CONNECT", "TRACE", "TRACK"]);
/** Headers that belong to the connection, not to the request: with them, a tool could tell the judge one thing and the server another. */
const connectionHeaders =
  /^(?:host|connection|content-length|transfer-encoding|upgrade|te|trailer|keep-alive|expect|http2-settings|proxy-.*)$/;
/** Headers that another origin may see: none of them identifies the sender. */
const harmlessHeaders: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "user-agent",
]);

/** Reads the request of a tool. @throws WritError `handle-failed` */
export function firstHop(address: string | URL, options: FetchOptions, lifetime: Lifetime): Hop {
  const { url, place } = readAddress(address);
  const resource = shown(url);
  const method = (options.method ?? "GET").toUpperCase();
  if (!token.test(method) || refusedMethods.has(method))
    throw handleFailed(resource, `the method ${JSON.stringify(method)} is refused.`);
  const body = typeof options.body === "string" ? Buffer.from(plain(options.body, resource)) : options.body;
  if (body !== undefined && !(body instanceof Uint8Array))
    throw handleFailed(resource, "a body is a text or bytes.");
  if (body !== undefined && (method === "GET" || method === "HEAD"))
    throw handleFailed(resource, `a ${method} request has no body.`);
  const headers = new Map<string, string>([
    ["accept", "*/*"],
    ["accept-encoding", "gzip, deflate, br"],
    ["user-agent", "writ"],
    ...(typeof options.body === "string" ? [["content-type", "text/plain;charset=UTF-8"] as const] : []),
    ...readHeaders(options, lifetime, resource),
  ]);
  return { url, place, method, headers, body };
}

function readHeaders(
  options: FetchOptions,
  lifetime: Lifetime,
  resource: string,
): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    const key = name.toLowerCase();
    if (!token.test(name) || connectionHeaders.test(key) || headers.has(key))
      throw handleFailed(resource, `the header ${JSON.stringify(name)} is refused.`);
    const text = reveal(value, lifetime, resource);
    // Tab and all printable characters of Latin-1: a line break would begin another header.
    if (!/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(text))
      throw handleFailed(
        resource,
        `the value of the header ${JSON.stringify(name)} cannot stand in a header.`,
      );
    headers.set(key, text);
  }
  return headers;
}

/** An answer that may redirect. */
interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  /** The number of redirects that were followed before it. */
  readonly followed: number;
}

/**
 * The request that a redirect asks for; undefined if the answer is not a redirect. Another origin gets neither the sender's headers nor the body, and an
 * encrypted chain stays encrypted.
 *
 * @throws WritError `handle-failed`
 */
export function nextHop(
  { url: before, place: from, method, headers, body }: Hop,
  { status, location, followed }: Answer,
): Hop | undefined {
  if (location === undefined || !redirects.has(status)) return undefined;
  const resource = shown(before);
  if (followed >= maxRedirects)
    throw handleFailed(resource, `it redirected more than ${maxRedirects} times.`);
  const { url, place } = readAddress(location, before);
  if (from.protocol === "https:" && place.protocol === "http:")
    throw handleFailed(resource, "it redirected from https to http.");
  const becomesGet = isRewritten(status, method);
  const next = becomesGet ? "GET" : method;
  const isSame = placeText(from) === placeText(place);
  if (!isSame && next !== "GET" && next !== "HEAD")
    throw handleFailed(resource, `it redirected a ${next} request to another origin.`);
  const kept = [...headers].filter(
    ([name]) => (isSame || harmlessHeaders.has(name)) && !(becomesGet && name.startsWith("content-")),
  );
  return { url, place, method: next, headers: new Map(kept), body: becomesGet ? undefined : body };
}

/** True for a request that becomes a GET, as in browsers: every request after 303, a POST after 301 and 302. */
function isRewritten(status: number, method: string): boolean {
  if (status === 303) return method !== "GET" && method !== "HEAD";
  return (status === 301 || status === 302) && method === "POST";
}

/** An address for messages: without the part after the path, which can be long or private. */
export function shown(url: URL): string {
  return `fetch(${url.origin}${url.pathname})`;
}

function readAddress(address: unknown, base?: URL): { readonly url: URL; readonly place: NetPlace } {
  const text = address instanceof URL ? address.href : address;
  const resource = `fetch(${String(text)})`;
  // Some parsers of addresses drop these characters or read a backslash as a slash, others do not.
  // oxlint-disable-next-line no-control-regex -- it refuses control characters
  if (typeof text !== "string" || /[\s\\\u0000-\u001f\u007f]/.test(text))
    throw handleFailed(JSON.stringify(resource), "the address has characters that are read in two ways.");
  const url = URL.parse(text, base?.href);
  if (url === null) throw handleFailed(resource, "it is no absolute address of the web.");
  const place = placeOf(url);
  if (typeof place === "string") throw handleFailed(`fetch(${url.protocol}…)`, place);
  return { url, place };
}
