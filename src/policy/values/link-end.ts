import { bitsAt, closingQuote, has, partingAt } from "./characters.ts";

const opens = "([";
const closes = ")]";
const trailing = ".,;:!?'*";
/** Kinds of characters that neither end a link nor open or close a bracket. */
const goesOn = has.letter | has.digit | has.at | has.dot | has.slash;

/**
 * The end of the link that begins at `start`: before white space, a quote, a bracket that it did not open, or
 * a comma before another link; without the punctuation that ends a sentence. Looks once at each character.
 */
export function linkEnd(text: string, start: number): number {
  const quote = closingQuote(text[start - 1] ?? "") === "'" ? "'" : undefined;
  const open: number[] = [];
  let end = start;
  for (; end < text.length; end += 1) {
    if ((bitsAt(text, end) & goesOn) !== 0) continue;
    if (stops(text, end, quote)) break;
    const character = text[end] ?? "";
    if (opens.includes(character)) open.push(opens.indexOf(character));
    else if (closes.includes(character) && open.pop() !== closes.indexOf(character)) break;
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
