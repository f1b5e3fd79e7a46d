import type { Annotation } from "../rules/rule.ts";
import { effectOfVerb, isStronger, isThingToo, verbOf, verbOfName, wordsOf } from "../values/verbs.ts";

/** The effect that a draft gives a tool; undefined where no word says it. */
export interface DraftedEffect {
  readonly effect: Annotation["effect"];
  readonly because: string;
}

/** The other things a tool does, said in passing: "creates an event. It will also email the participants". */
const besides =
  /\b(?:also|and|then|will)\b[^.]{0,24}?\b(?:e-?mails?|sends?|notif(?:y|ies)|invites?|charges?|pays?|deletes?|submits?|trigger)\b/i;

/** The effect of a tool by the verb of its name, and by the first word of its description: the stronger of both, where both are verbs. */
export function draftEffect(name: string, description: string): DraftedEffect {
  const named = verbOfName(name);
  const told = verbOf(wordsOf(description)[0] ?? "");
  const isSure = named !== undefined && !isThingToo(named);
  const verb = told === undefined || (isSure && !isStronger(told, named)) ? named : told;
  if (verb === undefined)
    return {
      effect: undefined,
      because: "no verb that is known stands in its name or begins its description",
    };
  const effect = effectOfVerb(verb);
  const where = verb === named ? "name" : "description";
  const aside = effect === "read" || effect === "write" ? besides.exec(description)?.[0] : undefined;
  if (aside !== undefined)
    return { effect: "irreversible", because: `its description says ${JSON.stringify(aside)}` };
  return { effect, because: `its ${where} says ${JSON.stringify(verb)}` };
}
