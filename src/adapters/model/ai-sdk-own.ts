import type { Message, ProviderMetadata, ReplyMessage, ReplyPart } from "../../message/message.ts";
import { fingerprint } from "../../util/hash.ts";
import { keptFrom } from "./kept.ts";

/**
 * The parts of a reply that go to this server: not the reasoning of another provider, nor the calls that another
 * carried out itself, with their results. A part without a note on who wrote it goes back where it has metadata.
 */
export function partsFor(server: string | undefined, { parts }: ReplyMessage): readonly ReplyPart[] {
  if (server === undefined) return parts;
  const foreign = new Set<unknown>();
  for (const part of parts)
    if (part.type === "tool-call" && part.providerExecuted === true && isForeign(server, part))
      foreign.add(part.id);
  return parts.filter((part) => {
    if (part.type === "reasoning") return part.providerMetadata !== undefined && !isForeign(server, part);
    if (part.type === "tool-call") return !foreign.has(part.id);
    return part.type !== "provider" || !foreign.has(part.data["toolCallId"]);
  });
}

interface Noted {
  readonly providerMetadata?: ProviderMetadata;
}

function isForeign(server: string, part: Noted): boolean {
  return part.providerMetadata?.["writ"] !== undefined && keptFrom(server, part) === undefined;
}

/** The metadata of a part as its provider gave it, under the name that a prompt has for it. */
export function optionsOf({ providerMetadata }: Noted): { readonly providerOptions?: ProviderMetadata } {
  if (providerMetadata === undefined) return {};
  if (providerMetadata["writ"] === undefined) return { providerOptions: providerMetadata };
  const { writ: _note, ...providerOptions } = providerMetadata;
  return Object.keys(providerOptions).length === 0 ? {} : { providerOptions };
}

/** The ids that the calls of a conversation have on the way to a server, by those that they have in the transcript. */
export interface WireIds {
  /** Notes the calls of a reply. */
  readonly take: (message: Message) => void;
  /** The id on the way of the call that has this id in the transcript. */
  readonly of: (id: string) => string;
  /** Whether every call so far goes out with the id that it has in the transcript. */
  readonly areSame: () => boolean;
}

/** Begins a conversation: calls go back with the id that this server gave them, and with nine letters or digits to Mistral. */
export function wireIds(server: string | undefined): WireIds {
  const sent = new Map<string, string>();
  const taken = new Set<unknown>();
  const isMistral = server?.startsWith("mistral") === true;
  return {
    take(message) {
      if (server === undefined || message.role !== "assistant") return;
      for (const part of message.parts) {
        if (part.type !== "tool-call") continue;
        const { id: given } = keptFrom(server, part) ?? {};
        const wanted = typeof given === "string" && !taken.has(given) ? given : part.id;
        const id = isMistral && !mistralId.test(wanted) ? nineSigns(wanted) : wanted;
        taken.add(id);
        if (id !== part.id) sent.set(part.id, id);
      }
    },
    of: (id) => sent.get(id) ?? id,
    areSame: () => sent.size === 0,
  };
}

const mistralId = /^[a-zA-Z0-9]{9}$/;

function nineSigns(id: string): string {
  return fingerprint(id).padStart(9, "0").slice(-9);
}
