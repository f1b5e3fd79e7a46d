import { between, type Tokens, wordAt } from "./tokens.ts";

/** English words after which digits are an identifier, even with "is" between: "the id is 13". */
const one = "zip postcode id identifier number num nr no reference ref code";
const several = "zips postcodes ids identifiers numbers nums nos references refs codes";

/** English words for things that have numbers: "file 13". Their plurals begin a list: "files 13, 14 and 15". */
const numbered =
  "invoice order file document transaction ticket issue pr mr bug case account record message email mail event appointment booking reservation task job build " +
  "request contract customer client user employee entry post comment folder shipment parcel payee";

/** The meaning of a word for the digits after it. */
interface IdentifierWord {
  /** True if "is" may be between. */
  readonly strong: boolean;
  /** True if more than one may follow. */
  readonly list: boolean;
  /** True if it counts only with a point after it: "no. 13", never "no 13". */
  readonly pointed: boolean;
}

// Depends on: the words above.
const words = new Map<string, IdentifierWord>();
for (const word of one.split(" ")) words.set(word, { strong: true, list: false, pointed: word === "no" });
for (const word of several.split(" ")) words.set(word, { strong: true, list: true, pointed: word === "nos" });
for (const word of numbered.split(" ")) {
  words.set(word, { strong: false, list: false, pointed: false });
  words.set(`${word}s`, { strong: false, list: true, pointed: false });
}
words.set("entries", { strong: false, list: true, pointed: false });

/** The meaning of an English word, or of the end of a name such as `event_id`, for the digits after it. */
function identifierWord(word: string): IdentifierWord | undefined {
  const last = word.slice(word.lastIndexOf("_") + 1);
  return last.length > 12 ? undefined : words.get(last.toLowerCase());
}

/** Tokens, with the word up to which a list of identifiers was read ("files 13, 14"), or -1. */
export interface Listed extends Tokens {
  listed: number;
}

/**
 * True if the text calls the digits at `index` an identifier: `#13`, "no. 13", "the id is 13", "files 13,
 * 14".
 */
export function saysIdentifier(tokens: Listed, index: number): boolean {
  if (between(tokens, index - 1, index).endsWith("#")) return true;
  return continuesList(tokens, index) || beginsList(tokens, index);
}

/** Signs between the parts of a list. */
const near = /^(?:,? {0,2}| & )$/v;

function continuesList(tokens: Listed, index: number): boolean {
  if (tokens.listed < 0) return false;
  const before = /^(?:and|or)$/iv.test(wordAt(tokens, index - 1)) ? index - 2 : index - 1;
  if (tokens.listed !== before) return false;
  const isNear = [index - 1, before].every((at) => near.test(between(tokens, at, at + 1)));
  if (isNear) tokens.listed = index;
  return isNear;
}

/** The gap between the word and the digits may hold a quote, a colon, an equals sign or a bracket, and a point after an abbreviation. */
const gap = /^["'`]?(?<point>\.?)[ \t]?[:=]?[ \t]?\(?$/v;

function beginsList(tokens: Listed, index: number): boolean {
  const isSaid = /^(?:is|are)$/iv.test(wordAt(tokens, index - 1));
  const at = isSaid ? index - 2 : index - 1;
  const word = at < 0 ? undefined : identifierWord(wordAt(tokens, at));
  if (word === undefined || (isSaid && !word.strong)) return false;
  const point = gap.exec(between(tokens, at, at + 1))?.groups?.["point"];
  if (point === undefined || !gap.test(between(tokens, index - 1, index))) return false;
  if (word.pointed ? point === "" : point !== "" && !word.strong) return false;
  if (word.list) tokens.listed = index;
  return true;
}
