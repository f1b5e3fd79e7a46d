import { WritError } from "../error/writ-error.ts";
import type { AskOnce } from "../run/powers.ts";
import { asRuntime } from "../run/around.ts";
import { type Slots, slots } from "../util/slots.ts";
import { withoutSecrets } from "../run/secrets.ts";
import { labelOfReply } from "../message/message.ts";
import { completeUsage, priceOf, type Usage } from "../message/usage.ts";
import { type ChatReply, chatWith } from "../model/chat.ts";
import { askPatiently } from "../model/retry.ts";
import type { Purse } from "../policy/account/purse.ts";
import { interruptBy, untilStopped } from "../util/interrupt.ts";
import type { LoopOptions } from "./options.ts";
import { boundedModel, withinTokens } from "./paid-model.ts";

/** The parts of a run that let its tools ask its model. */
export type AskingOnce = Pick<
  LoopOptions,
  "model" | "price" | "accounts" | "settings" | "gate" | "host" | "limits" | "retry" | "timeout"
>;

/**
 * Asks the run's model for its tools: once, without tools, within the bounds of the run. With such bounds, questions wait for each other, because
 * only an answered question has a known cost. The cost of a question that nobody waits for is estimated from its length. @throws WritError
 * `delegation-exhausted`, the reason of the signal, and the error of the model's adapter
 */
export function askingOnce(options: AskingOnce, purse: Purse): AskOnce {
  let turns: Slots | undefined;
  let asked = 0;
  return async (question, { signal, spend, saw }) => {
    const { model, price, settings, host, retry } = options;
    asked += 1;
    if (asked > options.limits.llmCalls) throw tooMany(options);
    const { stop, unlink } = interruptBy(signal);
    const entering = purse.isBounded ? (turns ??= slots(1)).enter(undefined) : undefined;
    const prompt = withoutSecrets(question, host);
    function book(usage: Usage): void {
      const spending = { usage, costUsd: priceOf(usage, { price, model }) ?? Infinity, toolCalls: 0 };
      purse.spend(spending);
      spend(spending);
    }
    try {
      if (entering !== undefined) await untilStopped(entering, stop);
      signal.throwIfAborted();
      const ask = (): Promise<ChatReply> => {
        const excess = purse.turnExcess();
        if (excess !== undefined) throw exhausted(options, excess.message);
        const request = { messages: prompt, settings: withinTokens(settings, purse.tokensLeft()), signal };
        return asRuntime(host, () => chatWith(boundedModel(model, options), request, book));
      };
      const asking = askPatiently(ask, { model, retry, host, stop });
      const reply = await untilStopped(asking, stop).catch((error: unknown) => {
        if (stop.reason === undefined) throw error;
        return "stopped" as const;
      });
      if (reply === "stopped") {
        book(completeUsage(undefined, { input: prompt.length, output: 0 }));
        throw signal.reason;
      }
      book(reply.usage);
      saw(labelOfReply(reply.message));
      return reply.text;
    } finally {
      unlink();
      entering?.then((leave) => leave()).catch(() => undefined);
    }
  };
}

function tooMany(options: AskingOnce): WritError<"delegation-exhausted"> {
  return exhausted(options, `exceeded budget of ${options.limits.llmCalls} calls of \`llm\``);
}

function exhausted({ gate }: AskingOnce, reason: string): WritError<"delegation-exhausted"> {
  return new WritError("delegation-exhausted", { name: gate.agent, reason });
}
