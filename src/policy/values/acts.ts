import { partsOfName, verbOf, verbOfName } from "./verbs.ts";

/** Kinds of acts by English words for them, in their shortest forms. A word may belong to several kinds. */
const words = {
  remove:
    "delete remove cancel erase clear drop close revoke trash unsubscribe terminate wipe kick ban block dismiss discard destroy withdraw purge uninstall",
  make: "create add make schedule book invite set plan new register reserve put organise organize arrange join attend enroll include insert upload save append appointment",
  tell: "send mail email e-mail message forward reply respond answer write tell notify inform share post publish tweet ask contact remind thank invite say greet announce text sms update let know",
  pay: "pay transfer money buy checkout purchase order refund wire charge spend donate send bill rent invoice tip renew subscribe settle reimburse",
  change:
    "update change edit rename move reschedule modify set adjust upgrade downgrade switch swap correct fix replace reset postpone shift extend restore",
} as const;

/** A kind of act. */
type Act = keyof typeof words;

// Depends on: the words above.
const actsOf = new Map<string, Set<Act>>();
for (const act of ["remove", "make", "tell", "pay", "change"] as const)
  for (const word of words[act].split(" ")) actsOf.set(word, (actsOf.get(word) ?? new Set()).add(act));

/** The kinds of acts that the words of a text name, inflected or not. Linear. */
export function actsIn(text: string): ReadonlySet<Act> {
  const found = new Set<Act>();
  for (const [word] of text.toLowerCase().matchAll(/\p{L}+/gu))
    for (const act of stemsOf(word).flatMap((stem) => [...(actsOf.get(stem) ?? [])])) found.add(act);
  return found;
}

/** The kinds of acts in the name of a tool, by its first verb: `cancel_order`, `cancelOrder`; a removal belongs to no other kind. */
export function actsOfTool(name: string): ReadonlySet<Act> {
  const known = read.get(name);
  if (known !== undefined) return known;
  if (read.size >= mostRead) read.clear();
  const acts = readActs(name);
  read.set(name, acts);
  return acts;
}

// Depends on: the name.
const read = new Map<string, ReadonlySet<Act>>();
const mostRead = 1000;

function readActs(name: string): ReadonlySet<Act> {
  const parts = name
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "_")
    .toLowerCase()
    .split(/[^a-z]+/);
  const known = parts.flatMap((part) => actsOf.get(part) ?? []);
  return known.find((acts) => acts.has("remove")) ?? known[0] ?? new Set();
}

/** The words of a text, each as written and without English endings. */
export function wordsSaid(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\d]+/gu))
    for (const stem of stemsOf(word)) found.add(stem);
  return found;
}

/** The words of a text, and the kinds of acts that it names. */
interface Spoken {
  readonly acts: ReadonlySet<Act>;
  readonly words: ReadonlySet<string>;
}

/** Verbs that say little besides the thing that is made: "Note it" asks for `write_note`. */
const makes = new Set("add append create draft insert log make put record save write".split(" "));

/** Words that reverse an act: `turn_off_alarm`. */
const turns = new Set(["on", "off", "in", "out", "up", "down"]);

/**
 * True if a text names the very act in a tool's name: its verb, or its kind if that is known, and something that it acts on.
 * For `unlock_door`, "Unlock the front door" does, "Lock the door" and "Unlock my account" do not. Without a known verb it must have each word of the name.
 */
export function namesAct(name: string, said: Spoken): boolean {
  const parts = partsOfName(name);
  const isSaid = (word: string): boolean => stemsOf(word).some((stem) => said.words.has(stem));
  const verb = verbOfName(name);
  if (verb === undefined) return parts.length > 0 && parts.every(isSaid);
  const at = parts.findIndex((part) => verbOf(part) === verb);
  const behind = parts.slice(at + 1).filter((part) => !turns.has(part));
  const things = behind.length > 0 ? behind : parts.slice(0, at);
  const saysThing = things.some(isSaid);
  if (makes.has(verb) && saysThing) return true;
  const kinds = actsOfTool(name);
  const saysVerb = kinds.size === 0 ? isSaid(verb) : !kinds.isDisjointFrom(said.acts);
  const saysTurns = parts.every((part) => !turns.has(part) || said.words.has(part));
  return saysVerb && saysTurns && (saysThing || things.length === 0);
}

/** Words that occur in any request: they do not name a field. */
const small = new Set("a an and as at by for from in is it of on or the to with".split(" "));

/** True if a text with these words names a field: it has each word of the name, in singular or plural. */
export function speaksOf(field: string, words: ReadonlySet<string>): boolean {
  const parts = partsOfName(field);
  const isSaid = (part: string): boolean => !small.has(part) && stemsOf(part).some((stem) => words.has(stem));
  return parts.length > 0 && parts.every(isSaid);
}

/** The possible stems of a word, without the endings of English verbs. */
function stemsOf(word: string): readonly string[] {
  if (word.length > 20) return [];
  const cut = /^(.{2,}?)(?:s|es|ed|d|ing|ation|ment|al)$/u.exec(word)?.[1];
  if (cut === undefined) return [word];
  const endings = ["s", "es", "ed", "d", "ing", "ation", "ment", "al"].filter((ending) =>
    word.endsWith(ending),
  );
  const roots = endings.map((ending) => word.slice(0, -ending.length));
  return [
    word,
    ...roots,
    ...roots.map((root) => `${root}e`),
    ...roots.map((root) => root.replace(/(.)\1$/u, "$1")),
    ...roots.map((root) => root.replace(/i$/u, "y")),
  ];
}
