/** The index after the quote that closes the string of JSON opened at `start`; undefined if nothing closes it. */
export function endOfString(text: string, start: number): number | undefined {
  const marks = /["\\]/g;
  marks.lastIndex = start + 1;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    if (mark[0] === '"') return marks.lastIndex;
    marks.lastIndex += 1;
  }
  return undefined;
}
