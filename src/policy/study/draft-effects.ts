import type { Annotation } from "../rules/rule.ts";
import {
  effectOfVerb,
  isStronger,
  isThingToo,
  singular,
  verbOf,
  partsOfName,
  verbOfName,
  wordsOf,
} from "../values/verbs.ts";

/** The effect that a draft gives a tool; undefined if no word says it. */
export interface DraftedEffect {
  readonly effect: Annotation["effect"];
  readonly because: string;
  /** Present if it only cannot be undone because it notifies people, by mail: the words for those people. */
  readonly tells?: readonly string[];
}

/** Side effects that a description mentions: "creates an event. It will also email the participants". */
const besides =
  /\b(?:also|and|then|will)\b[^.]{0,24}?\b(?:e-?mails?|sends?|notif(?:y|ies)|invites?|charges?|pays?|deletes?|submits?|trigger)\b/i;

/** The effect of a tool by the verb of its name, and by the first word of its description: the stronger, if both are verbs. */
export function draftEffect(name: string, description: string): DraftedEffect {
  const isStay = /\bcheck (?:in|out)\b/.test(partsOfName(name).join(" "));
  if (isStay) return { effect: "irreversible", because: 'its name says "check in" or "check out"' };
  const named = verbOfName(name);
  const told = verbOf(wordsOf(description)[0] ?? "");
  const isSure = named !== undefined && !isThingToo(named);
  const verb = told === undefined || (isSure && !isStronger(told, named)) ? named : told;
  if (verb === undefined)
    return {
      effect: undefined,
      because: "its name has no known verb, and its description begins with none",
    };
  const effect = effectOfVerb(verb);
  const where = verb === named ? "name" : "description";
  const aside = effect === "read" || effect === "write" ? besides.exec(description)?.[0] : undefined;
  if (aside === undefined) return { effect, because: `its ${where} says ${JSON.stringify(verb)}` };
  const tells = effect === "write" ? toldBesides(description) : undefined;
  return {
    effect: "irreversible",
    because: `its description says ${JSON.stringify(aside)}`,
    ...(tells === undefined ? {} : { tells }),
  };
}

const telling: ReadonlySet<string | undefined> = new Set(["email", "mail", "send", "notify", "invite"]);

/** The words for the people whom a tool also notifies; undefined if it does more that cannot be undone, or says so more than once. */
function toldBesides(description: string): readonly string[] | undefined {
  const [aside, ...others] = description.split(/[.!?]\s/).filter((sentence) => besides.test(sentence));
  if (aside === undefined || others.length > 0) return undefined;
  const said = wordsOf(aside.slice(aside.search(besides)));
  const verbs = said
    .map(verbOf)
    .filter((verb) => verb !== undefined && effectOfVerb(verb) === "irreversible");
  return verbs.every((verb) => telling.has(verb)) ? said.map(singular) : undefined;
}
