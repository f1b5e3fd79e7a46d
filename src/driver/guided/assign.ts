import type { Json } from "../../util/json.ts";
import { type Fit, fitIn, itemType } from "./fit.ts";
import type { Language } from "./language.ts";
import type { Mention } from "./mentions.ts";
import { overlap } from "./places.ts";
import type { Slot } from "./slots.ts";

/** A value for a slot, with where it was said. */
export interface Filled {
  readonly slot: Slot;
  readonly value: Json;
  readonly from: readonly Mention[];
  /** Words without a name, a quote or a word that speaks of the slot: they stand there for want of better ones. */
  readonly isVague?: boolean;
}

/** A slot for which several values are as good: the model chooses. */
export interface Doubt {
  readonly slot: Slot;
  readonly among: readonly { readonly value: Json; readonly from: Mention }[];
}

/** The values of the request, put to the slots. */
export interface Assignment {
  readonly filled: readonly Filled[];
  readonly doubts: readonly Doubt[];
}

interface Pair extends Fit {
  readonly slot: Slot;
  readonly mention: Mention;
  readonly order: number;
}

/** Values whose scores differ by less are as good as each other. */
const doubtful = 0.06;
/** The score of a value that is more than words which nothing else took. */
const vague = 0.6;
/** An optional value must be spoken of so clearly. */
const clearly = 0.5;

/** Puts each mention to at most one slot, the surest first: the required slots, then the optional ones that are spoken of. */
export function assign(
  slots: readonly Slot[],
  said: readonly Mention[],
  language: Language | undefined,
): Assignment {
  const open = slots.filter((slot) => isOpen(slot));
  const required = assignRound(
    open.filter(({ isRequired }) => isRequired),
    said,
    { language, least: 0 },
  );
  const used = [
    ...required.filled.flatMap(({ from }) => from),
    ...required.doubts.flatMap(({ among }) => among.map(({ from }) => from)),
  ];
  const left = said.filter((mention) => !used.some((other) => isSame(other, mention)));
  const optional = assignRound(
    open.filter(({ isRequired }) => !isRequired),
    left,
    { language, least: clearly },
  );
  return { filled: [...required.filled, ...optional.filled], doubts: required.doubts };
}

function isOpen(slot: Slot): boolean {
  const type = itemType(slot);
  return type === "string" || type === "number" || type === "integer";
}

/** True for mentions of the same part of a text. */
export function isSame(one: Mention, other: Mention): boolean {
  return one.source === other.source && overlap(one, other);
}

function assignRound(
  slots: readonly Slot[],
  said: readonly Mention[],
  { language, least }: { readonly language: Language | undefined; readonly least: number },
): Assignment {
  const pairs = slots.flatMap((slot) => {
    const fits = said.flatMap((mention) => {
      const fit = fitIn(slot, mention, language);
      return fit === undefined || fit.near < least ? [] : [{ ...fit, slot, mention }];
    });
    const alike = slots.filter((other) => itemType(other) === itemType(slot));
    const own = alike.indexOf(slot);
    return fits.map((fit, place): Pair => ({ ...fit, order: 0.01 * Math.abs(own - place) }));
  });
  const sorted = pairs.toSorted((one, other) => other.score - other.order - (one.score - one.order));
  const filled: Filled[] = [];
  const doubts: Doubt[] = [];
  const isFree = ({ slot, mention }: Pair): boolean =>
    !filled.some((each) => each.slot === slot || each.from.some((used) => isSame(used, mention)));
  for (const pair of sorted) {
    if (!isFree(pair)) continue;
    const { slot, mention } = pair;
    if (slot.type === "list") {
      filled.push(listFrom(pair, sorted.filter(isFree)));
      continue;
    }
    const rivals = sorted.filter(
      (other) =>
        other.slot === slot &&
        isFree(other) &&
        !isSame(other.mention, mention) &&
        pair.score - other.score < doubtful,
    );
    if (rivals.length > 0)
      doubts.push({ slot, among: [pair, ...rivals].map(({ value, mention: from }) => ({ value, from })) });
    filled.push({ slot, value: pair.value, from: [mention], isVague: isVague(pair) });
  }
  return { filled, doubts };
}

/** A number is never vague: it was said as one. */
function isVague({ value, score }: Pair): boolean {
  return typeof value !== "number" && score < vague;
}

/** A list takes the members of the list in which its first value stands; numbers without one are taken all. */
function listFrom(pair: Pair, free: readonly Pair[]): Filled {
  const { slot, mention, value } = pair;
  const isNumber = typeof value === "number";
  const members = free
    .filter((pair) => pair.slot === slot && pair.mention.source === mention.source)
    .filter((pair) => (mention.list === undefined ? isNumber : pair.mention.list === mention.list))
    .toSorted((one, other) => one.mention.start - other.mention.start);
  const all = members.length === 0 ? [{ value, mention }] : members;
  const kind = mention.kind;
  const alike = all.filter(({ mention: { kind: own } }) => own === kind);
  const from = alike.map((member) => member.mention);
  return { slot, value: alike.map((member) => member.value), from, isVague: isVague(pair) };
}
