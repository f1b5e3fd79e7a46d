import type { AgentEvent } from "../../event/event.ts";
import { addUsage, noUsage, type Usage } from "../../message/usage.ts";
import type { SessionStore } from "../../session/session-store.ts";
import type { Output } from "../output.ts";
import type { AnyAgent } from "../load-agent.ts";

/** The tokens and dollars of the questions so far. */
export interface Spent {
  readonly questions: number;
  readonly usage: Usage;
  readonly costUsd: number;
  /** True if a request had no known price, so that dollars are missing. */
  readonly isPriceMissing: boolean;
}

/** The current state of a conversation at the terminal. */
export interface Talk {
  readonly agent: AnyAgent;
  /** The session that keeps it. */
  readonly id: string;
  /** The tools whose calls run without a question. */
  readonly approved: ReadonlySet<string>;
  readonly spent: Spent;
}

/** The parts that stay the same during a conversation. */
export interface ChatPlace {
  readonly store: SessionStore;
  readonly output: Output;
  readonly verbose: boolean;
}

/** The spending before the first question. */
export const nothingSpent: Spent = { questions: 0, usage: noUsage, costUsd: 0, isPriceMissing: false };

/** Adds the spending that an event tells, including events of runs inside. */
export function addSpent(spent: Spent, event: AgentEvent): Spent {
  if (event.type !== "usage-add") return spent;
  return {
    ...spent,
    usage: addUsage(spent.usage, event.usage),
    costUsd: spent.costUsd + (event.costUsd ?? 0),
    isPriceMissing: spent.isPriceMissing || event.costUsd === undefined,
  };
}

/** The spending so far, for people. */
export function spentText({ questions, usage, costUsd, isPriceMissing }: Spent): string {
  const { inputTokens, outputTokens, estimated } = usage;
  const tokens = `${estimated === true ? "about " : ""}${inputTokens} tokens in, ${outputTokens} out`;
  const known = costUsd === 0 ? "" : `$${costUsd.toFixed(costUsd < 0.01 ? 6 : 2)}`;
  const missing = known === "" ? "the price is unknown" : `${known} and requests whose price is unknown`;
  const cost = isPriceMissing ? missing : known || "$0";
  return `${questions} asked here: ${tokens}, ${questions === 0 ? "$0" : cost}`;
}
