import { lazy } from "../../util/remembered.ts";
import { hostName } from "./host.ts";
import { compatible, composed, hasHidden, maxValueLength } from "./normal.ts";

/** `Name <a@b>`: a name without separators of address lists, so that no program finds another recipient in it. */
const displayed = /^[^<>@,;:\\\t\n\v\f\r]*<(?<address>[^<>]+)>$/v;
const atom = "[\\p{L}\\p{N}\\p{M}!#$%&'*+/=?^_`{|}~-]+";
const localPart = lazy(() => new RegExp(`^${atom}(?:\\.${atom})*$`, "u"));
const maxLocalLength = 128;

/**
 * The canonical spelling of an e-mail address: the part before the `@` in lower case, otherwise as written, the host in lower case and Punycode. `Name <a@b>`
 * and `mailto:a@b` stand for the address inside. A `mailto:` with headers (`?cc=…`), a list of addresses, and an address with a quoted part have none.
 */
export function canonicalEmail(value: string): string | undefined {
  if (value.length > maxValueLength || hasHidden(value)) return undefined;
  const address = bare(composed(value).trim());
  const at = address.indexOf("@");
  const local = address.slice(0, at);
  if (at < 1 || local.length > maxLocalLength || !localPart().test(local)) return undefined;
  const host = hostName(compatible(address.slice(at + 1)));
  const folded = local.toLowerCase();
  // another letter that only looks the same is another mailbox, and the tool gets the letter as it is
  const isAsWritten = value.includes(local) && compatible(local) === local && compatible(folded) === folded;
  return host === undefined || !isAsWritten ? undefined : `${folded}@${host}`;
}

function bare(text: string): string {
  const address = text.endsWith(">") ? (displayed.exec(text)?.groups?.["address"] ?? "").trim() : text;
  if (!/^mailto:/iv.test(address)) return address;
  return address.includes("?") ? "" : address.slice("mailto:".length);
}
