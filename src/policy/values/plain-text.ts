import { folded, hasHidden } from "./normal.ts";

/** The canonical spelling of a text: as `folded` writes it. `undefined` when it is empty or has a character that nobody sees. */
export function canonicalText(value: string | number): string | undefined {
  const text = folded(String(value));
  return text === "" || hasHidden(text) ? undefined : text;
}
