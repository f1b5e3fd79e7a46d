import { lazy } from "../../util/remembered.ts";
import { compatible, hasHidden } from "./normal.ts";

const token = lazy(() => /^[\p{L}\p{N}][\p{L}\p{N}\p{M}._:\/+=~@\-]*$/v);
const maxLength = 256;

/**
 * The canonical spelling of an identifier (an order number, the id of a file): as written, with full-width letters folded and without a `#` or `@`
 * before it. Case counts. A whole number is spelled by its digits.
 */
export function canonicalIdentifier(value: string | number): string | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? String(value) : undefined;
  if (value.length > maxLength || hasHidden(value)) return undefined;
  const text = compatible(value).trim().replace(/^[#@]/v, "");
  return token().test(text) ? text : undefined;
}

export function isDigits(text: string): boolean {
  return /^\d+$/v.test(text);
}
