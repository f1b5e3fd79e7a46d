import type { ValueType } from "../../tool/parameters.ts";
import { isJsonObject, type Json, maxJsonDepth } from "../../util/json.ts";
import { canonical } from "./canonical.ts";
import { isDigits } from "./identifier.ts";
import { hasWords } from "./find-words.ts";
import { type Formed, formOf, saysNoMore } from "./form.ts";
import { folded } from "./normal.ts";
import { type FoldedText, foldedWith } from "./phrases.ts";
import { anyYear, noUnit, scan, yearOf } from "./scan.ts";
import { unitOf } from "./unit.ts";

/** The values in trusted texts. */
export interface BoundValues {
  /**
   * True if the value occurs in one of the texts as a whole, in the canonical spelling of its type; without a
   * type, of the most specific type that its form has. In a list or an object every value must
   * (keys are not judged: the schema defines them). `null`, booleans and an empty text are never bound; an
   * empty list is. Never throws.
   */
  readonly has: (value: Json, type?: ValueType) => boolean;
  /** Like `has`, for one value in its canonical spelling. */
  readonly hasSpelled: (spelled: Formed) => boolean;
  /** True if the value occurs in one of the texts as a name: whole in quotes, or as an identifier that is not a date. */
  readonly hasName: (value: string | number) => boolean;
}

/** A value in the canonical spelling of a type, or of the type that its form has; undefined if it has none. Never throws. */
export function spelledAs(value: string | number, type: ValueType | undefined): Formed | undefined {
  if (type === undefined) return formOf(value);
  const spelling = canonical(type, value);
  const unit = type === "number" && typeof value === "string" ? unitOf(value) : undefined;
  return spelling === undefined ? undefined : { type, canonical: spelling, unit };
}

/** Like `spelledAs`, where all of a value counts, whatever its type: one that says more than its spelling is a text. */
export function spelledWhole(value: string | number, type: ValueType | undefined): Formed | undefined {
  const spelled = spelledAs(value, type);
  return spelled === undefined || saysNoMore(value, spelled) ? spelled : spelledAs(value, "text");
}

/** The values in these texts, the intent and constants. Read once, on first use; linear. */
export function valuesIn(texts: readonly string[]): BoundValues {
  let known: Known | undefined;
  return {
    has: (value, type) => {
      known ??= scan(texts);
      return hasAll(known, value, type === undefined ? { depth: 0 } : { depth: 0, type });
    },
    hasSpelled: (spelled) => hasCanonical((known ??= scan(texts)), spelled),
    hasName: (value) => isName((known ??= scan(texts)), value),
  };
}

interface Known extends ReturnType<typeof scan> {
  folded?: { readonly texts: readonly FoldedText[]; readonly quoted: ReadonlySet<string> };
}

interface Asked {
  readonly depth: number;
  readonly type?: ValueType;
}

function hasAll(known: Known, value: Json, asked: Asked): boolean {
  if (typeof value === "string" || typeof value === "number") {
    const spelled = spelledAs(value, asked.type);
    return spelled !== undefined && hasCanonical(known, spelled);
  }
  if (typeof value !== "object" || value === null || asked.depth > maxJsonDepth) return false;
  const parts: readonly Json[] = isJsonObject(value) ? Object.values(value) : value;
  const inside = { ...asked, depth: asked.depth + 1 };
  return parts.every((part) => hasAll(known, part, inside));
}

function hasCanonical(known: Known, { type, canonical: spelling, unit }: Formed): boolean {
  const { found } = known;
  if (unit !== undefined) return [unit, noUnit].some((each) => found.number.has(`${spelling} ${each}`));
  if (type === "text") return hasText(known, spelling);
  if (type === "date") return hasDate(found.date, spelling);
  return found[type].has(spelling);
}

/**
 * True if a date is bound. A date with a time is if both occur in the texts. A date without a year is if its day occurs with any year. A date with a year is if
 * its day occurs without one, and no other year does.
 */
function hasDate(dates: ReadonlySet<string>, spelling: string): boolean {
  if (dates.has(spelling)) return true;
  const split = spelling.indexOf("T");
  if (split > 0) return dates.has(spelling.slice(split)) && hasDate(dates, spelling.slice(0, split));
  if (spelling.startsWith("--")) return dates.has(`any${spelling.slice(1)}`);
  if (spelling.length !== 10 || !dates.has(`-${spelling.slice(4)}`)) return false;
  return !dates.has(anyYear) || dates.has(yearOf(spelling));
}

function isName(known: Known, value: string | number): boolean {
  if (canonical("date", value) !== undefined) return false;
  const [text, identifier] = [canonical("text", value), canonical("identifier", value)];
  const isQuoted = text !== undefined && foldedOf(known).quoted.has(text);
  return isQuoted || (identifier !== undefined && known.found.identifier.has(identifier));
}

function foldedOf(known: Known): NonNullable<Known["folded"]> {
  return (known.folded ??= {
    texts: known.texts.map(({ text, phrases }) => foldedWith(text, phrases)),
    quoted: new Set(known.quoted.map(folded)),
  });
}

function hasText(known: Known, spelling: string): boolean {
  const { found } = known;
  const { texts, quoted } = foldedOf(known);
  if (quoted.has(spelling)) return true;
  const words = spelling.replace(/^[#@](?=\p{L})/v, ""); // `#ops` is the ops room
  if (isDigits(spelling)) return found.identifier.has(spelling);
  return /[\p{L}\p{Extended_Pictographic}]/v.test(words) && texts.some((text) => hasWords(text, words));
}
