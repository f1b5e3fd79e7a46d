import type {
  ProviderMetadata,
  ProviderPart,
  ReplyMessage,
  ReplyPart,
  ToolCall,
} from "../../message/message.ts";
import { keptFrom } from "./kept.ts";

/**
 * The parts of a reply that go to this server: without the reasoning of another provider, and without the calls that another
 * carried out itself, with their results. A part without a note of its writer goes back if it has metadata.
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

/** True for a server whose calls may have a text in place of arguments: the custom tools of OpenAI's Responses. */
export function takesTexts(server: string | undefined): boolean {
  return server === undefined || /\.responses$|^gateway$/.test(server);
}

interface Noted {
  readonly providerMetadata?: ProviderMetadata;
}

function isForeign(server: string, part: Noted): boolean {
  return part.providerMetadata?.["writ"] !== undefined && keptFrom(server, part) === undefined;
}

/** The metadata of a part as its provider gave it, under its name in a prompt. */
export function optionsOf({ providerMetadata }: Noted): { readonly providerOptions?: ProviderMetadata } {
  if (providerMetadata === undefined) return {};
  if (providerMetadata["writ"] === undefined) return { providerOptions: providerMetadata };
  const { writ: _note, ...providerOptions } = providerMetadata;
  return Object.keys(providerOptions).length === 0 ? {} : { providerOptions };
}

/**
 * Matches results to calls with a new id. If an id could not be used in the transcript, its call got another, but the provider's own result has the first: such
 * results belong, in order, to the calls of the same tool without a result.
 */
export function renamedResults(parts: readonly ReplyPart[]): ReadonlyMap<ReplyPart, ReplyPart> {
  const renamed = new Map<ReplyPart, ReplyPart>();
  const results = parts.filter(
    (part): part is ProviderPart => part.type === "provider" && part.data["type"] === "tool-result",
  );
  if (results.length === 0) return renamed;
  const calls = parts.filter(
    (part): part is ToolCall => part.type === "tool-call" && part.providerExecuted === true,
  );
  const callIds = new Set<unknown>(calls.map((call) => call.id));
  const resultIds = new Set(results.map((result) => result.data["toolCallId"]));
  const waiting = calls.filter((call) => !resultIds.has(call.id));
  for (const result of results) {
    if (callIds.has(result.data["toolCallId"])) continue;
    const index = waiting.findIndex((call) => call.name === result.data["toolName"]);
    const [call] = index === -1 ? [] : waiting.splice(index, 1);
    if (call !== undefined)
      renamed.set(result, { type: "provider", data: { ...result.data, toolCallId: call.id } });
  }
  return renamed;
}
