import type { ValueType } from "../../tool/parameters.ts";
import { canonicalDate } from "./date.ts";
import { canonicalEmail } from "./email.ts";
import { canonicalHost } from "./host.ts";
import { canonicalIban } from "./iban.ts";
import { canonicalIdentifier, isDigits } from "./identifier.ts";
import { canonicalText, compatible, hasHidden, maxValueLength } from "./normal.ts";
import { canonicalNumber } from "./number.ts";
import { canonicalPath } from "./path.ts";
import { canonicalPhone } from "./phone.ts";
import { isKnownEnding } from "./top-level-domains.ts";
import { unitOf } from "./unit.ts";
import { canonicalUrl, isBareLink } from "./url.ts";

/** A value, with the type that its own form suggests. */
export interface Formed {
  readonly type: ValueType;
  readonly canonical: string;
  /** The currency or percent sign of a number. */
  readonly unit?: string | undefined;
}

/**
 * The most specific type that the form of a value has: an address before a number, a number before text. A value that looks like an address and
 * is not one (`javascript:x`, `//host`, `a b://c`) has no form. Whole numbers are identifiers, because they may choose a record. More than an address is a
 * text, because a shell may read it: `rm -r x # <a@b.c>`.
 */
export function formOf(value: string | number): Formed | undefined {
  const found = specificForm(value);
  return found === undefined || saysNoMore(value, found) ? found : formed("text", canonicalText(value));
}

/** The parts that say nothing more, in the types of values that can say more than their canonical spelling. A host itself cannot. */
const nothingMore: Readonly<Partial<Record<ValueType, RegExp>>> = {
  email: /^mailto:|@[^@]*$/giv,
  url: /^(?:[a-z][a-z0-9+.\-]*:\/\/)?[^\/?#]*/iv,
  path: /^$/v,
};

/** True if all of a value but dots and slashes is in its spelling: `Eve <a@b.c>` and `https://b.c/eve/../x` say more than the place that they stand for. */
export function saysNoMore(value: string | number, { type, canonical: spelling }: Formed): boolean {
  const known = nothingMore[type];
  if (known === undefined) return true;
  const [all, spelled] = [String(value).trim(), spelling].map((text) =>
    text
      .replace(known, "")
      .toLowerCase()
      .replaceAll(/[.\/\\]/gv, ""),
  );
  return all === spelled;
}

function specificForm(value: string | number): Formed | undefined {
  if (typeof value === "number")
    return Number.isInteger(value)
      ? formed("identifier", canonicalIdentifier(value))
      : formed("number", canonicalNumber(value));
  if (hasHidden(value)) return undefined;
  const text = compatible(value.trim());
  if (text.length > maxValueLength) return formed("text", canonicalText(value));
  if (text.includes("@")) {
    const email = canonicalEmail(value);
    if (email !== undefined) return { type: "email", canonical: email };
    if (text !== value.trim() && !/\s/v.test(text)) return undefined; // another letter that only looks the same
  }
  if (/^(?:[a-z][a-z0-9+.\-]*:\/\/|\/\/|\\\\|(?:javascript|vbscript|data|blob|file|mailto):)/iv.test(text))
    return formed("url", canonicalUrl(value));
  return numeric(value, text) ?? worded(value, text);
}

/** Forms that need a digit. */
function numeric(value: string, text: string): Formed | undefined {
  if (!/\d/v.test(text)) return undefined;
  if (isDigits(text)) return formed("identifier", canonicalIdentifier(text));
  const date = canonicalDate(value);
  if (date !== undefined) return { type: "date", canonical: date };
  const iban = /^[a-z]{2}/iv.test(text) ? canonicalIban(value) : undefined;
  if (iban !== undefined) return { type: "iban", canonical: iban };
  return /^[\d.]+$/v.test(text) ? (formed("host", canonicalHost(text)) ?? amount(value)) : amount(value);
}

/** A whole number may choose a record (`13.0`, `$13`), so it is bound only as written. */
function amount(value: string): Formed | undefined {
  const number = canonicalNumber(value);
  if (number === undefined) return formed("phone", canonicalPhone(value));
  if (number.includes(".")) return { type: "number", canonical: number, unit: unitOf(value) };
  return (
    formed("phone", /^\s*(?:\+|00)/v.test(value) ? canonicalPhone(value) : undefined) ?? {
      type: "identifier",
      canonical: canonicalIdentifier(value) ?? value,
    }
  );
}

function worded(value: string, text: string): Formed | undefined {
  const isOne = !/\s/v.test(text);
  if (isOne) {
    const host = canonicalHost(text);
    if (host !== undefined && (host.startsWith("localhost") || isKnownEnding(text, false)))
      return { type: "host", canonical: host };
    if (/[\/\\?]/v.test(text) && isBareLink(text)) return formed("url", canonicalUrl(value));
  }
  const isPath = isOne
    ? /[\/\\]|\.[a-z][a-z0-9]{0,9}$/iv.test(text)
    : /^(?:\.{0,2}[\/\\]|~[\/\\]|[a-z]:[\/\\])/iv.test(text);
  if (isPath) return formed("path", canonicalPath(value.trim()));
  const identifier = isOne && /\d/v.test(text) ? canonicalIdentifier(value) : undefined;
  return identifier === undefined
    ? formed("text", canonicalText(value))
    : { type: "identifier", canonical: identifier };
}

function formed(type: ValueType, canonical: string | undefined): Formed | undefined {
  return canonical === undefined ? undefined : { type, canonical };
}
