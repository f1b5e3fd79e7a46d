import { lazy } from "../../util/remembered.ts";
import { hostName } from "./host.ts";
import { compatible, composed, hasHidden, maxValueLength } from "./normal.ts";

/** `Name <a@b>` */
const displayed = /^(?<name>[^<>]*)<(?<address>[^<>]+)>$/v;
/** Separators of address lists, and encoded words: a program may find another recipient behind one. */
const separator = /[<>@,;:\\\t\n\v\f\r]|=\?/v;
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
  const address = text.endsWith(">") ? insideBrackets(text) : text;
  if (!/^mailto:/iv.test(address)) return address;
  return address.includes("?") ? "" : address.slice("mailto:".length);
}

function insideBrackets(text: string): string {
  const { name = "", address = "" } = displayed.exec(text)?.groups ?? {};
  return separator.test(compatible(name)) ? "" : address.trim();
}
