import type * as Prices from "@pydantic/genai-prices";
import { checkArguments } from "../../error/check-shape.ts";
import type { Price, Usage } from "../../message/usage.ts";
import { string } from "../../util/shape.ts";
import { requireInstalled } from "../peer.ts";
import { hostedProviders, isHosted } from "./providers.ts";

/** The parts of the price table that are used. */
type PriceTable = Pick<typeof Prices, "calcPrice">;

/** Depends on: whether the package is installed when a price is first asked for. */
let table: PriceTable | null | undefined;

/**
 * Returns the list price of a model of a hosted provider, from the package `@pydantic/genai-prices` if it is installed. Returns undefined if the
 * package is absent or does not know the model: writ never takes an unknown price for zero. Tokens that were read from a cache or written into it have
 * prices of their own.
 *
 * @example
 * ```ts
 * import { openai } from "@ai-sdk/openai";
 * import { aiSdk } from "writ/ai-sdk";
 * import { listPrice } from "writ/models";
 *
 * export const model = aiSdk(openai("gpt-5"), { price: listPrice("openai/gpt-5") });
 * ```
 */
export function listPrice(name: string): Price | undefined {
  checkArguments("listPrice()", { name }, { name: string });
  const [, provider = "", model = ""] = /^([a-z]+)[/:](.+)$/.exec(name) ?? [];
  const providerId = isHosted(provider) ? hostedProviders[provider].prices : undefined;
  if (providerId === undefined) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the package's own types promise it
  table ??= (requireInstalled("@pydantic/genai-prices") as PriceTable | undefined) ?? null;
  const known = table;
  if (known === null || known.calcPrice({ input_tokens: 0 }, model, { providerId }) === null)
    return undefined;
  return (usage) => known.calcPrice(fieldsOf(usage), model, { providerId })?.total_price;
}

/** The counts for the table, which takes tokens of the cache as a part of the input, and nothing else. */
function fieldsOf(usage: Usage): Readonly<Record<string, number>> {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 } = usage;
  const read = Math.min(cachedInputTokens, inputTokens);
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_read_tokens: read,
    cache_write_tokens: Math.min(cacheWriteTokens, inputTokens - read),
  };
}
