/** The screen on which pages are shown. */
export interface Screen {
  readonly rows: number;
  readonly columns: number;
}

/** A text in pages that leave a line of the screen for a question. Longer lines go on in the next one. */
export function pagesOf(text: string, { rows, columns }: Screen): readonly string[] {
  const width = Math.max(20, columns);
  const lines = text.split("\n").flatMap((line) => inPieces(line, width));
  const height = Math.max(1, rows - 1);
  const pages: string[] = [];
  for (let at = 0; at < lines.length; at += height) pages.push(lines.slice(at, at + height).join("\n"));
  return pages;
}

function inPieces(line: string, width: number): readonly string[] {
  if (line.length <= width) return [line];
  const pieces: string[] = [];
  for (let at = 0; at < line.length; at += width) pieces.push(line.slice(at, at + width));
  return pieces;
}
