import { printable, type Style } from "../output.ts";
import { isWide, widthOf } from "../text-width.ts";

/** The place that shows Markdown. */
export interface MarkdownPlace {
  readonly write: (text: string) => void;
  readonly style: (style: Style, text: string) => string;
  /** Returns the columns of the terminal. Called for each word, because the window may change. */
  readonly columns: () => number;
  /** False to show the text as it was written, broken between words. */
  readonly isStyled: boolean;
}

/** Markdown that is shown while it is written. */
export interface MarkdownWriter {
  /** Takes the next piece, cut anywhere. */
  readonly push: (text: string) => void;
  /** Shows the rest that was held back, and ends the line. */
  readonly end: () => void;
  /** False if the next piece would continue a line. */
  readonly isAtLineStart: () => boolean;
}

interface State {
  /** A word that is not complete, with the blanks before it. */
  held: string;
  column: number;
  /** True if nothing of the line was shown yet. */
  isNewLine: boolean;
  /** The number of blanks at the beginning of the lines that a line is broken into. */
  indent: number;
  block: "text" | "heading" | "code";
  isBold: boolean;
  isCode: boolean;
}

/**
 * Shows Markdown word by word as it comes: headings, lists, quotes, code, bold. Other markup stays as it was written. Links stay whole, so
 * that a person sees where they lead. The text cannot control the terminal.
 */
export function markdownWriter(place: MarkdownPlace): MarkdownWriter {
  const state: State = {
    held: "",
    column: 0,
    isNewLine: true,
    indent: 0,
    block: "text",
    isBold: false,
    isCode: false,
  };
  return {
    push(text) {
      for (const character of printable(text.replaceAll("\t", "    "))) take(character, state, place);
    },
    end() {
      if (state.held.trim() !== "" || !state.isNewLine) endLine(state, place);
      state.held = "";
      state.block = "text";
    },
    isAtLineStart: () => state.isNewLine && state.held === "",
  };
}

function take(character: string, state: State, place: MarkdownPlace): void {
  if (character === "\n") endLine(state, place);
  else if (isWholeLine(state)) state.held += character;
  else if (character === " ") {
    if (state.held.trim() !== "") showHeld(state, place);
    state.held += character;
  } else {
    if (isWide(character) && state.held.trim() !== "") showHeld(state, place);
    state.held += character;
  }
}

/** True for code and tables, which are shown line by line. */
function isWholeLine({ block, isNewLine, held }: State): boolean {
  return block === "code" || (isNewLine && /^\s*(?:```|~~~|\||-{3}|\*{3}|_{3})/.test(held));
}

function endLine(state: State, place: MarkdownPlace): void {
  const line = state.held.trim();
  if (state.isNewLine && /^(?:```|~~~)/.test(line)) return fence(state, place);
  if (place.isStyled && state.isNewLine && state.block === "text" && /^(?:-{3,}|\*{3,}|_{3,})$/.test(line))
    place.write(place.style("dim", "─".repeat(Math.min(place.columns(), 40))));
  else showHeld(state, place);
  breakLine(state, place);
}

/** The line around code: left out if colours distinguish code from text. */
function fence(state: State, place: MarkdownPlace): void {
  if (!place.isStyled) place.write(`${state.held}\n`);
  state.held = "";
  state.block = state.block === "code" ? "text" : "code";
}

function breakLine(state: State, { write }: MarkdownPlace): void {
  write("\n");
  const { block } = state;
  Object.assign(state, { held: "", column: 0, isNewLine: true, indent: 0, isBold: false, isCode: false });
  if (block !== "code") state.block = "text";
}

function showHeld(state: State, place: MarkdownPlace): void {
  const { held } = state;
  state.held = "";
  if (state.block === "code") return showCode(held, state, place);
  const [, blanks = "", word = ""] = /^(\s*)(.*)$/u.exec(held) ?? [];
  if (word === "") return;
  const begins = state.isNewLine ? markerOf(word, blanks, place) : undefined;
  state.isNewLine = false;
  if (begins === undefined) return showWord(blanks, word, { state, place });
  const { text, block = state.block } = begins;
  state.block = block;
  place.write(text);
  state.column = state.indent = widthOf(text);
  if (block === "heading") state.column = state.indent = 0;
}

function showCode(line: string, state: State, { write, style, isStyled }: MarkdownPlace): void {
  const shown = isStyled ? `  ${style("cyan", line)}` : line;
  write(line === "" ? "" : shown);
  state.isNewLine = false;
}

interface Marker {
  readonly text: string;
  readonly block?: State["block"];
}

/** The marker at the beginning of a line, as it is shown. */
function markerOf(word: string, blanks: string, { style, isStyled }: MarkdownPlace): Marker | undefined {
  if (/^\d{1,4}[.)]$/.test(word)) return { text: `${blanks}${word}` };
  if (/^[-*+]$/.test(word)) return { text: `${blanks}${isStyled ? "•" : word}` };
  if (!isStyled) return undefined;
  if (/^#{1,6}$/.test(word)) return { text: "", block: "heading" };
  if (word === ">") return { text: `${blanks}${style("dim", "│")}` };
  return undefined;
}

function showWord(
  blanks: string,
  word: string,
  { state, place }: { readonly state: State; readonly place: MarkdownPlace },
): void {
  const text = place.isStyled && !word.startsWith("|") ? styled(word, state, place) : word;
  const width = widthOf(text);
  const space = state.block === "heading" && state.column === 0 ? "" : blanks;
  const columns = place.columns();
  const isFull = state.column > state.indent && state.column + space.length + width > columns;
  if (isFull) place.write(`\n${" ".repeat(hangingIndent(state))}${text}`);
  else place.write(space + text);
  const before = isFull ? hangingIndent(state) : state.column + space.length;
  state.column = before + width > columns ? (before + width) % columns : before + width;
}

/** The indentation of the text of a list: later lines begin below the first. */
function hangingIndent({ indent }: State): number {
  return indent === 0 ? 0 : indent + 1;
}

/** A word as it is shown: marks of bold and of code change the state and are left out. */
function styled(word: string, state: State, { style }: MarkdownPlace): string {
  let text = "";
  for (const piece of word.split(/(\*\*|`+)/u)) {
    if (piece.startsWith("`") && !/^`+$/.test(word)) state.isCode = !state.isCode;
    else if (piece === "**" && !state.isCode && word !== "**") state.isBold = !state.isBold;
    else if (piece !== "") text += styledPiece(piece, state, style);
  }
  return text;
}

function styledPiece(piece: string, { isCode, isBold, block }: State, style: MarkdownPlace["style"]): string {
  if (isCode) return style("cyan", piece);
  return isBold || block === "heading" ? style("bold", piece) : piece;
}
