import { compatible } from "./normal.ts";

const structure = /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/v;
/** The longest account number with a separator after each character. */
const maxWritten = 70;

/**
 * The canonical spelling of an international bank account number: upper case, no spaces or dashes. Only its structure is checked (two letters, two digits,
 * 15 to 34 characters): a number with a wrong checksum is compared like any other, because what a user wrote is the user's choice. An account number of a bank
 * without such numbers is its 6 to 17 digits.
 */
export function canonicalIban(value: string): string | undefined {
  if (value.length > maxWritten) return undefined;
  const written = compatible(value).trim();
  const digits = written.replaceAll(/[ \-]/gv, "");
  if (isAccount(digits)) return digits;
  if (!/^[a-z]{2}[ \-]*\d/iv.test(written)) return undefined;
  const text = written.replaceAll(/[ \-]/gv, "").toUpperCase();
  return structure.test(text) ? text : undefined;
}

/** True for the digits of an account without an international number. */
export function isAccount(digits: string): boolean {
  return /^\d{6,17}$/v.test(digits);
}

/** True if the checksum of a canonical account number holds (ISO 7064, modulo 97). */
export function checksumHolds(iban: string): boolean {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const number = Number.parseInt(character, 36);
    rest = (rest * (number > 9 ? 100 : 10) + number) % 97;
  }
  return rest === 1;
}
