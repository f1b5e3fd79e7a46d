import type { Usage } from "../message/usage.ts";
import type { ModelSettings } from "../model/model.ts";
import type { LoopOptions } from "./options.ts";

/** Dollars for a usage, by the author's price or the model's. Only a number that can be a price is one; undefined when nobody knows. */
export function priceOf(
  usage: Usage,
  { price, model }: Pick<LoopOptions, "price" | "model">,
): number | undefined {
  const costUsd = (price ?? model.price)?.(usage);
  return costUsd !== undefined && Number.isFinite(costUsd) && costUsd >= 0 ? costUsd : undefined;
}

/** Bounds what the model may write by the tokens that are left. */
export function withinTokens(settings: ModelSettings, left: number): ModelSettings {
  if (left === Infinity) return settings;
  return {
    ...settings,
    maxOutputTokens: Math.max(1, Math.min(settings.maxOutputTokens ?? Infinity, Math.floor(left))),
  };
}
