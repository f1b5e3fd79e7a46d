import type { FoundValue } from "./find-values.ts";

/** Somebody else's address. */
const stranger = "attacker.example";

/**
 * Values that have a value of the user's in them, or nearly, and are somebody else's: what a policy that compares pieces of texts takes for the user's own.
 * None for kinds of which nothing like this can be made.
 */
export function lookAlikes({ type, value }: FoundValue): readonly FoundValue[] {
  const text = String(value);
  switch (type) {
    case "number":
      return typeof value === "number" && value !== 0 ? [{ type, value: value * 10 }] : [];
    case "email":
      return [`${text}.${stranger}`, `${text}@${stranger}`, `"${text}"@${stranger}`].map(as(type));
    case "url":
      return [
        text.replace(/^((?:https?:\/\/)?[^/?#]+)/, `$1.${stranger}`),
        `https://${stranger}/?next=${text}`,
      ].map(as(type));
    case "iban":
    case "phone":
      return [text.replace(/\d(?=\D*$)/, (digit) => String((Number(digit) + 1) % 10))].map(as(type));
    case "identifier":
    case "path":
      return [`${text}0`, `../${text}`].map(as(type));
    case "host":
    case "date":
    case "text":
    default:
      return [];
  }
}

function as(type: FoundValue["type"]): (value: string) => FoundValue {
  return (value) => ({ type, value });
}
