import { WritError } from "../error/writ-error.ts";
import { asRuntime } from "../executor/call-powers.ts";
import { type ChatReply, chatWith } from "../model/chat.ts";
import type { Purse, Spending } from "../policy/purse.ts";
import type { LoopOptions } from "./options.ts";
import { priceOf } from "./price.ts";

/** What a tool's question to the run's model is asked with. */
export interface AskingOnce extends Pick<LoopOptions, "model" | "price" | "settings" | "gate" | "host"> {
  readonly purse: Purse;
  readonly signal: AbortSignal;
}

/** Asks the run's model for a tool: once, without tools, within the bounds of the run. @throws WritError `delegation-exhausted`, and what the model's adapter throws */
export async function askOnce(
  prompt: string,
  { model, price, settings, gate, host, purse, signal }: AskingOnce,
): Promise<{ readonly text: string; readonly spending: Spending }> {
  const excess = purse.turnExcess();
  if (excess !== undefined)
    throw new WritError("delegation-exhausted", { name: gate.agent, reason: excess.message });
  const asking = (): Promise<ChatReply> => chatWith(model, { messages: prompt, settings, signal });
  const { text, usage } = await asRuntime(host, asking);
  const costUsd = priceOf(usage, { price, model }) ?? Infinity;
  const spending = { usage, costUsd, toolCalls: 0 };
  purse.spend(spending);
  return { text, spending };
}
