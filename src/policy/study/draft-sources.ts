import type { ValueSource, ValueType } from "../../tool/parameters.ts";
import { singular, verbOf, wordsOf } from "../values/verbs.ts";
import type { DraftedParameter } from "./draft-parameters.ts";

/** A tool in whose results values are found: one that only looks, or one that makes something and returns it. */
export interface Look {
  readonly name: string;
  readonly description: string;
  /** True if it makes what it returns. */
  readonly isMaker?: true;
  /** True if somebody said that no stranger writes any part of its results. */
  readonly isTrusted: boolean;
}

/** A parameter that may take values from lookups. */
export interface SourcedParameter {
  readonly tool: { readonly name: string; readonly description: string };
  readonly parameter: DraftedParameter;
}

/** The places from which a parameter may take whole values, and the reason. */
export interface DraftedSources {
  readonly from: readonly ValueSource[];
  readonly because: string;
}

/**
 * The lookups in whose results a value of this parameter is the whole content of a field: an identifier in a field named like the parameter or like the record
 * that the lookup returns, if that concerns what the tool or the parameter names; a plain text in a field of exactly that name. Addresses are
 * not taken from anything that a stranger may write, except from the one record that the user names.
 */
export function draftSources(taking: SourcedParameter, looks: readonly Look[]): DraftedSources | undefined {
  const { tool, parameter } = taking;
  const { role, type } = parameter;
  const all = looks.filter(({ name }) => name !== tool.name);
  if (role === "id") return idSources(taking, all);
  const others = all.filter(({ isMaker }) => isMaker !== true);
  if (role !== "target") return undefined;
  if (type !== undefined && addresses.has(type)) {
    const own = others.filter(({ isTrusted }) => isTrusted);
    const from = own.map(({ name }): ValueSource => ({ type: "found-in", tool: name, whole: true }));
    const isTold = people.has(type) && wordsOf(leafOf(parameter)).some((word) => !ways.has(word));
    const named = isTold ? others.filter(({ isTrusted }) => !isTrusted).map(ofNamed(leafOf(parameter))) : [];
    const because =
      from.length > 0 ? "no stranger writes it there" : "it is one of the record that the user names";
    return found([...from, ...named], because);
  }
  const leaf = leafOf(parameter);
  if (type !== undefined || !isPlain(leaf)) return undefined;
  const from = others.map(({ name }) => at(name, [leaf]));
  return found(from, `a field called ${JSON.stringify(leaf)} in a record is the same thing`);
}

/** True for the name of a field that says neither whom nor where: its content reaches nobody. A part of a person's name does not either. */
function isPlain(leaf: string): boolean {
  const words = wordsOf(leaf).map(singular);
  const isPart =
    words.includes("name") && words.some((word) => /^(?:first|last|middle|given|family)$/.test(word));
  return isPart || !words.some((word) => whom.has(word));
}

function idSources(
  { tool, parameter }: SourcedParameter,
  looks: readonly Look[],
): DraftedSources | undefined {
  const leaf = leafOf(parameter);
  const own = wordsOf(leaf).filter((word) => !manners.has(word));
  const exact = [leaf, own.join("_"), [...own.slice(0, -1), singular(own.at(-1) ?? "")].join("_")];
  const named = own.map(singular).filter((word) => !idWords.has(word));
  const entity = named.length > 0 ? named : nounsOf(tool.name);
  const described = `${tool.description} ${parameter.description ?? ""}`;
  const things = [entity.join("_"), ...idsSaidIn(described)].flatMap((thing) => [thing, `${thing}s`]);
  const isOfIt = tellsOf(entity);
  const isTold = tellsOf([...nounsOf(tool.name), ...wordsOf(described)]);
  const from = looks.flatMap((look) => {
    if (look.isMaker === true && !nounsOf(look.name).some((noun) => entity.includes(noun))) return [];
    if (look.isTrusted && (isOfIt(look) || isTold(look))) return [anywhereIn(look.name)];
    if (isOfIt(look)) return [at(look.name, [...exact, ...things, "id", "ids", "id_"])];
    return isTold(look) ? [at(look.name, [...exact, ...things])] : [];
  });
  return found(from, "an identifier that stands alone in a field of that name is a record's own");
}

/** The things whose identifiers a text names: "an attachment ID". */
function idsSaidIn(text: string): readonly string[] {
  return [...text.matchAll(/\b([a-z]{3,30}) (?:ids?|identifiers?)\b/gi)]
    .map(([, word = ""]) => singular(word.toLowerCase()))
    .filter((word) => !fillers.has(word) && !manners.has(word));
}

/** Matches lookups whose name has one of these things, or whose description has the last, which is the thing itself. */
function tellsOf(words: readonly string[]): (look: Look) => boolean {
  const things = words.map(singular).filter((word) => !fillers.has(word));
  return ({ name, description }) => {
    const nouns = new Set(nounsOf(name));
    const thing = things.at(-1);
    const said = new Set(wordsOf(description).map(singular));
    return things.some((word) => nouns.has(word)) || (thing !== undefined && said.has(thing));
  };
}

function leafOf({ name }: DraftedParameter): string {
  return name.split(".").at(-1) ?? name;
}

function at(tool: string, fields: readonly string[]): ValueSource {
  const names = [...new Set(fields)].filter((name) => name !== "");
  return { type: "found-in", tool, whole: true, field: names.length === 1 ? (names[0] ?? "") : names };
}

/** A field of the only record in a lookup's results that the user names. */
function ofNamed(field: string): (look: Look) => ValueSource {
  return ({ name }) => ({ type: "found-in", tool: name, whole: true, field, named: true });
}

/** Everything in the results of a lookup that no stranger writes. */
function anywhereIn(tool: string): ValueSource {
  return { type: "found-in", tool };
}

function found(from: readonly ValueSource[], because: string): DraftedSources | undefined {
  return from.length === 0 ? undefined : { from, because };
}

const addresses: ReadonlySet<ValueType> = new Set(["email", "url", "host", "iban", "phone", "path"]);
/** Types of addresses by which people are notified; payments have others. */
const people: ReadonlySet<ValueType> = new Set(["email", "phone"]);
/** Words for ways to notify somebody, which requests use without meaning a field: "e-mail the notes to them". */
const ways = new Set("address bcc by cc contact email emails from mail mobile phone to".split(" "));
const idWords = new Set(["id", "guid", "uuid", "code", "key", "number", "identifier"]);
const manners = new Set(
  "new old updated current target source destination from to original my the selected".split(" "),
);
/** Words for people and places that somebody else may have named in a record of their own. */
const whom = new Set(
  `account address assignee attendee body bcc beneficiary cc command contact email group guest host invitee login member name
  owner participant password payee person recipient reviewer secret sender to token url user username value who`.split(
    /\s+/,
  ),
);
const fillers = new Set(
  `a all an and available by current detail details for from get id ids in info information linked list my name new of on status
  the this to through type user's with`.split(/\s+/),
);

/** The things in the name of a tool. */
function nounsOf(tool: string): readonly string[] {
  return wordsOf(tool.split("/").at(-1) ?? tool)
    .map(singular)
    .filter((word, index) => !fillers.has(word) && (index > 0 || verbOf(word) === undefined));
}
