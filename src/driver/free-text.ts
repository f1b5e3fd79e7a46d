import { terminal } from "./grammar/grammar.ts";

/** Blanks inside a character class: text that begins with one could be only blanks, which says nothing. */
export const blanks: string = String.raw`\x00-\x20\x7F-\xA0\u1680\u2000-\u200F\u2028\u2029\u202F\u205F\u3000\uFEFF`;

/** The right side of a rule, and the other rules that it needs. */
export interface GrammarPart {
  readonly expression: string;
  readonly rules: readonly string[];
}

/**
 * The grammar of non-empty text without `literal` in it: the answer of a protocol whose calls begin with the literal. The rules track
 * how much of the literal was just written, like a search for it.
 *
 * The names of the rules begin with `text-`.
 */
export function textWithout(literal: string): GrammarPart {
  const signs = [...new Set(literal)];
  const others = `[^${signs.map(inClass).join("")}]`;
  const next = (state: number): string =>
    [
      ...signs.flatMap((sign) => {
        const reached = matched(literal.slice(0, state) + sign, literal);
        return reached === literal.length ? [] : [`${terminal(sign)} text-${reached}`];
      }),
      `${others} text-0`,
    ].join(" | ");
  const states = Array.from({ length: literal.length }, (_, state) => `text-${state} ::= (${next(state)})?`);
  const firstOthers = `[^${blanks}${signs.map(inClass).join("")}]`;
  const first = signs
    .filter((sign) => sign.trim() !== "")
    .map((sign) => `${terminal(sign)} text-${matched(sign, literal)}`);
  return { expression: `(${[...first, `${firstOthers} text-0`].join(" | ")})`, rules: states };
}

/** The grammar of non-empty text that begins with none of these characters. */
export function textNotBeginningWith(signs: string): GrammarPart {
  return {
    expression: `[^${blanks}${Array.from(signs).map(inClass).join("")}] text-0`,
    rules: ["text-0 ::= [^\\x00]*"],
  };
}

/** The length of the longest beginning of the literal at the end of a text. */
function matched(text: string, literal: string): number {
  for (let length = Math.min(text.length, literal.length); length > 0; length -= 1)
    if (text.endsWith(literal.slice(0, length))) return length;
  return 0;
}

function inClass(sign: string): string {
  return /[\w@<>"/]/.test(sign) ? sign : `\\x${(sign.codePointAt(0) ?? 0).toString(16).padStart(2, "0")}`;
}
