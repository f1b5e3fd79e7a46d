import { closingQuote, partingAt } from "./characters.ts";

const opens = "([";
const closes = ")]";
const trailing = ".,;:!?'*";

/**
 * The end of the link that begins at `start`: before white space, a quote, a bracket that it did not open, or
 * a comma before another link; without the punctuation that ends a sentence. Looks at each character once.
 */
export function linkEnd(text: string, start: number): number {
  const quote = closingQuote(text[start - 1] ?? "") === "'" ? "'" : undefined;
  const open: number[] = [];
  let end = start;
  while (end < text.length && !stops(text, end, quote)) {
    const character = text[end] ?? "";
    if (opens.includes(character)) open.push(opens.indexOf(character));
    else if (closes.includes(character) && open.pop() !== closes.indexOf(character)) break;
    end += 1;
  }
  while (end > start && trailing.includes(text[end - 1] ?? "")) end -= 1;
  return end;
}

function stops(text: string, index: number, quote: string | undefined): boolean {
  const character = text[index] ?? "";
  if (character === "'") return quote === "'";
  if (character === "," || character === ";")
    return /^[,;] ?(?:https?:|ftp:|www\.)/iv.test(text.slice(index, index + 8));
  if ("()[]#".includes(character)) return false;
  return partingAt(text, index) !== undefined || character === "^";
}
