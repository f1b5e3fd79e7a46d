import { isatty } from "node:tty";
import { styleText } from "node:util";
import { writeOut } from "../adapters/own-output.ts";
import { visibleJson } from "../util/json.ts";
import { fitted, processScreen, type Screen } from "./screen.ts";

/** The look of a piece of text. */
export type Style = "bold" | "cyan" | "dim" | "green" | "red" | "yellow";

/** The output of a command: the answer goes to standard output, everything else to standard error. */
export interface Output {
  /**
   * Writes to standard output: unchanged, but to a terminal as {@link shown}. Returns a promise if the reader is slow: it resolves once there is room again.
   */
  readonly answer: (text: string) => void | Promise<void>;
  /** Writes to standard error as {@link shown}, without a line break of its own. */
  readonly progress: (text: string) => void;
  /** True if people watch the progress on a terminal. */
  readonly isTerminal: boolean;
  /** True if the answer goes to a terminal. */
  readonly answersTerminal: boolean;
  /** The terminal of the progress, if lines can be redrawn there. */
  readonly screen?: Screen;
  /** Colours a text of the progress if colours are wanted: on a terminal, unless NO_COLOR is set. */
  readonly style: (style: Style, text: string) => string;
  /** Colours a text of the answer if colours are wanted. */
  readonly styleAnswer: (style: Style, text: string) => string;
}

function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => void stream.once("drain", resolve));
}

/** The output of this process. */
export const processOutput: Output = {
  answer(text) {
    const written = isatty(process.stdout.fd) ? shown(text) : text;
    return writeOut(written) ? undefined : drained(process.stdout);
  },
  progress: (text) => void process.stderr.write(shown(text)),
  get isTerminal() {
    return isatty(process.stderr.fd);
  },
  get answersTerminal() {
    return isatty(process.stdout.fd);
  },
  get screen() {
    return processScreen();
  },
  style: (style, text) => styleText(style, text, { stream: process.stderr }),
  styleAnswer: (style, text) => styleText(style, text, { stream: process.stdout }),
};

/** Writes lines of the progress, broken between words where the terminal is narrower. */
export function say(text: string, { progress, screen }: Output): void {
  progress(fitted(text, screen));
}

const unsafe = /(?![\n\t])[\p{Cc}\u{202A}-\u{202E}\u{2066}-\u{2069}]/gu;

/** The terminal sequences of this program: {@link Style}s, and the redrawing of a line. */
// oxlint-disable-next-line no-control-regex -- it looks for control characters
const steering = /(\u{1B}\[(?:1|2|22|31|32|33|36|39)m|\r\u{1B}\[K)/u;

/**
 * A text as it is printed: only sequences that this program itself writes control the terminal. Texts from outside are made {@link printable} where they
 * are inserted; this function escapes those that were missed.
 */
export function shown(text: string): string {
  return text
    .split(steering)
    .map((part, index) => (index % 2 === 0 ? printable(part) : part))
    .join("");
}

/** A text from outside that is safe on a terminal: characters that would control the terminal are written out. */
export function printable(text: string): string {
  return text.replaceAll(unsafe, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A value as a line of JSON that is safe on a terminal: such characters become escapes, which mean the same to a reader of JSON. */
export function jsonLine(value: unknown): string {
  return `${visibleJson(JSON.stringify(value))}\n`;
}

/** A text from outside on one line, cut after `longest` characters. */
export function oneLine(text: string, longest = 200): string {
  const line = printable(text.trim()).replaceAll(/\s+/g, " ");
  return line.length > longest
    ? `${line
        .slice(0, longest)
        .toWellFormed()
        .replace(/\uFFFD$/, "")}…`
    : line;
}

/** A duration for people: `840 ms`, `8.2 s`, `3 min 5 s`. */
export function durationText(durationMs: number): string {
  if (durationMs < 1000) return `${Math.round(durationMs)} ms`;
  if (durationMs < 59_950) return `${(durationMs / 1000).toFixed(1)} s`;
  const seconds = Math.round(durationMs / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A size for people, in the decimal units that file sizes are sold in: `850 B`, `105 MB`, `4.7 GB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 10 ? value.toFixed(1) : String(Math.round(value))} ${units[unit] ?? "TB"}`;
}

/** `1 turn`, `2 turns`. */
export function countText(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}

/** A text quoted for a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** A text as a word of a command that is printed for a person to copy: quoted if a shell would read it differently. */
export function shellWord(text: string): string {
  if (/^[\w./:@%+=,-]+$/.test(text)) return text;
  // Quotes that cmd, PowerShell and Git Bash all know, where none of them reads anything inside.
  const isPlain = process.platform === "win32" && /^[^"$`%!\p{Cc}]*[^"$`%!\p{Cc}\\]$/u.test(text);
  return isPlain ? `"${text}"` : quoted(text);
}
