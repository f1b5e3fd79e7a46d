import { canonicalEmail } from "../../values/email.ts";
import { hostName } from "../../values/host.ts";
import { canonicalUrl } from "../../values/url.ts";

/** The place that an address leads to: a host, and for e-mail the whole address, in canonical form. */
export interface NetworkPlace {
  readonly host: string;
  readonly address?: string;
}

/** Signs by which a mail server may forward an address to another host: `a%evil.com@x.y`, `evil.com!a@x.y`, and encoded words, which hide them. */
const sentOn = /[%!]|=\?/v;
/** Signs before the `@` that make a program which expects a link find its host before them: `evil.com/x@example.com`. */
const linked = /[\/?#]/v;

/**
 * The place of a text that is one e-mail address, one link or one host. Undefined for anything else, and for
 * a text that programs could read differently: with a user before the host of a link, backslashes,
 * several addresses, invisible characters, a route inside an address, or a link whose path ends like an
 * address.
 */
export function placeOf(text: string): NetworkPlace | undefined {
  if (text.includes("://")) {
    const host = URL.parse(canonicalUrl(text) ?? "")?.hostname.toLowerCase();
    // beyond the web, only some programs decode `%65` or read `127.1` as a number
    return host === undefined || URL.parse(`http://${host}`)?.hostname !== host ? undefined : { host };
  }
  if (!text.includes("@")) {
    const host = hostName(text);
    return host === undefined ? undefined : { host };
  }
  const isLinked = linked.test(text.slice(0, text.lastIndexOf("@")));
  const address = isLinked ? "" : (canonicalEmail(text) ?? "");
  const [local = "", host] = address.split("@");
  return host === undefined || sentOn.test(local) ? undefined : { address, host };
}

/** True if a host is the pattern, or beneath it if the pattern begins with `*.`. */
export function isWithinHost(host: string, pattern: string): boolean {
  return pattern.startsWith("*.")
    ? host.endsWith(pattern.slice(1)) && host.length >= pattern.length
    : host === pattern;
}
