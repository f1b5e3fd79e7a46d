import type { ValueType } from "../../tool/parameters.ts";
import type { Json } from "../../util/json.ts";
import { canonicalDate } from "./date.ts";
import { canonicalEmail } from "./email.ts";
import { canonicalHost } from "./host.ts";
import { canonicalIban } from "./iban.ts";
import { canonicalIdentifier } from "./identifier.ts";
import { canonicalText, hasHidden } from "./normal.ts";
import { canonicalNumber } from "./number.ts";
import { canonicalPath } from "./path.ts";
import { canonicalPhone } from "./phone.ts";
import { canonicalUrl } from "./url.ts";

const ofString: Readonly<Record<ValueType, (value: string) => string | undefined>> = {
  email: canonicalEmail,
  url: canonicalUrl,
  host: canonicalHost,
  path: canonicalPath,
  iban: canonicalIban,
  phone: canonicalPhone,
  date: canonicalDate,
  identifier: canonicalIdentifier,
  number: canonicalNumber,
  text: canonicalText,
};

/**
 * The canonical spelling of a value of this type: two values are equal exactly if their spellings are. `undefined` if the value
 * is not of the type, or has an invisible character. A spelling is its own canonical spelling. Never throws; linear in the length of the value.
 */
export function canonical(type: ValueType, value: Json): string | undefined {
  if (typeof value === "number") return ofNumber(type, value);
  if (typeof value !== "string" || hasHidden(value)) return undefined;
  return ofString[type](value);
}

function ofNumber(type: ValueType, value: number): string | undefined {
  if (type === "number") return canonicalNumber(value);
  const digits = canonicalIdentifier(value);
  if (digits === undefined || type === "identifier" || type === "text") return digits;
  return type === "phone" ? canonicalPhone(digits) : undefined;
}
