import { bitsAt, closingQuote, has, isWordAt, partingAt } from "./characters.ts";
import { linkEnd } from "./link-end.ts";
import { maxValueLength } from "./normal.ts";
import type { Span } from "./phrases.ts";

/** A whole token of a text: a part between spaces, quotes, brackets, commas and the punctuation of sentences. */
export interface Token {
  /** Its place, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** Bits of `has`: the kinds of characters that it may have. */
  readonly bits: number;
  /** True if it begins with a scheme and `://`. */
  readonly isLink: boolean;
}

export interface Tokens {
  readonly text: string;
  readonly words: readonly Token[];
  /** The places of the parts in quotes, without the quotes. */
  readonly quoted: readonly Span[];
  /** Each `key:value` and `key=value` as a whole; the key and the value are words too. */
  readonly pairs: readonly string[];
}

interface Reader {
  readonly text: string;
  readonly words: Token[];
  readonly quoted: Span[];
  readonly pairs: string[];
  /** The places of open quotes, by the sign that closes them. */
  readonly open: Map<string, number>;
  /** The place of the next `://`, or -1. */
  scheme: number;
}

/** The word at an index; empty if there is none. */
export function wordAt(tokens: Tokens, index: number): string {
  const token = tokens.words[index];
  return token === undefined ? "" : tokens.text.slice(token.start, token.end);
}

/** The text between two words, or before the first or after the last. */
export function between({ text, words }: Tokens, from: number, to: number): string {
  return text.slice(words[from]?.end, words[to]?.start ?? text.length);
}

/** Splits a text into whole tokens, in one pass. Tokens longer than a value may be are left out. */
export function tokensOf(text: string): Tokens {
  const reader: Reader = {
    text,
    words: [],
    quoted: [],
    pairs: [],
    open: new Map(),
    scheme: text.indexOf("://"),
  };
  let index = 0;
  while (index < text.length) {
    if (bitsAt(text, index) !== 0) index = readToken(reader, index);
    else {
      if (partingAt(text, index) === "quote") readQuote(reader, index);
      index += 1;
    }
  }
  return reader;
}

/** Reads the token at `start`; returns its end. */
function readToken(reader: Reader, start: number): number {
  const { text } = reader;
  if (reader.scheme !== -1 && reader.scheme < start) reader.scheme = text.indexOf("://", start);
  let bits = 0;
  let end = start;
  for (;;) {
    if (end === reader.scheme) return readLink(reader, start);
    const next = bitsAt(text, end);
    if (next === 0 && !joins(text, end)) break;
    bits |= next;
    end += 1;
  }
  addWord(reader, { start, end, bits });
  return end;
}

/** True for an apostrophe inside a word and a comma inside a number, which do not separate tokens. */
function joins(text: string, index: number): boolean {
  const character = text[index];
  if (character === ",")
    return bitsAt(text, index - 1) === has.digit && bitsAt(text, index + 1) === has.digit;
  return (
    (character === "'" || character === "\u{2019}") && isWordAt(text, index - 1) && isWordAt(text, index + 1)
  );
}

/** Reads a link. A scheme must begin where the token does, or after `key=`, `key:` or a star: inside a longer word nobody meant a link. */
function readLink(reader: Reader, start: number): number {
  const { text, scheme } = reader;
  let begin = scheme;
  while (begin > start && /[a-z0-9+.\-]/iv.test(text[begin - 1] ?? "")) begin -= 1;
  const end = Math.max(linkEnd(text, begin), scheme + 3);
  if (begin > start && "=:*".includes(text[begin - 1] ?? ""))
    addWord(reader, { start, end: begin - 1, bits: -1 });
  if (begin === start || "=:*".includes(text[begin - 1] ?? ""))
    push(reader, { start: begin, end, bits: -1 }, true);
  return end;
}

interface WordSpan extends Span {
  readonly bits: number;
}

const sentenceEnds = ".:!?*";

function addWord(reader: Reader, span: WordSpan): void {
  const { text } = reader;
  let { start, end } = span;
  while (end > start && sentenceEnds.includes(text[end - 1] ?? "")) end -= 1;
  while (start < end && text[start] === "*") start += 1;
  if (":=".includes(text[start] ?? " ")) start += 1;
  if (end - start > 2 && text[end - 1] === "s" && "'\u{2019}".includes(text[end - 2] ?? "")) end -= 2;
  const { bits } = span;
  if ((bits & ~has.other & ~has.dot) === 0 || end === start) return;
  const value = (bits & has.other) === 0 ? start : pairValue(text, start, end);
  if (value > start) {
    reader.pairs.push(text.slice(start, end));
    push(reader, { start, end: value - 1, bits }, false);
  }
  push(reader, { start: value, end, bits }, false);
}

/** The place of the value in `key:value`; `start` if there is none. One letter before a path is a drive. */
function pairValue(text: string, start: number, end: number): number {
  let index = start;
  while (index < end && ((bitsAt(text, index) & (has.letter | has.beyondAscii)) !== 0 || text[index] === "_"))
    index += 1;
  return index - start > 1 && index + 1 < end && ":=".includes(text[index] ?? "") ? index + 1 : start;
}

function push(reader: Reader, { start, end, bits }: WordSpan, isLink: boolean): void {
  if (end > start && end - start <= maxValueLength) reader.words.push({ start, end, bits, isLink });
}

/** Reads a quote. It opens after a space or a bracket, and closes before one; between words it does neither. */
function readQuote(reader: Reader, index: number): void {
  const { text, open } = reader;
  const quote = text[index] ?? "";
  const begun = open.get(quote);
  if (begun !== undefined && closes(text, index)) {
    open.delete(quote);
    if (index - begun <= maxValueLength) reader.quoted.push({ start: begun, end: index });
    return;
  }
  const closedBy = closingQuote(quote);
  if (closedBy !== undefined && (closedBy !== quote || opens(text, index))) open.set(closedBy, index + 1);
}

function opens(text: string, index: number): boolean {
  return index === 0 || bitsAt(text, index - 1) === 0 || ":=".includes(text[index - 1] ?? "");
}

function closes(text: string, index: number): boolean {
  return bitsAt(text, index + 1) === 0 || sentenceEnds.includes(text[index + 1] ?? "");
}
