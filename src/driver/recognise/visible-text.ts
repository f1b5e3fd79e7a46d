import { namespaces, withoutNamespace } from "../../model/tool-names.ts";
import { folded } from "./known-tools.ts";

/** Signs that may begin a call: of a mark, a list, an object, a fence, a command, a step of ReAct. */
const sign = /[<[{`@]|\bAction:|\bfunctools\s*\[|\bto=functions/;
const wordsOfSigns = ["Action", "functools", "to"];
/** The beginning of Harmony's sign behind its first word. */
const beginsHarmony = /\bto=(?:f(?:u(?:n(?:c(?:t(?:i(?:on?)?)?)?)?)?)?)?$/;
const lastWord = /[A-Za-z_][\w./:\\-]*\s{0,64}$/;
const wordBeforeBracket = /(?<![\w./:\\-])[A-Za-z_][\w./:\\-]{0,127}(?=\s{0,64}[({])/g;

/** Most characters that are held back, so that a piece costs what its length costs. */
const longestHeld = 128;

/** The words that a call can begin with, ready for being met letter by letter. */
export interface CallWords {
  readonly whole: ReadonlySet<string>;
  readonly begun: ReadonlySet<string>;
}

/** The names of tools, and their last parts. */
export function callWords(names: readonly string[]): CallWords {
  const parts = names.flatMap((name) => [name, name.split(/[./:]/).at(-1) ?? name]).map(folded);
  const begun = [...parts, ...[...wordsOfSigns, ...namespaces].map(folded)].flatMap((word) =>
    Array.from({ length: Math.min(word.length, longestHeld) }, (_, index) => word.slice(0, index + 1)),
  );
  return { whole: new Set(parts), begun: new Set(begun) };
}

/**
 * Follows a text while it is written. Gives back of each piece, and of what was held back before it, what is surely no part of a call: nothing
 * from the first sign on that can begin one, which may be a name before a bracket, and no word that may still become such a name. The pieces say
 * together the same wherever the text is cut.
 */
export function visibleText(words: CallWords): (piece: string) => string {
  let held = "";
  /** The end of a word that was given back: what comes next belongs to it. */
  let before = "";
  let isClosed = false;
  return (piece) => {
    if (isClosed) return "";
    const text = before + held + piece;
    const end = beginningOfCall(text, words);
    if (end !== undefined) {
      isClosed = true;
      return text.slice(before.length, end);
    }
    held = mayGoOn(text, words).slice(-held.length - piece.length);
    const given = text.slice(0, text.length - held.length);
    const visible = given.slice(before.length);
    before = endOfWord.exec(given.slice(-longestHeld))?.[0] ?? "";
    return visible;
  };
}

const endOfWord = /[\w./:\\=-]+$/;

function beginningOfCall(text: string, words: CallWords): number | undefined {
  const mark = sign.exec(text)?.index;
  for (const match of text.slice(0, mark === undefined ? undefined : mark + 1).matchAll(wordBeforeBracket))
    if (isIn(words.whole, match[0])) return match.index;
  return mark;
}

/** The last word, when it is a name or the beginning of one. */
function mayGoOn(text: string, { whole, begun }: CallWords): string {
  const end = text.slice(-longestHeld);
  const [harmony] = beginsHarmony.exec(end) ?? [];
  if (harmony !== undefined) return harmony;
  const last = lastWord.exec(end)?.[0] ?? "";
  const word = last.trimEnd();
  const isName = word === last ? isIn(begun, word) || withoutNamespace(word) === "" : isIn(whole, word);
  return isName && last.length < longestHeld ? last : "";
}

/** True for a name in the set, also with what models set before it. */
function isIn(names: ReadonlySet<string>, word: string): boolean {
  return names.has(folded(word)) || names.has(folded(withoutNamespace(word)));
}

/** The beginnings of a text that may be calls in the tags of a model, as the recogniser reads them. */
const openings: readonly string[] = [
  "<tool_call",
  "<|tool_call",
  "<function_call",
  "<functioncall",
  "<function=",
  "<invoke name=",
  "<tool_code>",
  "<start_function_call>",
  "<|python_tag|>",
  "<|channel|>",
  "<｜tool▁call",
  "<｜DSML｜",
  "[TOOL_CALL",
];

/**
 * Follows a text while it is written, and gives back all of it, unless it may be calls in tags: such a text is given back only once it cannot be any more. A
 * model that calls says nothing before its tags.
 */
export function untaggedText(): (piece: string) => string {
  let held = "";
  /** The first characters of it behind the blanks: the text held is long where a call is, and to read all of it with each piece would cost its square. */
  let beginning = "";
  let isSaid = false;
  return (piece) => {
    if (isSaid) return piece;
    held += piece;
    if (beginning.length === longest) return "";
    const text = (beginning + piece).trimStart().slice(0, longest);
    beginning = text;
    isSaid =
      text !== "" && openings.every((opening) => !opening.startsWith(text) && !text.startsWith(opening));
    return isSaid ? held : "";
  };
}

const longest = 32;
