import type { ProviderMetadata, ReplyMessage, ReplyPart } from "../../message/message.ts";
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
