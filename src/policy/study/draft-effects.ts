import type { Annotation } from "../rules/rule.ts";

/** The effect that a draft gives a tool; undefined where no word says it. */
export interface DraftedEffect {
  readonly effect: Annotation["effect"];
  readonly because: string;
}

type Drafted = NonNullable<Annotation["effect"]>;

const words: Readonly<Record<"read" | "write" | "irreversible", string>> = {
  read: `analyse analyze browse calculate check compare compute convert count crawl describe display explain extract
    fetch find get has inspect is list load look lookup navigate parse preview query read recall retrieve return scan
    scrape search see show summarise summarize think translate validate verify view visit`,
  write: `accept add adjust append archive assign change clone configure copy create decline disable download draft
    edit enable extend fill follow import increment insert join label leave link like lock log login logout mark modify
    move open pause pin put react record register rename replace reschedule reset restore resume save schedule set
    snooze star start stop subscribe sync tag toggle turn unlock update upload upsert write`,
  irreversible: `announce apply approve ban bid block book broadcast buy call cancel charge checkout clear commit delete
    deploy destroy dial donate drop email empty erase exchange exec execute fax forward grant input install invite
    invoke kick kill mail merge message notify order pay post publish purchase purge push reboot refund release remove
    reply reserve respond revoke rollback run sell send share shutdown sign sms submit terminate text trade transfer
    trash trigger tweet unsubscribe wipe wire withdraw`,
};

const effects: ReadonlyMap<string, Drafted> = new Map(
  (["read", "write", "irreversible"] as const).flatMap((effect) =>
    words[effect].split(/\s+/).map((verb) => [verb, effect] as const),
  ),
);

/** Words that name things as often as acts: `order_status`, `email_search`. Another verb beside them says more. */
const nouns: ReadonlySet<string> = new Set(
  `book call charge check count draft email exchange fax input invite label like link list log mail mark message order
  post query record release reply return run schedule set share sign star tag text trade transfer`.split(
    /\s+/,
  ),
);

const strength: Readonly<Record<Drafted, number>> = { none: 0, read: 1, write: 2, irreversible: 3 };

/** The other things a tool does, said in passing: "creates an event. It will also email the participants". */
const besides =
  /\b(?:also|and|then|will)\b[^.]{0,24}?\b(?:e-?mails?|sends?|notif(?:y|ies)|invites?|charges?|pays?|deletes?|submits?|trigger)\b/i;

/** The effect of a tool by the verb of its name, and by the first word of its description: the stronger of both, where both are verbs. */
export function draftEffect(name: string, description: string): DraftedEffect {
  const named = verbOfName(name);
  const told = verbOf(wordsOf(description)[0] ?? "");
  const isSure = named !== undefined && !nouns.has(named);
  const verb = told === undefined || (isSure && !isStronger(told, named)) ? named : told;
  if (verb === undefined)
    return {
      effect: undefined,
      because: "no verb that is known stands in its name or begins its description",
    };
  const effect = effects.get(verb);
  const where = verb === named ? "name" : "description";
  const aside = effect === "read" || effect === "write" ? besides.exec(description)?.[0] : undefined;
  if (aside !== undefined)
    return { effect: "irreversible", because: `its description says ${JSON.stringify(aside)}` };
  return { effect, because: `its ${where} says ${JSON.stringify(verb)}` };
}

function isStronger(verb: string, than: string): boolean {
  const [one, other] = [effects.get(verb), effects.get(than)];
  return one !== undefined && other !== undefined && strength[one] > strength[other];
}

/** The first verb of a name, unless it may be a thing and another verb follows; of two acts (`get_and_delete`) the stronger. */
function verbOfName(name: string): string | undefined {
  const parts = wordsOf(name.split("/").at(-1) ?? name);
  const verbs = parts.map(verbOf).filter((verb) => verb !== undefined);
  const [first] = verbs;
  if (first === undefined) return undefined;
  const chosen = nouns.has(first) ? (verbs.find((verb) => !nouns.has(verb)) ?? first) : first;
  const second = verbOf(parts[parts.findIndex((part) => part === "and" || part === "or") + 1] ?? "");
  const isTwice = second !== undefined && /^(?:and|or)$/.test(parts[parts.lastIndexOf(second) - 1] ?? "");
  return isTwice && isStronger(second, chosen) ? second : chosen;
}

/** The words of a name or sentence, in lower case: `getUserInfo`, `get_user_info`, `Gets the user's info`. */
export function wordsOf(text: string): readonly string[] {
  return text
    .slice(0, 2000)
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

/** A word as a known verb: `searches`, `fetches` and `queries` too. */
export function verbOf(word: string): string | undefined {
  const forms = [word, word.replace(/s$/, ""), word.replace(/es$/, ""), word.replace(/ies$/, "y")];
  return forms.find((form) => effects.has(form));
}
