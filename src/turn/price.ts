import type { Usage } from "../message/usage.ts";
import type { LoopOptions } from "./options.ts";

/** Dollars for a usage, by the author's price or the model's. Only a number that can be a price is one; undefined when nobody knows. */
export function priceOf(
  usage: Usage,
  { price, model }: Pick<LoopOptions, "price" | "model">,
): number | undefined {
  const costUsd = (price ?? model.price)?.(usage);
  return costUsd !== undefined && Number.isFinite(costUsd) && costUsd >= 0 ? costUsd : undefined;
}
