import { canonicalEmail } from "../../values/email.ts";
import { hostName } from "../../values/host.ts";
import { canonicalUrl } from "../../values/url.ts";

/** The place that an address leads to: a host, and for e-mail the whole address, in canonical form. */
export interface NetworkPlace {
  readonly host: string;
  readonly address?: string;
}

/**
 * The place of a text that is one e-mail address, one link or one host; undefined when it is anything else,
 * or is written so that programs could read it differently (a user before the host of a link, backslashes,
 * several addresses, invisible letters).
 */
export function placeOf(text: string): NetworkPlace | undefined {
  if (text.includes("://")) {
    const host = URL.parse(canonicalUrl(text) ?? "")?.hostname;
    return host === undefined || host.includes("%") ? undefined : { host }; // some schemes decode it, some do not
  }
  if (!text.includes("@")) {
    const host = hostName(text);
    return host === undefined ? undefined : { host };
  }
  const address = canonicalEmail(text);
  return address === undefined ? undefined : { address, host: address.slice(address.lastIndexOf("@") + 1) };
}

/** True if a host is this one, or beneath it where the pattern begins with `*.`. */
export function isWithinHost(host: string, pattern: string): boolean {
  return pattern.startsWith("*.")
    ? host.endsWith(pattern.slice(1)) && host.length >= pattern.length
    : host === pattern;
}
