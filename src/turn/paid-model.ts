import type { RunAccounts } from "../run/accounts.ts";
import { charactersOf } from "../message/message.ts";
import { completeUsage, estimateTokens, type ReportedUsage } from "../message/usage.ts";
import type { Delta, Model, ModelRequest, StreamOptions } from "../model/model.ts";
import type { Budget } from "../policy/account/budget.ts";
import { priceOf, withinTokens } from "./usage.ts";

/** The means to pay for a run's model. */
export interface Paying {
  readonly accounts?: RunAccounts;
  readonly price?: Budget["price"];
}

/** The model as the accounts of a run pay for it: each reply is reserved before it is asked for, and what it used is booked when it ends. */
export function paidModel(model: Model, { accounts, price }: Paying): Model {
  if (accounts === undefined) return model;
  const { id, features } = model;
  const priced = (inputTokens: number, outputTokens: number): number | undefined =>
    priceOf({ inputTokens, outputTokens }, { model, price });
  return {
    id,
    features,
    stream: (request, options) => paidReply({ model, accounts, priced }, request, options),
  };
}

interface PaidModel {
  readonly model: Model;
  readonly accounts: RunAccounts;
  readonly priced: (inputTokens: number, outputTokens: number) => number | undefined;
}

async function* paidReply(
  { model, accounts, priced }: PaidModel,
  request: ModelRequest,
  options: StreamOptions,
): AsyncGenerator<Delta> {
  const { signal } = options;
  const { settings } = request;
  const inputTokens = estimateTokens(textOf(request).length);
  const held = await accounts.hold({ inputTokens, most: settings.maxOutputTokens, price: priced });
  const reply = new ReplyMeter(request);
  const settle = async (): Promise<void> => {
    const { tokens, usage } = reply.spent();
    const atMost = priced(inputTokens, held.outputTokens) ?? 0;
    await held.settle({ tokens, costUsd: tokens === 0 ? 0 : (priced(...usage) ?? atMost) });
  };
  // A model that does not listen keeps its run from nothing: what it wrote until then is booked when the run is stopped.
  const stopped = (): void => void settle().catch(() => undefined);
  signal.addEventListener("abort", stopped, { once: true });
  try {
    if (signal.aborted) stopped();
    signal.throwIfAborted();
    for await (const delta of model.stream(
      { ...request, settings: withinTokens(settings, held.outputTokens) },
      options,
    )) {
      reply.add(delta);
      yield delta;
    }
  } finally {
    signal.removeEventListener("abort", stopped);
    await settle();
  }
}

/** All that counts as input: what is said, the tools, and the form of the reply. */
function textOf({ messages, prompt, tools, format }: ModelRequest): string {
  return JSON.stringify([prompt ?? messages, tools, format ?? ""]);
}

/** Counts a reply while it comes. */
class ReplyMeter {
  private readonly request: ModelRequest;
  private written = 0;
  private hasBegun = false;
  private reported: ReportedUsage | undefined;

  constructor(request: ModelRequest) {
    this.request = request;
  }

  add(delta: Delta): void {
    this.hasBegun = true;
    if (delta.type === "end") this.reported = delta.usage;
    else if ("text" in delta) this.written += delta.text.length;
    else if (delta.type === "call-end") this.written += JSON.stringify(delta.arguments ?? "").length;
  }

  /** Its usage: nothing where the provider never began to answer, an estimate where it did not say. */
  spent(): { readonly tokens: number; readonly usage: readonly [input: number, output: number] } {
    if (!this.hasBegun) return { tokens: 0, usage: [0, 0] };
    const input = this.request.messages.reduce((sum, message) => sum + charactersOf(message), 0);
    const { inputTokens, outputTokens } = completeUsage(this.reported, { input, output: this.written });
    return { tokens: inputTokens + outputTokens, usage: [inputTokens, outputTokens] };
  }
}
