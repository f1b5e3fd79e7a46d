/** A text as a key that each database keeps exactly, even if the text is not valid Unicode, or has a null character. */
export function toKey(text: string): string {
  return JSON.stringify(text);
}

/** The text with which the keys of all texts begin that begin with this one. */
export function toKeyPrefix(text: string): string {
  return toKey(text).slice(0, -1);
}

/** The text of a key. */
export function fromKey(key: unknown): string {
  return String(JSON.parse(String(key)));
}
