import type { Writing } from "../util/writing.ts";

/**
 * The tokens of one or several model calls. `estimated` is set if a provider reported no count, or one that cannot be true. The numbers are then
 * writ's own estimate (4 characters a token): writ never takes a missing count for zero.
 */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Those of the input that the provider read from its cache. */
  readonly cachedInputTokens?: number;
  /** Those of the input that the provider wrote into its cache. */
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
  readonly estimated?: boolean;
}

/**
 * A price: a function that returns the dollars for a usage, or undefined if they are unknown. Tokens of the cache are a part of the input.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import type { Price } from "writ/models";
 *
 * const price: Price = ({ inputTokens, outputTokens }) => (inputTokens * 0.25 + outputTokens * 2) / 1_000_000;
 *
 * export const careful = agent({ name: "careful", model: "openai/gpt-5-mini", budget: { costUsd: 0.5, price } });
 * ```
 */
export type Price = (usage: Usage) => number | undefined;

/** Dollars for a usage, by the author's price or the model's. Only a number that can be a price is one; undefined when nobody knows. */
export function priceOf(
  usage: Usage,
  { price, model }: { readonly price?: Price; readonly model: { readonly price?: Price } },
): number | undefined {
  const costUsd = (price ?? model.price)?.(usage);
  return costUsd !== undefined && Number.isFinite(costUsd) && costUsd >= 0 ? costUsd : undefined;
}

/** The usage that a provider reported: any field can be missing. */
export type ReportedUsage = Partial<Omit<Usage, "estimated">>;

/** No tokens yet. */
export const noUsage: Usage = { inputTokens: 0, outputTokens: 0 };

/** The sum of two usages; estimated when one of them is. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum: Writing<Usage> = {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
  };
  // Field by field: a loop over their names looks each of them up by its text, in every turn.
  if ((a.cachedInputTokens ?? b.cachedInputTokens) !== undefined)
    sum.cachedInputTokens = (a.cachedInputTokens ?? 0) + (b.cachedInputTokens ?? 0);
  if ((a.cacheWriteTokens ?? b.cacheWriteTokens) !== undefined)
    sum.cacheWriteTokens = (a.cacheWriteTokens ?? 0) + (b.cacheWriteTokens ?? 0);
  if ((a.reasoningTokens ?? b.reasoningTokens) !== undefined)
    sum.reasoningTokens = (a.reasoningTokens ?? 0) + (b.reasoningTokens ?? 0);
  if (a.estimated === true || b.estimated === true) sum.estimated = true;
  return sum;
}

/** More than any model can read or write in one call: a larger count is a fault of the provider. */
const absurdTokens = 100_000_000;

/** Completes what a provider reported with estimates from the number of characters that went in and out. */
export function completeUsage(
  reported: ReportedUsage | undefined,
  characters: { readonly input: number; readonly output: number },
): Usage {
  const input = plausible(reported?.inputTokens, characters.input);
  const output = plausible(reported?.outputTokens, characters.output);
  const usage: Writing<Usage> = {
    inputTokens: input ?? estimateTokens(characters.input),
    outputTokens: output ?? estimateTokens(characters.output),
  };
  const cached = plausible(reported?.cachedInputTokens);
  const written = plausible(reported?.cacheWriteTokens);
  const reasoning = plausible(reported?.reasoningTokens);
  if (cached !== undefined) usage.cachedInputTokens = cached;
  if (written !== undefined) usage.cacheWriteTokens = written;
  if (reasoning !== undefined) usage.reasoningTokens = reasoning;
  if (input === undefined || output === undefined) usage.estimated = true;
  return usage;
}

/** About how many tokens so many characters make: never zero for some text. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / 4);
}

/** A count that can be true: no tokens at all for some text cannot. */
function plausible(count: number | undefined, characters = 0): number | undefined {
  if (count === undefined || !Number.isSafeInteger(count) || count > absurdTokens) return undefined;
  return count > 0 || (count === 0 && characters === 0) ? count : undefined;
}
