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

/** The engine takes half a microsecond for each. */
const maxParts = 20_000;

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
    const close = closeAfter(tokens, next);
    // A quantified look-ahead, as in (?=a)*, means something else.
    if (close === -1 || /^[*+?{]/.test(tokens[close + 1]?.text ?? "")) break;
    const inner = tokens.slice(next + 1, close).map((token) => token.text);
    (tokens[next]?.text === "(?!" ? mustNot : must).push(`^(?:${inner.join("")})`);
    next = close + 1;
  }
  const rest = tokens.slice(next).map((token) => token.text);
  return { body: must.length + mustNot.length === 0 ? pattern : `^${rest.join("")}`, must, mustNot };
}

/** The place of the bracket that ends the outermost group; -1 where none does. */
function closeAfter(tokens: readonly Token[], begin: number): number {
  for (let index = begin + 1; index < tokens.length; index += 1) {
    const { text, depth } = tokens[index] ?? {};
    if (text === ")" && depth === 0) return index;
  }
  return -1;
}

function nonLinearFeature(pattern: string): string | undefined {
  const tokens = tokensOf(pattern);
  if (partsIn(tokens) > maxParts) return `more than ${maxParts} parts when its repetitions are written out`;
  for (const { text } of tokens) {
    if (text === "(?=" || text === "(?!") return "look-ahead";
    if (text === "(?<=" || text === "(?<!") return "look-behind";
    if (/^\\(?:[1-9]|k<)/.test(text)) return "a back-reference";
    if (repetitionsIn(text) > maxRepeat) return `more than ${maxRepeat} repetitions`;
  }
  return undefined;
}

/** The larger number of a repetition like `{2,5}`; 1 for all else. */
function repetitionsIn(token: string): number {
  const counts = /^\{(\d+)(?:,(\d*))?\}$/.exec(token);
  return counts === null ? 1 : Math.max(Number(counts[1]), Number(counts[2] ?? 0));
}

/** The number of tokens when what is repeated is written out: about the size of the engine's program. */
function partsIn(tokens: readonly Token[]): number {
  const groups: number[] = [];
  let parts = 0;
  let last = 0;
  for (const { text } of tokens) {
    if (text.startsWith("(")) {
      groups.push(parts);
      parts = 0;
    } else if (text === ")") {
      last = parts + 1;
      parts = last + (groups.pop() ?? 0);
    } else {
      const more = (repetitionsIn(text) - 1) * last;
      last = more > 0 ? last + more : 1;
      parts += more > 0 ? more : 1;
    }
  }
  return groups.reduce((sum, before) => sum + before, parts);
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
