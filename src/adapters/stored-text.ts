/** Text as each database keeps it exactly: also one that is no valid Unicode, or has a null character. */
export function toKey(text: string): string {
  return JSON.stringify(text);
}

/** The text of a key. */
export function fromKey(key: unknown): string {
  return String(JSON.parse(String(key)));
}
