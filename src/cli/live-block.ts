import { shown } from "./output.ts";
import type { Screen } from "./screen.ts";
import { widthOf } from "./text-width.ts";

/** A line in its current state, for at most this many columns. */
export type LiveLine = (columns: number) => string;

/** Lines at the end of a terminal that are redrawn while work goes on; everything else is printed above them. */
export interface LiveBlock {
  readonly set: (key: string, line: LiveLine) => void;
  readonly delete: (key: string) => void;
  /** Removes the lines while something else needs the end of the terminal. */
  readonly hide: () => void;
  readonly show: () => void;
  /** Removes all lines for good. */
  readonly clear: () => void;
}

const tickMs = 1000;

/**
 * Makes a block of lines. While it has some, everything written to the streams of the screen goes above it, so that output of a tool is not overwritten.
 * If the window is made smaller, the terminal breaks the lines: their rows are counted again before they are removed.
 */
export function liveBlock(screen: Screen): LiveBlock {
  const block: Block = { screen, lines: new Map(), drawn: [], isHidden: false, isAtLineStart: true };
  const endWhenEmpty = (): void => {
    redraw(block);
    if (block.lines.size === 0) end(block);
  };
  return {
    set(key, line) {
      begin(block);
      block.lines.set(key, line);
      redraw(block);
    },
    delete(key) {
      if (block.lines.delete(key)) endWhenEmpty();
    },
    hide() {
      block.isHidden = true;
      redraw(block);
    },
    show() {
      block.isHidden = false;
      redraw(block);
    },
    clear() {
      block.lines.clear();
      endWhenEmpty();
    },
  };
}

interface Block {
  readonly screen: Screen;
  readonly lines: Map<string, LiveLine>;
  /** The lines that are on the screen now. */
  drawn: readonly string[];
  isHidden: boolean;
  /** False after a text that did not end its line: nothing is drawn then. */
  isAtLineStart: boolean;
  /** Set while the block has lines. */
  drawing?: { readonly write: (text: string) => unknown; readonly stop: () => void };
}

function begin(block: Block): void {
  if (block.drawing !== undefined) return;
  const watched = block.screen.streams.map((stream) => watch(stream, block));
  const again = (): void => redraw(block);
  const timer = setInterval(again, tickMs).unref();
  process.on("SIGWINCH", again);
  block.isAtLineStart = true;
  block.drawing = {
    write: (text) => watched[0]?.write(text),
    stop() {
      clearInterval(timer);
      process.off("SIGWINCH", again);
      for (const { restore } of watched) restore();
    },
  };
}

function end(block: Block): void {
  block.drawing?.stop();
  delete block.drawing;
}

function redraw(block: Block): void {
  const { screen, lines, drawn, isHidden, isAtLineStart, drawing } = block;
  const { columns, rows } = screen.size();
  const next = isHidden || !isAtLineStart ? [] : linesIn(lines, { columns: columns - 1, rows: rows - 1 });
  if (next.join("\n") === drawn.join("\n")) return;
  erase(block);
  if (next.length > 0) drawing?.write(shown(`${next.join("\n")}\n`));
  block.drawn = next;
}

/** Removes the rows that the lines take at the current width of the screen. */
function erase(block: Block): void {
  const { columns } = block.screen.size();
  const rows = block.drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
  if (rows > 0) block.drawing?.write(`\r\u{1B}[${rows}A\u{1B}[J`);
  block.drawn = [];
}

/** The lines that fit on the screen, and the number of those that do not. */
function linesIn(
  lines: ReadonlyMap<string, LiveLine>,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): readonly string[] {
  const all = [...lines.values()].map((line) => line(columns));
  const count = Math.max(1, rows - 1);
  return all.length <= count ? all : [...all.slice(0, count - 1), `  and ${all.length - count + 1} more`];
}

/** Has text that is written to a stream go above the block. */
function watch(
  stream: Screen["streams"][number],
  block: Block,
): { readonly write: (text: string) => unknown; readonly restore: () => void } {
  const original = stream.write;
  const write = original.bind(stream);
  stream.write = (chunk: Uint8Array | string, ...rest: unknown[]): boolean => {
    erase(block);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the arguments of the caller of `write`, passed on
    const hasRoom = (write as (...words: unknown[]) => boolean)(chunk, ...rest);
    const text = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
    if (text !== "") block.isAtLineStart = text.endsWith("\n");
    redraw(block);
    return hasRoom;
  };
  return { write, restore: () => void (stream.write = original) };
}
