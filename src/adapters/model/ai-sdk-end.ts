import type { FinishReason, ProviderMetadata } from "../../message/message.ts";
import type { ReportedUsage } from "../../message/usage.ts";
import type { Delta, ReportedResponse } from "../../model/model.ts";
import type { JsonObject } from "../../util/json.ts";
import { fits, record, whole } from "../../util/shape.ts";
import { reasonWord, reportedResponse, reportedUsage, unreadableBy } from "./wire-fields.ts";

/** A provider's data about its response, in a part of the stream or with the whole reply. */
export interface ResponseMetadata {
  readonly id?: unknown;
  readonly modelId?: unknown;
}

/** The id and the model in the provider's response; undefined if it gives neither. */
export function responseOf({ id, modelId }: ResponseMetadata): ReportedResponse | undefined {
  return reportedResponse(id, modelId);
}

const finishReasons: readonly FinishReason[] = ["stop", "length", "tool-calls", "content-filter", "error"];

/** Reasons of providers that packages misread, mostly for the end of a reply with calls. */
const rawReasons: ReadonlyMap<string, FinishReason> = new Map([
  ["pause_turn", "pause"],
  ["MODEL_ARMOR", "content-filter"],
  ["content_filter", "content-filter"],
  ["sensitive", "content-filter"],
  ["model_context_window_exceeded", "length"],
  ["error", "error"],
  ["abort", "error"],
  ["network_error", "error"],
  ["insufficient_system_resource", "error"],
]);

/**
 * The reason for the end of a reply: a word in V2, `{ unified, raw }` since V3. Words that only some versions have (`unknown`, `interrupted`) become `other`.
 */
function finishReasonOf(reason: unknown): FinishReason {
  const meant = rawReasons.get(reasonWord(field(reason, "raw")));
  if (meant !== undefined) return meant;
  const unified = field(reason, "unified") ?? reason;
  return finishReasons.find((known) => known === unified) ?? "other";
}

/** The part that a package puts at the end of a stream. */
export interface StreamFinish {
  readonly finishReason?: unknown;
  readonly usage?: unknown;
  readonly providerMetadata?: ProviderMetadata;
}

/** The end of a reply of `provider` as a delta, with its data about the reply as a whole. */
export function endDelta(
  { finishReason, usage: counted, providerMetadata: metadata }: StreamFinish,
  said: ReportedResponse | undefined,
  provider?: string,
): Extract<Delta, { type: "end" }> {
  const [raw, usage] = [field(finishReason, "raw"), usageOf(counted, metadata, provider)];
  const response = {
    ...said,
    ...(typeof raw === "string" && raw !== "" ? { finishReason: raw } : {}),
    ...(metadata && Object.keys(metadata).length > 0 ? { metadata: plain(metadata) } : {}),
  };
  return {
    type: "end",
    finishReason: finishReasonOf(finishReason),
    ...(usage && { usage }),
    ...(Object.keys(response).length > 0 ? { response } : {}),
    ...unreadableBy(raw), // the call that the provider could not read, which the package keeps in the reason
  };
}

/** The same value as JSON, without undefined fields, so that it equals the value that a journal returns later. */
export function plain(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value));
}

/**
 * True if the provider's answer ended before the reply did. Packages finish such a stream too: as
 * `interrupted` in V4, as `unknown` or `other` in V2, elsewhere as `other` without a raw reason. Some say
 * `tool-calls` if a call had begun: then no token was counted either.
 */
export function endedEarly({ finishReason, usage }: StreamFinish): boolean {
  const unified = field(finishReason, "unified");
  const raw = field(finishReason, "raw");
  if (unified === "interrupted") return true;
  if (typeof raw === "string" && raw !== "") return false;
  if (unified === "tool-calls") return usageOf(usage) === undefined;
  return finishReasonOf(finishReason) === "other";
}

/** The packages of V2 that leave out of the input the tokens read from the cache, and written into it; since V3 all count them there. */
const leavesCacheOut = /anthropic|bedrock/;

/** The usage: numbers side by side in V2, nested since V3. Counts that the provider does not give are left out. */
function usageOf(usage: unknown, metadata?: ProviderMetadata, provider = ""): ReportedUsage | undefined {
  const [input, output] = [field(usage, "inputTokens"), field(usage, "outputTokens")];
  const cachedInputTokens = field(usage, "cachedInputTokens") ?? field(input, "cacheRead");
  // Packages of V2 count the tokens written into the cache beside the usage.
  const cacheWriteTokens =
    field(input, "cacheWrite") ??
    field(metadata?.["anthropic"], "cacheCreationInputTokens") ??
    field(field(metadata?.["bedrock"], "usage"), "cacheWriteInputTokens");
  const ofCache = leavesCacheOut.test(provider) ? [cachedInputTokens, cacheWriteTokens] : [];
  return reportedUsage({
    inputTokens: field(input, "total") ?? withCache(input, ofCache),
    outputTokens: field(output, "total") ?? output,
    totalTokens: field(usage, "totalTokens") ?? field(field(usage, "raw"), "total_tokens"),
    cachedInputTokens,
    cacheWriteTokens,
    reasoningTokens: field(usage, "reasoningTokens") ?? field(output, "reasoning"),
  });
}

/** The input with the tokens of the cache, as far as they are counted. */
function withCache(input: unknown, ofCache: readonly unknown[]): unknown {
  if (!fits(whole, input)) return input;
  return ofCache.reduce<number>((sum, count) => sum + (fits(whole, count) ? count : 0), input);
}

function field(value: unknown, name: string): unknown {
  return fits(record, value) ? value[name] : undefined;
}
