/** The kind of an act, by a word for it. */
type ActEffect = "read" | "write" | "irreversible";

const words: Readonly<Record<ActEffect, string>> = {
  read: `analyse analyze browse calculate check compare compute convert count crawl describe display explain extract
    fetch find get has inspect is list load look lookup navigate parse preview query read recall retrieve return scan
    scrape search see show summarise summarize think translate validate verify view visit`,
  write: `accept activate add adjust append archive assign change clone configure copy create deactivate decline disable download
    draft edit enable extend fill follow import increment insert join label leave link like lock log login logout mark modify
    move mute open pause pin put react record register rename replace reschedule reset restart restore resume save schedule set
    snooze star start stop store subscribe suspend swap switch sync tag toggle turn unlock unmute update upload upsert write`,
  irreversible: `announce apply approve ban bid block book broadcast buy call cancel charge checkout clear commit delete
    deploy destroy dial donate drop email empty erase exchange exec execute fax forward grant input install invite
    invoke kick kill mail merge message notify order pay post publish purchase purge push reboot refund release remove
    reply reserve respond revoke rollback run sell send share shutdown sign sms submit terminate text trade transfer
    trash trigger tweet unsubscribe wipe wire withdraw`,
};

const effects: ReadonlyMap<string, ActEffect> = new Map(
  (["read", "write", "irreversible"] as const).flatMap((effect) =>
    words[effect].split(/\s+/).map((verb) => [verb, effect] as const),
  ),
);

/** Words that name things as often as acts: `order_status`, `smart_lock_unlock_door`. Another verb beside them takes precedence. */
const nouns: ReadonlySet<string> = new Set(
  `book call charge check count draft email exchange fax input invite label like link list lock log mail mark message order
  post query record release reply return run schedule set share sign star store switch tag text trade transfer`.split(
    /\s+/,
  ),
);

const strength: Readonly<Record<ActEffect, number>> = { read: 1, write: 2, irreversible: 3 };

/** The effect of an act by its verb, if that is known. */
export function effectOfVerb(verb: string): ActEffect | undefined {
  return effects.get(verb);
}

/** True if a verb names a thing as often as an act. */
export function isThingToo(verb: string): boolean {
  return nouns.has(verb);
}

/** True if the act of a verb is stronger than that of another. */
export function isStronger(verb: string, than: string): boolean {
  const [one, other] = [effects.get(verb), effects.get(than)];
  return one !== undefined && other !== undefined && strength[one] > strength[other];
}

/** Words between two acts. */
const joining = /^(?:and|or|then)$/;

/** The first verb of a name, unless it may be a thing and another verb follows; of two acts (`get_and_delete`) the stronger. */
export function verbOfName(name: string): string | undefined {
  const parts = partsOfName(name);
  const verbs = parts.map(verbOf).filter((verb) => verb !== undefined);
  const [first] = verbs;
  if (first === undefined) return undefined;
  const chosen = nouns.has(first) ? (verbs.find((verb) => !nouns.has(verb)) ?? first) : first;
  const second = verbOf(parts[parts.findIndex((part) => joining.test(part)) + 1] ?? "");
  const isTwice = second !== undefined && joining.test(parts[parts.lastIndexOf(second) - 1] ?? "");
  return isTwice && isStronger(second, chosen) ? second : chosen;
}

/** The words of a tool's name, without the name of its server. */
export function partsOfName(name: string): readonly string[] {
  return wordsOf(name.split("/").at(-1) ?? name);
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

/** The known verb of a word: `searches`, `fetches` and `queries` too. */
export function verbOf(word: string): string | undefined {
  const forms = [word, word.replace(/s$/, ""), word.replace(/es$/, ""), word.replace(/ies$/, "y")];
  return forms.find((form) => effects.has(form));
}

/** The singular of a noun. */
export function singular(word: string): string {
  if (/(?:ss|us|is)$/.test(word)) return word;
  return word
    .replace(/ies$/, "y")
    .replace(/(?<=[sxz]|ch|sh)es$/, "")
    .replace(/s$/, "");
}
