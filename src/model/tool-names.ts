import type { Message, ReplyMessage } from "../message/message.ts";
import { fingerprint } from "../util/hash.ts";
import { remembered } from "../util/remembered.ts";

/**
 * Names that providers with native calls accept, made from the names of the tools so that each can be mapped back. A name that the provider
 * accepts is kept. In others, each character that it refuses becomes `_`; if two would become equal, or one is too long, it ends in
 * a fingerprint of the name. So the names depend on the set of tools and not on their order, and another tool renames one only if both
 * would have been equal. Most tools keep their names: then `identity` is true and nothing needs to be changed.
 */
export interface WireNames {
  readonly identity: boolean;
  /** The wire name of a tool. A tool that is not in the list, as in histories, gets a name that no tool of the list has. */
  toWire(this: void, name: string): string;
  /** The tool of this wire name, even after a namespace that a model made up; the name as it is if no tool has it. */
  fromWire(this: void, wireName: string): string;
  /** The message with wire names for its tools; the same object for the same message. */
  message(this: void, message: Message): Message;
}

/**
 * The names that every provider takes. Gemini wants a letter or `_` first. OpenAI, Anthropic and Bedrock take
 * no dots, OpenAI and Bedrock at most 64 characters. Gemini accepts dots, but reads them as namespaces,
 * and then makes up others.
 */
const anyProvider = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;
const longest = 64;
const fingerprintLength = 6;

/** Tools by name, including removed ones: the names of the others do not change. */
interface Named {
  readonly tools: ReadonlyMap<string, unknown>;
  readonly before?: ReadonlyMap<string, unknown>;
}

/** The wire names of a list, by the rules of providers. Depends on: the names of the tools; the rule, with its flags. */
const namesByRule = remembered((_named: Named) => new Map<string, WireNames>());

/**
 * The wire names of the tools of a list, made once for each list. `accepted` matches the names that the provider takes as they are, if more than
 * all providers do (`features.toolNames`). Mapping back does not need it.
 */
export function wireNames(named: Named, accepted?: RegExp): WireNames {
  const byRule = namesByRule(named);
  const rule = String(accepted);
  let names = byRule.get(rule);
  const { tools, before = tools } = named;
  if (names === undefined) byRule.set(rule, (names = makeNames([...before.keys()], accepted)));
  return names;
}

function makeNames(names: readonly string[], accepted: RegExp | undefined): WireNames {
  const wireOf = tableOf(names);
  const nameOf = new Map([...wireOf].map(([name, wire]) => [wire, name]));
  const stays = (name: string): boolean =>
    anyProvider.test(name) || (accepted !== undefined && name.search(accepted) !== -1);
  function toWire(name: string): string {
    const wire = wireOf.get(name);
    if (wire !== undefined) return stays(name) ? name : wire;
    if (stays(name) && !nameOf.has(name)) return name;
    return name.length < longest && !nameOf.has(plain(name)) ? plain(name) : marked(name, nameOf);
  }
  function behindNamespace(wire: string): string | undefined {
    const name = withoutNamespace(wire);
    return nameOf.get(name) ?? (wireOf.has(name) ? name : undefined);
  }
  return {
    identity: names.every(stays),
    toWire,
    fromWire: (wire) => nameOf.get(wire) ?? behindNamespace(wire) ?? wire,
    message: remembered((message) => rename(message, toWire)),
  };
}

/** Each name with its wire name for any provider. No two are equal, and none is the name of another tool. */
function tableOf(names: readonly string[]): ReadonlyMap<string, string> {
  const table = new Map<string, string>();
  const taken = new Set(names);
  const alike = Map.groupBy(names, plain);
  for (const [wire, [name = wire, ...others]] of alike) {
    if (others.length > 0 || wire.length > longest) continue;
    table.set(name, wire);
    taken.add(wire);
  }
  for (const name of names.toSorted()) {
    if (table.has(name)) continue;
    const wire = anyProvider.test(name) ? name : marked(name, taken);
    table.set(name, wire);
    taken.add(wire);
  }
  return table;
}

/** The beginning of the plain name, and a fingerprint of the whole name. */
function marked(name: string, taken: { has(name: string): boolean }): string {
  const start = plain(name).slice(0, longest - fingerprintLength - 1);
  for (let salt = ""; ; salt += "+") {
    const wire = `${start}_${fingerprint(name + salt).slice(-fingerprintLength)}`;
    if (!taken.has(wire)) return wire;
  }
}

function plain(name: string): string {
  const safe = name.replaceAll(/[^a-zA-Z0-9_-]/gu, "_");
  return /^[a-zA-Z_]/.test(safe) ? safe : `_${safe}`;
}

function rename(message: Message, toWire: (name: string) => string): Message {
  if (message.role === "tool") return { ...message, name: toWire(message.name) };
  if (message.role !== "assistant") return message;
  const parts = message.parts.map((part) =>
    part.type === "tool-call" && part.providerExecuted !== true ? { ...part, name: toWire(part.name) } : part,
  );
  return { ...message, parts } satisfies ReplyMessage;
}

/** The prefixes that models add to names because their prompts or their training had them. */
export const namespaces: readonly string[] = ["functions", "tools", "default_api", "api", "namespace"];
const namespace = /^(?:(?:functions?|tools?|default_api|api|namespace)(?:::|[./:]))+/i;

/** Tokens of a chat template, which vLLM leaves at the names of gpt-oss: `search<|channel|>commentary`. */
const tokens = /<\|.*$/s;

/** The name without such a prefix, and without tokens behind it. */
export function withoutNamespace(name: string): string {
  return name.replace(tokens, "").replace(namespace, "");
}

/**
 * The name that a model means: an exact match, else the only one that is equal apart from case and the signs between words
 * (`.`, `_`, `-`, `/`, `:`), else the one after a namespace that it made up. Undefined if there is none, or several.
 */
export function matchName(written: string, names: Iterable<string>): string | undefined {
  const known = [...names];
  return likeName(written, known) ?? likeName(withoutNamespace(written), known);
}

function likeName(written: string, names: readonly string[]): string | undefined {
  const meant = folded(written);
  let found: string | undefined;
  let count = 0;
  for (const name of names) {
    if (name === written) return name;
    if (folded(name) !== meant) continue;
    found = name;
    count += 1;
  }
  return count === 1 ? found : undefined;
}

function folded(name: string): string {
  return name.replaceAll(/[./:-]/g, "_").toLowerCase();
}
