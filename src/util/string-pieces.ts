import { parseJson } from "./json.ts";

/**
 * Reads a string of JSON while it is written, from behind its opening quote. Returns what each piece adds to it, and nothing from its closing quote on, or from
 * what no string of JSON has. Half a character is held back until the other half is there. The cost of a piece is linear in its length.
 */
export function stringPieces(): (piece: string) => string {
  let held = "";
  let half = "";
  let isOpen = true;
  return (piece) => {
    if (!isOpen) return "";
    const text = held + piece;
    const { end, goesOn } = readable(text);
    isOpen = goesOn;
    held = text.slice(end);
    const read = parseJson(`"${text.slice(0, end)}"`);
    const said = half + (read.ok && typeof read.value === "string" ? read.value : "");
    half = goesOn ? (/[\uD800-\uDBFF]$/.exec(said)?.[0] ?? "") : "";
    return said.slice(0, said.length - half.length);
  };
}

// oxlint-disable-next-line no-control-regex -- it looks for control characters
const marks = /["\\\u0000-\u001F]/g;
const escape = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y;
const begunEscape = /\\(?:u[\dA-Fa-f]{0,3})?$/y;

/** The end of the part that can be read, and whether the string goes on behind it. */
function readable(text: string): { readonly end: number; readonly goesOn: boolean } {
  marks.lastIndex = 0;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    const { index } = mark;
    escape.lastIndex = index;
    if (escape.test(text)) marks.lastIndex = escape.lastIndex;
    else {
      begunEscape.lastIndex = index;
      return { end: index, goesOn: begunEscape.test(text) };
    }
  }
  return { end: text.length, goesOn: true };
}
