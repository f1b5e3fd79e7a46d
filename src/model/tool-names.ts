import type { Message, ReplyMessage } from "../message/message.ts";
import { fingerprint } from "../util/hash.ts";
import { remembered } from "../util/remembered.ts";

/**
 * Names as providers with native calls accept them, made from the names of the tools so that each can be told back. A name that the provider
 * takes stays as it is. In others each sign that it refuses becomes `_`; where two would become the same, or one is too long, its end is a
 * fingerprint of the name. So the names depend on which tools there are and not on their order, and another tool renames one only if both
 * would have been told alike. Most tools have names that stay: then `identity` is true and nothing needs to be changed.
 */
export interface WireNames {
  readonly identity: boolean;
  /** A name of a tool that is not in the list, as histories have them, gets one that no tool of the list has. */
  toWire(this: void, name: string): string;
  /** The tool of this name, also behind a namespace that models make up; the name as it is when no tool has it. */
  fromWire(this: void, wireName: string): string;
  /** The message with its tool names changed; the same object for the same message. */
  message(this: void, message: Message): Message;
}

/**
 * The names that every provider takes. Gemini wants a letter or `_` first. OpenAI, Anthropic and Bedrock take
 * no dots, OpenAI and Bedrock at most 64 characters. Gemini takes dots, but takes them for namespaces too,
 * and then makes up others.
 */
const anyProvider = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;
const longest = 64;
const fingerprintLength = 6;

/** Tools by their names, with those that were taken away: the names of the others stay. */
interface Named {
  readonly tools: ReadonlyMap<string, unknown>;
  readonly before?: ReadonlyMap<string, unknown>;
}

/** The wire names of a list, by the rules of providers. Depends on: the names of the tools; the rule, with its flags. */
const namesByRule = remembered((_named: Named) => new Map<string, WireNames>());

/**
 * The wire names of the tools of a list, made once for each list. `accepted` says which names the provider takes as they are, if more than
 * all providers do (`features.toolNames`); what comes back is told without it.
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

/** Each name with the one that every provider takes. No two are the same, and none is the name of another tool. */
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

/** The beginning of the plain name, and a fingerprint of the whole one. */
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

/** The words that models set before names because their prompts or their training have them there. */
export const namespaces: readonly string[] = ["functions", "tools", "default_api", "api", "namespace"];
const namespace = /^(?:(?:functions?|tools?|default_api|api|namespace)(?:::|[./:]))+/i;

/** The name behind them. */
export function withoutNamespace(name: string): string {
  return name.replace(namespace, "");
}

/**
 * The name that a model means by what it wrote: the very one, else the only one that is the same when case and the signs between words
 * (`.`, `_`, `-`, `/`, `:`) make no difference, else the one behind a namespace that it made up. Undefined when none or several are.
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
