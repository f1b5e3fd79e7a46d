import { WritError } from "../error/writ-error.ts";

/** How often in a row a model is asked again for a reply that counts, where the author says nothing. */
export const defaultRetries = 3;

/** @throws WritError `definition-invalid` when it is no whole number from 0 on. */
export function checkedCount(field: string, value: number, where: string): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new WritError("definition-invalid", {
    where: `\`${where}\``,
    reason: `\`${field}\` must be a whole number from 0 on.`,
  });
}

/** @throws WritError `definition-invalid` for a word that is none of them. */
export function checkedWord(
  { field, door }: { readonly field: string; readonly door: string },
  value: string,
  allowed: readonly string[],
): void {
  if (allowed.includes(value)) return;
  throw new WritError("definition-invalid", {
    where: `\`${door}\``,
    reason: `\`${field}\` must be one of ${allowed.join(", ")}.`,
  });
}
