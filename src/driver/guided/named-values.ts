import type { Json } from "../../util/json.ts";
import type { Filled } from "./assign.ts";
import { itemType } from "./fit.ts";
import type { Slot } from "./slots.ts";
import { fitOf, stemsOf, type Word, type Wording } from "./words.ts";

/** The slots whose values are named by the schema (choices, truth values) or by its description, as far as the request speaks of them. */
export function namedValues(slots: readonly Slot[], said: Wording): readonly Filled[] {
  return slots.flatMap((slot): Filled[] => {
    const value = namedValue(slot, said);
    return value === undefined ? [] : [{ slot, value, from: [] }];
  });
}

function namedValue(slot: Slot, said: Wording): Json | undefined {
  if (slot.choices.length > 0) return choiceIn(slot, said);
  if (slot.type === "boolean") return truthIn(slot, said);
  if (slot.type === "string" && slot.hints.length > 0) return saidOf(slot.hints, said)[0];
  return undefined;
}

function choiceIn(slot: Slot, said: Wording): Json | undefined {
  const [only] = slot.choices;
  if (slot.schema["const"] !== undefined) return slot.isRequired ? only : undefined;
  const found = saidOf(slot.choices, said);
  if (slot.type !== "list" && itemType(slot) !== "choice" && slot.type !== "choice") return undefined;
  if (slot.type === "list") return found.length === 0 ? undefined : found;
  return found[0];
}

/** Those of the values whose words were all said, those with more words first. */
function saidOf<Value extends Json>(
  values: readonly Value[],
  { words, language }: Wording,
): readonly Value[] {
  const stems = words.map(({ stem }) => stem);
  const plains = new Set(words.map(({ plain }) => plain));
  return values
    .flatMap((value) => {
      if (typeof value !== "string" && typeof value !== "number") return [];
      const own = stemsOf(String(value), language);
      const isSaid =
        plains.has(String(value).toLowerCase()) ||
        (own.length > 0 && own.every((stem) => stems.some((other) => fitOf(stem, other) === 1)));
      return isSaid ? [{ value, length: own.length }] : [];
    })
    .toSorted((one, other) => other.length - one.length)
    .map(({ value }) => value);
}

/** The number of words that a "no" may stand before its word. */
const reach = 4;

/**
 * The truth value that a request says: true where the name of the slot is said, false where a "no" stands before it, or anywhere for a
 * required slot. Of a required slot of which nothing is said it is what the schema takes for granted, or true.
 */
function truthIn(slot: Slot, { words, language }: Wording): Json | undefined {
  const isNo = (word: Word | undefined): boolean =>
    word !== undefined && language?.no.has(word.plain) === true;
  const at = words.findIndex(({ stem, isStop }) => !isStop && named(slot, stem));
  if (at >= 0) return !words.slice(Math.max(0, at - reach), at).some(isNo);
  if (!slot.isRequired) return undefined;
  if (words.some(isNo)) return false;
  const { default: usual } = slot.schema;
  return typeof usual === "boolean" ? usual : true;
}

function named({ words }: Slot, stem: string): boolean {
  return [...words].some(([own, weight]) => weight === 1 && fitOf(own, stem) > 0);
}
