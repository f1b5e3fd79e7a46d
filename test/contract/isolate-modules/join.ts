export function join(words: readonly string[]): string {
  return words.join(" ");
}
