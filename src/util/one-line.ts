/** The line ends of Unicode (UAX 14, classes BK, CR, LF and NL), with the blanks around them. */
const lineEnds = /\s*[\n\v\f\r\u0085\u2028\u2029][\s\u0085]*/g;

/** A text in one line, for a notation whose lines have a meaning: a result could begin a line of its own otherwise. */
export function oneLine(text: string): string {
  return text.replaceAll(lineEnds, " ");
}
