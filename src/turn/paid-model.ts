import type { Host } from "../journal/host.ts";
import type { RunAccounts } from "../run/accounts.ts";
import { charactersOf, charactersOfFile } from "../message/message.ts";
import { filesIn, sizedMessage } from "../message/file-part.ts";
import {
  completeUsage,
  estimateTokens,
  noUsage,
  priceOf,
  type Price,
  type ReportedUsage,
  type Usage,
} from "../message/usage.ts";
import type { Delta, Model, ModelRequest, ModelSettings, StreamOptions } from "../model/model.ts";
import { withoutRefusedBound } from "../model/output-bound.ts";
import { type ModelTimeout, timed } from "../model/timeout.ts";
import type { Budget } from "../policy/account/budget.ts";

/** OpenAI's responses take no smaller bound. */
const leastBound = 16;

/** Limits what the model may write to the tokens that are left, or to a few if those are fewer: providers refuse a smaller bound. */
export function withinTokens(settings: ModelSettings, left: number): ModelSettings {
  return left === Infinity ? settings : atMost(settings, Math.max(leastBound, Math.floor(left)));
}

function atMost(settings: ModelSettings, tokens: number): ModelSettings {
  return { ...settings, maxOutputTokens: Math.min(settings.maxOutputTokens ?? Infinity, tokens) };
}

/** The accounts and the price by which a run pays for its model. */
export interface Paying {
  readonly accounts?: RunAccounts;
  readonly price?: Budget["price"];
}

/** The bounds of a run's requests: their cost, and the longest silence of the model. */
export interface AskingBounds extends Paying {
  readonly timeout?: ModelTimeout;
  readonly host: Pick<Host, "timer">;
}

/** The model as a run asks it. */
export function boundedModel(model: Model, bounds: AskingBounds): Model {
  const { timeout, host } = bounds;
  const paid = paidModel(withoutRefusedBound(model), bounds);
  return timeout === undefined ? paid : timed(paid, timeout, host);
}

/** The model as the accounts of a run pay for it: each reply is reserved before the request, and its usage is booked when it ends. */
function paidModel(model: Model, { accounts, price }: Paying): Model {
  if (accounts === undefined) return model;
  const { id, features } = model;
  const priced: Price = (usage) => priceOf(usage, { model, price });
  return {
    id,
    features,
    stream: (request, options) => paidReply({ model, accounts, priced }, request, options),
  };
}

interface PaidModel {
  readonly model: Model;
  readonly accounts: RunAccounts;
  readonly priced: Price;
}

async function* paidReply(
  { model, accounts, priced }: PaidModel,
  request: ModelRequest,
  options: StreamOptions,
): AsyncGenerator<Delta> {
  const { signal } = options;
  const { settings } = request;
  const inputTokens = estimateTokens(charactersIn(request));
  const priceAt = (input: number, output: number): number | undefined =>
    priced({ inputTokens: input, outputTokens: output });
  const held = await accounts.hold({ inputTokens, most: settings.maxOutputTokens, price: priceAt });
  const reply = new ReplyMeter(request);
  const settle = async (): Promise<void> => {
    const { tokens, usage } = reply.spent();
    const atMost = priceAt(inputTokens, held.outputTokens) ?? 0;
    await held.settle({ tokens, costUsd: tokens === 0 ? 0 : (priced(usage) ?? atMost) });
  };
  // A model that ignores its signal does not hold up its run: the usage so far is booked when the run is stopped.
  const stopped = (): void => void settle().catch(() => undefined);
  signal.addEventListener("abort", stopped, { once: true });
  try {
    if (signal.aborted) stopped();
    signal.throwIfAborted();
    for await (const delta of model.stream(
      { ...request, settings: atMost(settings, held.outputTokens) },
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

/** The length of everything that counts as input: messages, tools, and the form of the reply. A file counts as providers count it, not by its bytes. */
function charactersIn({ messages, prompt, tools, format }: ModelRequest): number {
  const files = messages.flatMap(filesIn);
  const said = files.length === 0 ? messages : messages.map(sizedMessage);
  const characters = JSON.stringify([prompt ?? said, tools, format]).length;
  return files.reduce((sum, file) => sum + charactersOfFile(file), characters);
}

/** Counts a reply while it is written. */
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
    else if (delta.type === "file") this.written += charactersOfFile(delta.part);
    else if (delta.type === "call-end") this.written += JSON.stringify(delta.arguments ?? "").length;
  }

  /** The usage of the reply: nothing if the provider never began to answer, an estimate if it did not report any. */
  spent(): { readonly tokens: number; readonly usage: Usage } {
    if (!this.hasBegun) return { tokens: 0, usage: noUsage };
    const input = this.request.messages.reduce((sum, message) => sum + charactersOf(message), 0);
    const usage = completeUsage(this.reported, { input, output: this.written });
    return { tokens: usage.inputTokens + usage.outputTokens, usage };
  }
}
