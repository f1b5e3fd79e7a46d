/** The words with a full stop, unless they end with a sign that ends a sentence: the words of others may have one. */
export function asSentence(words: string): string {
  return /[.?!…]$/.test(words) ? words : `${words}.`;
}
