import { type ReplyPart, textOf } from "../message/message.ts";
import type { Reply } from "../model/assemble.ts";

/** The words that a piece of a reply adds: its text, and the model's thoughts. */
export interface Told {
  readonly text: string;
  readonly thought: string;
  /** True if a block ended that never began, because some templates put its opening tag into the prompt. All earlier text was then thought too. */
  readonly wasThought?: true;
}

/** Follows a reply while it is written, and separates thinking from text. */
export interface ThinkingFilter {
  push(piece: string): Told;
  /** Returns the text that was held back because it could have become a tag. */
  end(): Told;
}

/** The tags of most models, and Mistral's. */
const tags = ["<think>", "<thinking>", "</think>", "</thinking>", "[THINK]", "[/THINK]"];
/** A tag in quotes or backticks is only mentioned. An unclosed quote ends with its line. */
const signs = /\\["\\]|["`\n]|(?:<(?=\/?t)|\[(?=\/?T))(\/?)(?:think(?:ing)?>|THINK\])/g;

/** A character that a sign begins with. */
const signBegins = /[\\"`\n<[]/;

/**
 * Separates the thoughts that reasoning models write between `<think>` tags: each block of a reply, and an unclosed one up to the end. The blanks
 * after a block belong to it. The cost of a piece is linear in its length.
 */
export function thinkingFilter(): ThinkingFilter {
  let held = "";
  let quote = "";
  let isThinking = false;
  let isBehindBlock = false;
  const read = (given: string, isLast: boolean): Told => {
    const told = { text: "", thought: "", wasThought: false };
    const add = (piece: string): void => {
      const kept = isBehindBlock ? piece.trimStart() : piece;
      isBehindBlock &&= kept === "";
      if (isThinking) told.thought += piece;
      else told.text += kept;
    };
    const all = held + given;
    held = isLast ? "" : mayBecomeSign(all);
    const text = all.slice(0, all.length - held.length);
    let at = 0;
    for (const match of text.matchAll(signs)) {
      const [sign, closing] = match;
      if (closing === undefined) {
        if (isThinking) continue;
        if (sign === "\n" || sign === quote) quote = "";
        else if (quote === "" && sign.length === 1) quote = sign;
        continue;
      }
      const isTag = closing === "/" ? isThinking || quote === "" : !isThinking && quote === "";
      if (!isTag) continue;
      add(text.slice(at, match.index));
      at = match.index + sign.length;
      if (closing === "/" && !isThinking) {
        told.thought += told.text;
        told.text = "";
        told.wasThought = true;
      }
      isThinking = closing !== "/";
      isBehindBlock = !isThinking;
    }
    add(text.slice(at));
    const { wasThought, ...rest } = told;
    return wasThought ? { ...rest, wasThought } : rest;
  };
  /** Reads a piece in which no sign can begin: it changes nothing about the separation. */
  const readPlain = (piece: string): Told => {
    if (isThinking) return { text: "", thought: piece };
    const text = isBehindBlock ? piece.trimStart() : piece;
    isBehindBlock &&= text === "";
    return { text, thought: "" };
  };
  return {
    push: (piece) => (held === "" && !signBegins.test(piece) ? readPlain(piece) : read(piece, false)),
    end: () => read("", true),
  };
}

/** The end of a text that the next piece may complete to a sign. */
function mayBecomeSign(text: string): string {
  let backslashes = 0;
  while (text.at(-1 - backslashes) === "\\") backslashes += 1;
  if (backslashes % 2 === 1) return "\\"; // two of them are a sign of their own
  const open = Math.max(text.lastIndexOf("<"), text.lastIndexOf("["));
  const last = open === -1 ? "" : text.slice(open);
  return last !== "" && tags.some((tag) => tag !== last && tag.startsWith(last)) ? last : "";
}

/** Separates the words of a text from the thoughts in it. */
export function tellApart(written: string): Pick<Told, "text" | "thought"> {
  if (!/think|THINK/.test(written)) return { text: written, thought: "" };
  const filter = thinkingFilter();
  const told = filter.push(written);
  const rest = filter.end();
  return { text: told.text + rest.text, thought: (told.thought + rest.thought).trim() };
}

/**
 * The reply with the model's thoughts in its text as reasoning; its text then becomes one part, at the place of the first one. The
 * same reply if it has no such thoughts.
 */
export function withoutThinking(reply: Reply): Reply {
  const written = textOf(reply.message);
  const { text, thought } = tellApart(written);
  if (text === written) return reply;
  const said: readonly ReplyPart[] = [
    ...(thought === "" ? [] : [{ type: "reasoning", text: thought } as const]),
    ...(text === "" ? [] : [{ type: "text", text } as const]),
  ];
  const first = reply.message.parts.findIndex(({ type }) => type === "text");
  const parts = reply.message.parts.flatMap((part, index) =>
    part.type === "text" ? (index === first ? said : []) : [part],
  );
  return { ...reply, message: { ...reply.message, parts } };
}
