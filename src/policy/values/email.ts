import { hostName } from "./host.ts";
import { compatible, hasHidden, maxValueLength } from "./normal.ts";

/** `Name <a@b>`: a name without what parts addresses in a list, so that no program finds another recipient in it. */
const displayed = /^[^<>@,;:\\\t\n\v\f\r]*<(?<address>[^<>]+)>$/v;
const atom = "[\\p{L}\\p{N}\\p{M}!#$%&'*+/=?^_`{|}~-]+";
const localPart = new RegExp(`^${atom}(?:\\.${atom})*$`, "u");
const maxLocalLength = 128;

/**
 * The canonical spelling of an e-mail address: the part before the `@` in lower case, the host in lower case and Punycode. `Name <a@b>` and `mailto:a@b`
 * are the address within. A `mailto:` with headers (`?cc=…`) is none, nor is a list of addresses, nor one with a quoted part.
 */
export function canonicalEmail(value: string): string | undefined {
  if (value.length > maxValueLength || hasHidden(value)) return undefined;
  const address = bare(compatible(value).trim());
  const at = address.indexOf("@");
  const local = address.slice(0, at);
  if (at < 1 || local.length > maxLocalLength || !localPart.test(local)) return undefined;
  const host = hostName(address.slice(at + 1));
  return host === undefined ? undefined : `${compatible(local.toLowerCase())}@${host}`;
}

function bare(text: string): string {
  const address = text.endsWith(">") ? (displayed.exec(text)?.groups?.["address"] ?? "").trim() : text;
  if (!/^mailto:/iv.test(address)) return address;
  return address.includes("?") ? "" : address.slice("mailto:".length);
}
