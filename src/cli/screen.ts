import { isatty, type WriteStream } from "node:tty";
import { stripVTControlCharacters } from "node:util";
import { wrapped } from "./text-width.ts";

/** A terminal on which lines can be redrawn. */
export interface Screen {
  /** The current size: people resize windows. */
  readonly size: () => { readonly columns: number; readonly rows: number };
  /** The streams that it shows; the progress goes to the first. */
  readonly streams: readonly Pick<WriteStream, "write">[];
}

/** The terminal of this process, if the progress goes to one that can redraw lines. */
export function processScreen(): Screen | undefined {
  const { stdout, stderr } = process;
  if (!isatty(stderr.fd) || process.env["TERM"] === "dumb") return undefined;
  return {
    size() {
      const [columns, rows] = stderr.getWindowSize();
      return { columns: columns || 80, rows: rows || 24 }; // some terminals say 0
    },
    streams: isatty(stdout.fd) ? [stderr, stdout] : [stderr],
  };
}

/** Lines as a terminal shows them: broken between words, and with later lines indented, where no other line begins. */
export function fitted(text: string, screen: Screen | undefined): string {
  if (screen === undefined) return text;
  const { columns } = screen.size();
  return text
    .split("\n")
    .map((line) => wrapped(line, columns, indentOf(line) + 2))
    .join("\n");
}

function indentOf(line: string): number {
  return /^ */.exec(stripVTControlCharacters(line))?.[0].length ?? 0;
}
