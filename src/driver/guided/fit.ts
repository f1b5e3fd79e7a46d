import type { Json, JsonObject } from "../../util/json.ts";
import type { Language } from "./language.ts";
import type { Mention, Near } from "./mentions.ts";
import { descriptionOf, type Slot, type SlotType } from "./slots.ts";
import { takesValue } from "./takes-value.ts";
import { weightIn, wordsIn } from "./words.ts";

/** The fit of a value of the request to a slot; undefined where it cannot stand there. `near` is the part by words, without the kind of the value. */
export interface Fit {
  readonly score: number;
  readonly near: number;
  readonly value: Json;
}

/** The fit of a mention to a slot, or to the items of one that takes a list. */
export function fitIn(slot: Slot, mention: Mention, language: Language | undefined): Fit | undefined {
  const value = valueFor(slot, mention, language);
  if (value === undefined || !takesValue(slot, value)) return undefined;
  const near = nearness(slot, mention, language);
  return { score: kindFit(slot, mention) + near, near, value };
}

/** The value as the slot takes it. */
function valueFor(slot: Slot, mention: Mention, language: Language | undefined): Json | undefined {
  const type = itemType(slot);
  if (type === "number" || type === "integer") return numberFor(slot, mention, language);
  if (type !== "string" || !isShaped(slot, mention.text)) return undefined;
  if (slot.takes === "text")
    return mention.kind === "told" || mention.kind === "quote" ? mention.text : undefined;
  if (slot.takes !== undefined) return timeFor(slot, mention, language);
  return mention.kind === "phrase" ? withoutNames(slot, mention) : mention.text;
}

/** A date or a time, canonical where the schema asks for no other form. */
function timeFor(slot: Slot, mention: Mention, language: Language | undefined): Json | undefined {
  const { kind, value } = mention;
  if (!saysTime(mention, language)) return undefined;
  if (kind === slot.takes && typeof value === "string" && wantsCanonical(slot)) return value;
  return kind === "phrase" ? withoutNames(slot, mention) : mention.text;
}

/** A date or a time has digits, or a word of one: "tomorrow". */
function saysTime({ kind, text, own }: Mention, language: Language | undefined): boolean {
  if (kind === "date" || kind === "time" || kind === "number" || language === undefined) return true;
  return /\d/.test(text) || own.some((stem) => language.times.has(stem));
}

/** A phrase without the words at its ends that only name the slot or its tool: of "Italian restaurants" what is Italian. */
function withoutNames({ aside, names }: Slot, { text, own }: Mention): string | undefined {
  if (own.every((stem) => names.has(stem))) return undefined;
  const words = text.split(" ");
  if (words.length !== own.length) return text;
  let [first, last] = [0, words.length];
  while (first < last && aside.has(own[first] ?? "")) first += 1;
  while (last > first && aside.has(own[last - 1] ?? "")) last -= 1;
  return first === last ? undefined : words.slice(first, last).join(" ");
}

/** The type of what stands in a slot, or in the list in it. */
export function itemType({ type, items }: Slot): SlotType {
  return type === "list" ? (items ?? "other") : type;
}

function numberFor(
  slot: Slot,
  { value, isPercent }: Mention,
  language: Language | undefined,
): number | undefined {
  const { schema } = slot;
  const type = itemType(slot);
  if (typeof value !== "number") return undefined;
  const meant =
    isPercent === true && type === "number" && !wantsPercent(schema, language)
      ? Number((value / 100).toPrecision(12))
      : value;
  if (type === "integer" && !Number.isInteger(meant)) return undefined;
  const { minimum, maximum } = schema;
  if (typeof minimum === "number" && meant < minimum) return undefined;
  return typeof maximum === "number" && meant > maximum ? undefined : meant;
}

/** A percentage is a fraction, unless its argument speaks of percent and not of decimals. */
function wantsPercent(schema: JsonObject, language: Language | undefined): boolean {
  const said = descriptionOf(schema);
  const { words } = wordsIn(said, language);
  const speaksOf = (names: ReadonlySet<string> | undefined): boolean =>
    words.some(({ plain }) => names?.has(plain) === true);
  const isDecimal = speaksOf(language?.decimal) || /0\.\d/.test(said);
  return (said.includes("%") || speaksOf(language?.percent)) && !isDecimal;
}

/** A date is given as `YYYY-MM-DD` and a time as `HH:MM`, unless the schema asks for another form. */
function wantsCanonical({ schema }: Slot): boolean {
  const said = descriptionOf(schema);
  return !/[DM]{2}[-/.][DM]{2}|[-/.]YYYY|[ap]m\b/i.test(said) || /YYYY-MM/.test(said);
}

/** A value has digits where all examples of the slot have some; the letters of an id are those of the example. */
function isShaped({ examples, takes }: Slot, text: string): boolean {
  if (takes !== undefined || examples.length === 0) return true;
  return !examples.every((example) => /\d/.test(example)) || /\d/.test(text);
}

/** True if a value is written as an example is, digits aside. */
function isLikeExample({ examples }: Slot, text: string): boolean {
  return examples.some(
    (example) => /\d/.test(example) && example.replaceAll(/\d+/g, "0") === text.replaceAll(/\d+/g, "0"),
  );
}

const kindScores: Readonly<Record<Mention["kind"], number>> = {
  quote: 0.9,
  name: 0.75,
  code: 0.7,
  told: 0,
  phrase: 0.25,
  number: 0.1,
  date: 0.1,
  time: 0.1,
};

function kindFit(slot: Slot, mention: Mention): number {
  const { kind } = mention;
  const type = itemType(slot);
  if (type === "number" || type === "integer") return mention.isSpelled === true ? 0.2 : 0.5;
  if (slot.takes === "text") return kind === "told" ? 1.2 : 1;
  if (slot.takes !== undefined) return kind === slot.takes ? 1.4 : kindScores[kind] / 2;
  const listed = slot.type === "list" && mention.list !== undefined ? 0.3 : 0;
  return kindScores[kind] + listed + (isLikeExample(slot, mention.text) ? 0.6 : 0);
}

/** The most that words near a value can say. */
const mostNear = 1.8;

/** The evidence for a slot in a value's own words and those around it. */
function nearness(slot: Slot, mention: Mention, language: Language | undefined): number {
  const { before, after, preposition, kind, own } = mention;
  const found = new Map<string, number>();
  const add = (near: readonly Near[], [first, step]: readonly [number, number]): void => {
    for (const { stem, distance, isBeyond } of near) {
      const weight = weightIn(stem, slot.words) * Math.max(0, first - step * distance) * (isBeyond ? 0.3 : 1);
      found.set(stem, Math.max(found.get(stem) ?? 0, weight));
    }
  };
  add(before, [1, 0.14]);
  add(after, [kind === "number" ? 1.05 : 0.9, 0.25]);
  for (const stem of own) found.set(stem, Math.max(found.get(stem) ?? 0, 0.6 * weightIn(stem, slot.words)));
  const named = [...found.values()].reduce((sum, weight) => sum + weight, 0);
  const hinted = language?.before.get(preposition ?? "");
  const isHinted =
    hinted !== undefined && [...slot.words].some(([stem, weight]) => weight >= 0.6 && hinted.has(stem));
  const isDescribed = hinted !== undefined && [...slot.words.keys()].some((stem) => hinted.has(stem));
  return Math.min(mostNear, named) + (isHinted ? 0.6 : isDescribed ? 0.3 : 0);
}
