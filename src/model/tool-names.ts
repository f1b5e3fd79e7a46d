import type { Message, ReplyMessage } from "../message/message.ts";

/**
 * Names as providers with native calls accept them (letters, digits, `_` and `-`, at most 64), made from the names of the tools so that
 * each can be told back. Most tools have such names already: then `identity` is true and nothing needs to be changed.
 */
export interface WireNames {
  readonly identity: boolean;
  toWire(name: string): string;
  fromWire(wireName: string): string;
  /** The message with its tool names changed; the same object for the same message. */
  message(message: Message): Message;
}

const providerName = /^[a-zA-Z0-9_-]{1,64}$/;
const known = new WeakMap<Named, WireNames>();

/** Tools by their names. */
interface Named {
  readonly tools: ReadonlyMap<string, unknown>;
}

/** The wire names of the tools of a list, made once for each list. */
export function wireNames(named: Named): WireNames {
  let names = known.get(named);
  if (names === undefined) known.set(named, (names = makeNames([...named.tools.keys()])));
  return names;
}

function makeNames(names: readonly string[]): WireNames {
  const wireOf = new Map<string, string>();
  const nameOf = new Map<string, string>();
  const asTheyAre = names.filter((name) => providerName.test(name));
  for (const name of [...asTheyAre, ...names.filter((name) => !providerName.test(name))]) {
    let wire = plain(name);
    for (let attempt = 2; nameOf.has(wire); attempt += 1) wire = `${plain(name).slice(0, 60)}_${attempt}`;
    wireOf.set(name, wire);
    nameOf.set(wire, name);
  }
  const toWire = (name: string): string => wireOf.get(name) ?? plain(name);
  const changed = new WeakMap<Message, Message>();
  return {
    identity: asTheyAre.length === names.length,
    toWire,
    fromWire: (wire) => nameOf.get(wire) ?? wire,
    message(message) {
      let result = changed.get(message);
      if (result === undefined) changed.set(message, (result = rename(message, toWire)));
      return result;
    },
  };
}

function plain(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "_";
}

function rename(message: Message, toWire: (name: string) => string): Message {
  if (message.role === "tool") return { ...message, name: toWire(message.name) };
  if (message.role !== "assistant") return message;
  const parts = message.parts.map((part) =>
    part.type === "tool-call" ? { ...part, name: toWire(part.name) } : part,
  );
  return { ...message, parts } satisfies ReplyMessage;
}
