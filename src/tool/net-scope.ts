import { isAddress, isPublicAddress } from "./address.ts";
import { noScope, readScope, type ScopeReading } from "./scope-reading.ts";

/** A place in the network to reach. */
export interface NetPlace {
  readonly protocol: "http:" | "https:";
  readonly host: string;
  readonly port: number;
}

/** The host is exact, `*` for every public one, or `*.suffix` for all beneath a name. */
type NetPattern = NetPlace;

// URL removes whitespace, control characters and encodings, and would return another host than people read.
// oxlint-disable-next-line no-control-regex -- control characters are what is refused
const form = /^(\[[0-9a-f:.]+\]|[^[\]:\s%\u0000-\u001f\u007f]+)(?::(\d{1,5}))?$/i;
const hostName = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
const defaultPorts = { "http:": 80, "https:": 443 } as const;

/** Reads `api.weather.com`, `*.weather.com`, `*`, `api.weather.com:8443`, `http://127.0.0.1:18080`. */
export function readNetScope(text: string): ScopeReading {
  const pattern = patternOf(text);
  return typeof pattern === "string" ? noScope(pattern) : readScope(placeText(pattern));
}

/** True if a scope covers a place. A scope that cannot be read covers nothing. */
export function netCovers(scope: string, { protocol, host, port }: NetPlace): boolean {
  const pattern = patternOf(scope);
  if (typeof pattern === "string" || pattern.protocol !== protocol || pattern.port !== port) return false;
  if (pattern.host === "*") return isPublicHost(host);
  if (!pattern.host.startsWith("*.")) return pattern.host === host;
  const suffix = pattern.host.slice(1);
  return host.length > suffix.length && host.endsWith(suffix) && !host.startsWith(".");
}

/** A place in the form of scopes: defaults are left out. */
export function placeText({ protocol, host, port }: NetPlace): string {
  const scheme = protocol === "http:" ? "http://" : "";
  return `${scheme}${host}${port === defaultPorts[protocol] ? "" : `:${port}`}`;
}

/**
 * The place that a web address leads to, or the reason why no handle goes there: only http and https, no user name, and only spellings that every
 * program reads alike. A single final dot of the host is dropped.
 */
export function placeOf(url: URL): NetPlace | string {
  const { protocol } = url;
  if (protocol !== "http:" && protocol !== "https:")
    return `only http and https are spoken, not "${protocol.slice(0, -1)}".`;
  if (url.username !== "" || url.password !== "")
    return "an address with a user name or password is refused.";
  const host = url.hostname.replace(/\.$/, "");
  if (!isAddress(host) && !hostName.test(host)) return "the host is not a name that can be judged.";
  return { protocol, host, port: url.port === "" ? defaultPorts[protocol] : Number(url.port) };
}

function isPublicHost(host: string): boolean {
  if (isAddress(host)) return isPublicAddress(host);
  return host !== "localhost" && !host.endsWith(".localhost");
}

/** The pattern that a text stands for, or its fault. */
function patternOf(text: string): NetPattern | string {
  if (text === "") return "the host is missing.";
  if (text.includes("@")) return "a user name cannot be granted.";
  const [, scheme = "https", rest = ""] = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(.*)$/is.exec(text) ?? [];
  if (!/^https?$/i.test(scheme)) return "only http and https can be granted.";
  if (/[/\\?#]/.test(rest)) return "a host is granted, not a path: leave out what comes after it.";
  const [, host, port] = form.exec(rest) ?? [];
  if (host === undefined) return "it is not a host; write an IPv6 address in brackets.";
  const canonical = hostOf(host);
  if (!canonical.ok) return canonical.reason;
  const protocol = scheme.toLowerCase() === "http" ? "http:" : "https:";
  const number = port === undefined ? defaultPorts[protocol] : Number(port);
  if (number < 1 || number > 65_535) return "a port is a number from 1 to 65535.";
  return { protocol, host: canonical.scope, port: number };
}

function hostOf(text: string): ScopeReading {
  if (text === "*") return readScope("*");
  const isWild = text.startsWith("*.");
  const written = isWild ? text.slice(2) : text;
  if (written.includes("*")) return noScope("a `*` stands only before all of a name, as in *.weather.com.");
  const host = URL.parse(`https://${written}/`)?.hostname.replace(/\.$/, "");
  if (host === undefined || host.length > 253) return noScope("it is not a host.");
  if (isAddress(host)) return isWild ? noScope("there is nothing beneath an address.") : readScope(host);
  if (!hostName.test(host) || host.split(".").some((label) => label.length > 63))
    return noScope("it is not a host.");
  if (!isWild) return readScope(host);
  return host.includes(".")
    ? readScope(`*.${host}`)
    : noScope("what stands after `*.` must have two parts or more, as in *.weather.com.");
}
