import type { DriverChoice } from "../src/driver/choose.ts";
import { isWritError, messageOf } from "../src/error/writ-error.ts";
import { type Message, userMessage } from "../src/message/message.ts";
import { addUsage, noUsage, type Usage } from "../src/message/usage.ts";
import type { Model, ModelSettings } from "../src/model/model.ts";
import { type AllowList, allowList } from "../src/policy/allow-list.ts";
import { driversFor } from "../src/turn/ask-model.ts";
import { tool } from "../src/tool/tool.ts";
import { askOnce, type Replied } from "./ask-once.ts";
import type { BfclCase } from "./bfcl/cases.ts";
import { type JudgedCall, type JudgedOutput, wrongWith } from "./bfcl/judge.ts";
import { type Figures, type ModelScore, scoreOf, tallyOf } from "./replay-score.ts";

export interface LiveOptions {
  readonly model: Model;
  readonly driver: DriverChoice;
  readonly cases: readonly BfclCase[];
  readonly settings: ModelSettings;
  readonly signal?: AbortSignal;
  /** Told each reply once it is judged. */
  readonly onJudged?: (judged: JudgedOutput) => void;
}

/** Figures of a model through a driver. Shares go from 0 to 1. */
export interface LiveReport extends Figures {
  /** Count of replies that were judged. */
  readonly outputs: number;
  /** The share of replies that say something the loop can act on: calls that can be read, or an answer. */
  readonly valid: number | null;
  readonly byCategory: ModelScore["byCategory"];
  /** The drivers that were used: more than one where `auto` fell back. */
  readonly drivers: readonly string[];
  readonly usage: Usage;
  readonly seconds: number;
  /** Cases that cannot be asked, with the reason: their tools have names or schemas that no provider takes. */
  readonly skipped: readonly string[];
}

/**
 * Asks a model every case, in one turn each, and judges its calls. A reply that is a violation counts as one without calls.
 *
 * @throws WritError what the model's adapter throws. An aborted request throws the signal's reason.
 */
export async function runLive(options: LiveOptions): Promise<LiveReport> {
  const { model, driver, cases, settings, signal, onJudged } = options;
  const tally = tallyOf();
  const drivers = new Set<string>();
  const skipped: string[] = [];
  let usage = noUsage;
  let valid = 0;
  let durationMs = 0;
  for (const test of cases) {
    const allowed = toolsOf(test);
    if (typeof allowed === "string") {
      skipped.push(`${test.id}: ${allowed}`);
      continue;
    }
    const messages = messagesOf(test);
    const reply = await askOnce({
      model,
      drivers: driversFor(driver, model),
      messages,
      allowed,
      settings,
      signal,
    });
    const calls = reply.calls.map(judgedCall);
    const wrong = wrongWith(test, calls);
    drivers.add(reply.driver);
    usage = addUsage(usage, reply.usage);
    durationMs += reply.durationMs;
    if (isValid(reply)) valid += 1;
    tally.add(test.category, wrong === undefined);
    onJudged?.({ by: reply.driver, test, said: reply.said, calls, wrong });
  }
  const { accuracy, restraint, mean, outputs, byCategory } = scoreOf([
    { name: model.id, tally, official: new Map() },
  ]);
  return {
    accuracy,
    restraint,
    mean,
    outputs,
    valid: outputs === 0 ? null : valid / outputs,
    byCategory,
    drivers: [...drivers],
    usage,
    seconds: durationMs / 1000,
    skipped,
  };
}

function isValid({ type, calls }: Replied): boolean {
  return type !== "violation" && calls.every(({ malformed }) => malformed === undefined);
}

function judgedCall({ name, arguments: args }: Replied["calls"][number]): JudgedCall {
  return { name, arguments: args };
}

/** The tools of a case, which are never run; or the reason why they cannot be offered. */
function toolsOf({ tools }: BfclCase): AllowList | string {
  try {
    return allowList(
      "case",
      tools.map((described) => tool({ ...described, execute: () => null })),
    );
  } catch (error) {
    if (isWritError(error)) return messageOf(error);
    throw error;
  }
}

function messagesOf({ messages }: BfclCase): readonly Message[] {
  return messages.map(({ role, text }): Message => {
    if (role === "user") return userMessage(text);
    return role === "system" ? { role, text } : { role, parts: [{ type: "text", text }] };
  });
}
