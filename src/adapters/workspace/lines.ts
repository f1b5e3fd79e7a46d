import { isUtf8 } from "node:buffer";
import type { ReadFiles } from "../../tool/handles.ts";

/** A file whose lines are visited. */
export interface TextFile {
  readonly path: string;
  readonly bytes: number;
  readonly fs: Pick<ReadFiles, "readBytes">;
}

/** A line, without its line break. */
export interface Line {
  /** The number from 1. */
  readonly number: number;
  readonly text: string;
  /** The number of bytes that `text` lacks: only the beginning of a line over 100,000 bytes is kept. */
  readonly leftOut: number;
  /** False if `text` has signs in place of bytes that are not UTF-8. */
  readonly isUtf8: boolean;
}

/** The end of a visit. */
export type Visited =
  | { readonly type: "binary" }
  /** `lines` were visited; `leftBytes` come after them. */
  | { readonly type: "text"; readonly lines: number; readonly leftBytes: number };

const windowBytes = 1_000_000;
/** The most bytes of a line that are kept. */
export const keptBytes = 100_000;
/** The number of first bytes of a file that are searched for a NUL, which a text does not have. */
const judgedBytes = 8_000;

/**
 * Visits the lines of a file in order, until `visit` returns false. A file of any size takes no more
 * memory than a window.
 */
export async function eachLine(file: TextFile, visit: (line: Line) => boolean): Promise<Visited> {
  const taken = lineTaker();
  for (let from = 0; from < file.bytes; from += windowBytes) {
    const read = await file.fs.readBytes(file.path, { from, bytes: windowBytes });
    const window = Buffer.from(read.buffer, read.byteOffset, read.byteLength);
    if (from === 0 && window.subarray(0, judgedBytes).includes(0)) return { type: "binary" };
    let start = 0;
    for (let end = window.indexOf(10); end !== -1; end = window.indexOf(10, start)) {
      taken.add(window.subarray(start, end));
      start = end + 1;
      if (!visit(taken.line()))
        return { type: "text", lines: taken.lines(), leftBytes: Math.max(0, file.bytes - from - start) };
    }
    taken.add(window.subarray(start));
  }
  if (taken.isOpen()) visit(taken.line());
  return { type: "text", lines: taken.lines(), leftBytes: 0 };
}

/** Joins lines from the pieces in windows. */
function lineTaker(): {
  readonly add: (piece: Buffer) => void;
  readonly line: () => Line;
  readonly lines: () => number;
  readonly isOpen: () => boolean;
} {
  let lines = 0;
  let pieces: Buffer[] = [];
  let kept = 0;
  let length = 0;
  return {
    add(piece) {
      const part = piece.subarray(0, keptBytes - kept);
      if (part.length > 0) pieces.push(part); // an empty one would keep its window in memory
      kept += part.length;
      length += piece.length;
    },
    line() {
      const [first = Buffer.alloc(0)] = pieces;
      const bytes = pieces.length === 1 ? first : Buffer.concat(pieces);
      const leftOut = length - kept;
      lines += 1;
      pieces = [];
      kept = 0;
      length = 0;
      const text = bytes.toString("utf8").replace(/\r$/, "");
      return {
        number: lines,
        text: lines === 1 ? text.replace(/^\ufeff/, "") : text,
        leftOut,
        isUtf8: leftOut > 0 || isUtf8(bytes),
      };
    },
    lines: () => lines,
    isOpen: () => length > 0,
  };
}

/** The part of a text between two places, without dividing a character. */
export function cutText(text: string, from: number, to: number): string {
  return text.slice(from, to).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
}
