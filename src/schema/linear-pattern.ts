import { messageOf } from "../error/writ-error.ts";

/**
 * A regular expression as parts that match in linear time: a text matches when `body` and all of `must` match it and none of `mustNot`
 * does. Look-ahead at the start (`^(?!a)(?=b)c`) becomes such parts; elsewhere it has no linear form.
 */
export interface LinearPattern {
  readonly body: string;
  readonly must: readonly string[];
  readonly mustNot: readonly string[];
}

/** The engine refuses larger counts, since it copies the program for each repetition. */
const maxRepeat = 1000;

/** The engine knows the categories of letters and signs by their short names only. */
const categories: ReadonlyMap<string, string> = new Map(
  [
    "Letter L,Cased_Letter LC,Uppercase_Letter Lu,Lowercase_Letter Ll,Titlecase_Letter Lt,Modifier_Letter Lm,Other_Letter Lo",
    "Mark M,Nonspacing_Mark Mn,Spacing_Mark Mc,Enclosing_Mark Me,Number N,Decimal_Number Nd,Letter_Number Nl,Other_Number No",
    "Punctuation P,Connector_Punctuation Pc,Dash_Punctuation Pd,Open_Punctuation Ps,Close_Punctuation Pe,Initial_Punctuation Pi",
    "Final_Punctuation Pf,Other_Punctuation Po,Symbol S,Math_Symbol Sm,Currency_Symbol Sc,Modifier_Symbol Sk,Other_Symbol So",
    "Separator Z,Space_Separator Zs,Line_Separator Zl,Paragraph_Separator Zp,Other C,Control Cc,Format Cf,Unassigned Cn",
  ]
    .flatMap((line) => line.split(","))
    .map((pair) => pair.split(" "))
    .map(([long = "", short = ""]) => [long, short]),
);

/** The parts of a pattern, or why there are none. Reads the text only: the engine that matches is loaded later. */
export function splitPattern(pattern: string): LinearPattern | { readonly fault: string } {
  try {
    // Without the flag "u": many patterns in use need it so, like [\w-.].
    RegExp(pattern);
  } catch (error) {
    return { fault: `is no regular expression: ${messageOf(error)}` };
  }
  const parts = detachLookAhead(pattern.replaceAll(/\\([pP])\{(?:\w+=)?(\w+)\}/g, shortCategory));
  const feature = [parts.body, ...parts.must, ...parts.mustNot]
    .map(nonLinearFeature)
    .find((found) => found !== undefined);
  if (feature === undefined) return parts;
  return {
    fault: `is the pattern ${JSON.stringify(pattern)} with ${feature}, which cannot be matched in linear time`,
  };
}

/** The fault of a pattern, for {@link splitPattern}'s callers that need only that. */
export function linearFault(pattern: string): string | undefined {
  const parts = splitPattern(pattern);
  return "fault" in parts ? parts.fault : undefined;
}

function shortCategory(_whole: string, letter: string, name: string): string {
  return `\\${letter}{${categories.get(name) ?? name}}`;
}

function detachLookAhead(pattern: string): LinearPattern {
  const must: string[] = [];
  const mustNot: string[] = [];
  const tokens = tokensOf(pattern);
  const choice = tokens.some((token) => token.text === "|" && token.depth === 0);
  let next = 1;
  if (tokens[0]?.text !== "^" || choice) return { body: pattern, must, mustNot };
  while (tokens[next]?.text === "(?=" || tokens[next]?.text === "(?!") {
    const close = tokens.findIndex((token, index) => index > next && token.text === ")" && token.depth === 0);
    // A quantified look-ahead, as in (?=a)*, means something else.
    if (close === -1 || /^[*+?{]/.test(tokens[close + 1]?.text ?? "")) break;
    const inner = tokens.slice(next + 1, close).map((token) => token.text);
    (tokens[next]?.text === "(?!" ? mustNot : must).push(`^(?:${inner.join("")})`);
    next = close + 1;
  }
  const rest = tokens.slice(next).map((token) => token.text);
  return { body: must.length + mustNot.length === 0 ? pattern : `^${rest.join("")}`, must, mustNot };
}

function nonLinearFeature(pattern: string): string | undefined {
  for (const { text } of tokensOf(pattern)) {
    if (text === "(?=" || text === "(?!") return "look-ahead";
    if (text === "(?<=" || text === "(?<!") return "look-behind";
    if (/^\\(?:[1-9]|k<)/.test(text)) return "a back-reference";
    const counts = /^\{(\d+)(?:,(\d*))?\}$/.exec(text);
    if (counts !== null && Math.max(Number(counts[1]), Number(counts[2] ?? 0)) > maxRepeat)
      return `more than ${maxRepeat} repetitions`;
  }
  return undefined;
}

interface Token {
  readonly text: string;
  /** Number of groups that are open around it; the brackets of a group count as outside of it. */
  readonly depth: number;
}

const tokenText = /\\k<|\\[^]|\[(?:\\[^]|[^\]\\])*\]|\(\?(?:<?[=!]|:|<)|\{\d+(?:,\d*)?\}|[^]/gy;

function tokensOf(pattern: string): readonly Token[] {
  let depth = 0;
  return Array.from(pattern.matchAll(tokenText), ([text]) => {
    if (text === ")") depth -= 1;
    const token = { text, depth };
    if (text.startsWith("(")) depth += 1;
    return token;
  });
}
