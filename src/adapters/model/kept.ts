import type { Message, ProviderMetadata } from "../../message/message.ts";
import { fingerprint } from "../../util/hash.ts";
import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";

/** The fields of a reply that go back, unchanged, to the server that wrote them. */
export type Kept = Record<string, Json>;

/** Notes on a part of a reply which server wrote it, and the fields that it wants back. */
export function keptBy(server: string, fields: JsonObject): ProviderMetadata {
  return { writ: { server, ...fields } };
}

/** The fields that this server wants back with a part; none with a part that another server wrote. */
export function keptFrom(
  server: string,
  { providerMetadata }: { readonly providerMetadata?: ProviderMetadata },
): JsonObject | undefined {
  const noted = providerMetadata?.["writ"];
  return isJsonObject(noted) && noted["server"] === server ? noted : undefined;
}

/** The same for a call, with its id if the transcript gives it another one. Undefined if there is nothing to note. */
export function keptCall(server: string, id: string, fields: JsonObject): ProviderMetadata | undefined {
  const isPlain = /^[\w-]{1,64}$/.test(id);
  if (isPlain && Object.keys(fields).length === 0) return undefined;
  return keptBy(server, isPlain ? fields : { id, ...fields });
}

/** The ids of the calls of a conversation in requests to a server, by their ids in the transcript. */
export interface WireIds {
  /** Notes the calls of a reply. */
  readonly take: (message: Message) => void;
  /** Returns the id in requests of the call that has this id in the transcript. */
  readonly of: (id: string) => string;
  /** True while every call so far has the same id in requests as in the transcript. */
  readonly areSame: () => boolean;
}

/** Begins a conversation: calls go back with the id that this server gave them; for a server that requires it, ids have nine letters or digits. */
export function wireIds(server: string | undefined, wantsNine: boolean): WireIds {
  const sent = new Map<string, string>();
  const taken = new Set<unknown>();
  return {
    take(message) {
      if (server === undefined || message.role !== "assistant") return;
      for (const part of message.parts) {
        if (part.type !== "tool-call") continue;
        const { id: given } = keptFrom(server, part) ?? {};
        const wanted = typeof given === "string" && !taken.has(given) ? given : part.id;
        const id = wantsNine && !nineLong.test(wanted) ? nineSigns(wanted) : wanted;
        taken.add(id);
        if (id !== part.id) sent.set(part.id, id);
      }
    },
    of: (id) => sent.get(id) ?? id,
    areSame: () => sent.size === 0,
  };
}

const nineLong = /^[a-zA-Z0-9]{9}$/;

function nineSigns(id: string): string {
  return fingerprint(id).padStart(9, "0").slice(-9);
}
