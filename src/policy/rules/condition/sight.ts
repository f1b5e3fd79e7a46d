import type { Parameter, Parameters, ParameterWords, ValueType } from "../../../tool/parameters.ts";
import type { Effect } from "../../../tool/tool.ts";
import type { Json } from "../../../util/json.ts";
import { remembered } from "../../../util/remembered.ts";
import type { CallRequest, RunKnowledge } from "../../decision.ts";
import { spelledWhole } from "../../values/bound-values.ts";
import { linksIn } from "../../values/links.ts";
import type { Annotation } from "../rule.ts";
import type { Truth } from "./tests.ts";
import {
  isAbsent,
  type Leaf,
  leavesAt,
  leavesOf,
  looksLikeName,
  type ReadingOfArguments,
  type Sort,
} from "./values.ts";

/** A call as conditions see it. Costly parts are computed once, when the first condition asks. */
export interface Sight {
  readonly call: CallRequest;
  /** The knowledge of the run, read once. May throw. */
  readonly knows: () => RunKnowledge;
  /** The effect of the call: as the policy declares it, otherwise as the tool does; none for knowledge and memory. */
  readonly effect: Effect;
  /** True if the policy says that the tool looks outside. */
  readonly reachesOutside: boolean;
  /** The arguments, read once. May throw. */
  readonly args: () => Json;
  /** All values of the arguments; undefined if they cannot be read. May throw. */
  readonly leaves: () => readonly Leaf[] | undefined;
  /** The values at a dotted path. May throw. */
  readonly at: (path: string) => readonly Leaf[] | undefined;
  /** The names of arguments that the tool never declared, because its schema is open. May throw. */
  readonly undeclared: () => readonly string[];
  /** True if a value is the user's own choice, or the author's. May throw. */
  readonly isBound: (leaf: Leaf, as: ValueType | undefined) => Truth;
  /** The links in a value that occur in no trusted source. May throw. */
  readonly strangersLinks: (leaf: Leaf) => readonly string[];
}

/** True if a call with this effect, or an undeclared one, may change something. */
export function isEffectful(effect: Effect): boolean {
  return effect !== "none" && effect !== "read";
}

/** The sight of a call. An annotation of the policy overrides the tool's own declarations. `most` values are looked at, 5000 by default. */
export function sightOf(call: CallRequest, annotation: Annotation = {}, most?: number): Sight {
  const effect = effectOf(call, annotation);
  const reachesOutside = annotation.reaches === "outside";
  const args = once(() => call.arguments);
  const knows = once(() => call.knows);
  const defaults = once(() => call.defaultsIn?.(args()));
  const rest = once((): Sort => ({
    role: reachesOutside || actsOnRest(effect, knows) ? "target" : "content",
  }));
  const lists = [annotation.parameters, call.parameters];
  const reading: ReadingOfArguments = {
    sortOf: (name) => sortIn(lists[0], name) ?? sortIn(lists[1], name) ?? rest(),
    isName: namesOf(call.fields, lists),
    isDefault: (holder, name) => defaults()?.(holder, name) === true,
    ...(lists.some(hasInner)
      ? { sortWithin: (path) => sortIn(lists[0], path) ?? sortIn(lists[1], path) }
      : {}),
    ...(most === undefined ? {} : { most }),
  };
  const leaves = once(() => leavesOf(args(), reading));
  const paths = new Map<string, readonly Leaf[] | undefined>();
  return {
    call,
    knows,
    effect,
    reachesOutside,
    args,
    leaves,
    undeclared: once(() => {
      const isDeclared = call.declared === undefined ? reading.isName : namesOf(call.declared, lists);
      return Object.keys(args() ?? {}).filter((name) => !isDeclared(name));
    }),
    at: (path) => kept(paths, path, () => leavesAt(args(), path, reading)),
    ...memoryOf({ knows, tool: call.tool, effect, leaves }),
  };
}

/** True if arguments without a role can say whom a call reaches: by its effect, or because it looks outside. */
function actsOnRest(effect: Effect, knows: () => RunKnowledge): boolean {
  return isEffectful(effect) || (effect === "read" && knows().label.secrecy !== "public");
}

/** True if a field inside an argument has a role of its own. Depends on: the list. */
const hasInner = (list: Parameters | undefined): boolean => list !== undefined && innerIn(list);
const innerIn = remembered((list: Parameters) => Object.keys(list).some((name) => name.includes(".")));

/** The names that the author gave. Without a known schema, the form of a name decides. */
function namesOf(
  fields: CallRequest["fields"],
  lists: readonly (Parameters | undefined)[],
): ReadingOfArguments["isName"] {
  if (fields === undefined) return looksLikeName;
  return (key) => fields.has(key) || lists.some((list) => list !== undefined && Object.hasOwn(list, key));
}

/** Remembers results, so that equal values are judged once, wherever they occur. */
function memoryOf({ knows, tool, effect, leaves }: Looking): Pick<Sight, "isBound" | "strangersLinks"> {
  const named = once(() => dividedNames(leaves() ?? []));
  const bound = new Map<ValueType | undefined, Map<Json, Truth>>();
  const links = new Map<string, readonly string[]>();
  return {
    isBound: (leaf, declared = leaf.type) => {
      const { value, words } = leaf;
      if (leaf.isDefault === true) return true;
      const as = isEffectful(effect) ? declared : wholeType(value, declared); // whoever is asked reads all of it
      let known = bound.get(as);
      if (known === undefined) bound.set(as, (known = new Map()));
      let isBound = known.get(value);
      if (isBound === true) return true;
      if (isBound === undefined) known.set(value, (isBound = truthOf(knows().isBound(value, as, tool))));
      if (isBound === true) return true;
      if (words !== undefined && isAllowedBy(words, value, { as, tool, effect, knows })) return true;
      const isNamed =
        (as ?? "text") === "text" &&
        named()
          .get(leaf)
          ?.some((name) => knows().isBound(name, "text", tool));
      return isNamed === true || isBound;
    },
    strangersLinks: ({ value, isDefault }) => {
      if (typeof value !== "string" || isDefault === true) return [];
      let strangers = links.get(value);
      if (strangers === undefined) links.set(value, (strangers = linksOf(value, knows())));
      return strangers;
    },
  };
}

/** The type as which all of a value counts: text, if it says more than the place that it stands for. */
function wholeType(value: Json, declared: ValueType | undefined): ValueType | undefined {
  if (declared === undefined || typeof value !== "string") return declared;
  return spelledWhole(value, declared)?.type ?? declared;
}

interface Looking {
  readonly knows: () => RunKnowledge;
  readonly tool: string;
  readonly effect: Effect;
  readonly leaves: () => readonly Leaf[] | undefined;
}

interface Asked extends Omit<Looking, "leaves"> {
  readonly as: ValueType | undefined;
}

/** True if the author vouches for a value in this argument, or for a place where it was found. An act that nobody asked for may not use found values. */
function isAllowedBy(
  { constants = [], from = [] }: Pick<ParameterWords, "constants" | "from">,
  value: Json,
  { as, tool, effect, knows }: Asked,
): boolean {
  if (constants.includes(asConstant(value) ?? "")) return true;
  if (from.length === 0) return false;
  const { asksFor, isFound } = knows();
  if (isEffectful(effect) && truthOf(asksFor(tool)) !== true) return false;
  return from.some((source) => truthOf(isFound(value, source, as)) === true);
}

function kept<Key, Value>(memory: Map<Key, Value>, key: Key, look: () => Value): Value {
  const known = memory.get(key);
  if (known !== undefined) return known;
  const value = look();
  memory.set(key, value);
  return value;
}

/** The call, as if the author had vouched for these values. */
export function vouchedFor(sight: Sight, values: readonly string[]): Sight {
  return {
    ...sight,
    isBound: (leaf, as) => values.includes(asConstant(leaf.value) ?? "") || sight.isBound(leaf, as),
    strangersLinks: (leaf) => sight.strangersLinks(leaf).filter((link) => !values.includes(link)),
  };
}

/** A value in the form in which an author writes it into `constants`. */
export function asConstant(value: Json): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" ? String(value) : undefined;
}

/** True for a value that says whom, what or how much a call acts on. */
export function isChoice({ role }: Leaf): boolean {
  return role !== "content";
}

/** The values that the call acts on and that the user did not choose; undefined if unknown. May throw. */
export function unboundOf(sight: Sight): readonly Leaf[] | undefined {
  return sight
    .leaves()
    ?.filter(
      (leaf) => isChoice(leaf) && !isAbsent(leaf) && (leaf.isOdd || sight.isBound(leaf, undefined) !== true),
    );
}

function linksOf(value: string, knows: RunKnowledge): readonly string[] {
  return linksIn(value, Infinity).filter((link) => truthOf(knows.isKnownLink(link)) !== true);
}

function effectOf({ effect, kind }: CallRequest, annotation: Annotation): Effect {
  if (kind === "knowledge" || kind === "memory") return "none";
  const said: unknown = annotation.effect ?? effect;
  return said === "none" || said === "read" || said === "write" || said === "irreversible"
    ? said
    : "undeclared";
}

function sortIn(parameters: Parameters | undefined, name: string): Sort | undefined {
  if (parameters === undefined || !Object.hasOwn(parameters, name)) return undefined;
  const parameter: Parameter | undefined = parameters[name];
  if (parameter === undefined) return undefined;
  const { role, type, constants, from }: ParameterWords =
    typeof parameter === "string" ? { role: parameter } : parameter;
  const known = role === "content" || role === "amount" || role === "id" ? role : "target";
  const meant = type ?? (known === "amount" ? "number" : undefined); // digits alone would pass for the name of a record
  const words = constants === undefined && from === undefined ? {} : { words: { constants, from } };
  return meant === undefined ? { role: known, ...words } : { role: known, type: meant, ...words };
}

/** The truth of an answer: only a plain boolean counts, a promise does not. */
export function truthOf(said: unknown): Truth {
  return typeof said === "boolean" ? said : undefined;
}

/** Computes a value once; an error is thrown again each time. */
function once<Value>(look: () => Value): () => Value {
  let seen: { readonly value: Value } | { readonly thrown: unknown } | undefined;
  return () => {
    if (seen === undefined) {
      try {
        seen = { value: look() };
      } catch (error) {
        seen = { thrown: error };
      }
    }
    if ("thrown" in seen) throw seen.thrown;
    return seen.value;
  };
}

/** The most texts side by side that can be parts of a name. */
const mostParts = 6;

/** The full names that adjacent texts in an object are parts of: `first_name` and `last_name`, in either order. */
function dividedNames(leaves: readonly Leaf[]): ReadonlyMap<Leaf, readonly string[]> {
  const named = new Map<Leaf, readonly string[]>();
  const texts = leaves.flatMap((leaf) => {
    const { path, value: text } = leaf;
    return path.includes(".") && typeof text === "string" && text !== "" ? [{ leaf, path, text }] : [];
  });
  const byPlace = Map.groupBy(texts, ({ path }) => path.slice(0, path.lastIndexOf(".")));
  for (const group of byPlace.values())
    for (const { leaf, text } of group.length > mostParts ? [] : group)
      named.set(
        leaf,
        group.flatMap((other) => (other.leaf === leaf ? [] : together(text, other.text))),
      );
  return named;
}

function together(one: string, other: string): readonly string[] {
  return [`${one} ${other}`, `${other} ${one}`];
}
