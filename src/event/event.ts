import type { FinishReason, ReplyMessage, ToolResult } from "../message/message.ts";
import type { Usage } from "../message/usage.ts";
import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import type { BudgetField } from "../policy/account/budget.ts";
import type { Decision } from "../policy/decision.ts";
import type { Json } from "../util/json.ts";
import type { Outcome } from "./outcome.ts";

/**
 * What happened, told the same way at every replay: facts hold no time of day and no randomness. Every start has its end on every path,
 * calls are told in the order of the reply, and `run-end` is last.
 */
export type Fact =
  | { readonly type: "run-start"; readonly agent: string; readonly input: Json }
  | {
      readonly type: "skill-chosen";
      readonly skill: string;
      /** Why this one: the caller named it, `selectSkill` did, it is the only one, or the first, that takes the input, or the model chose. */
      readonly by?: "caller" | "function" | "only" | "type" | "model" | "first" | "hook";
      readonly confidence?: number;
      readonly rationale?: string;
    }
  | { readonly type: "turn-start"; readonly turn: number }
  | {
      readonly type: "message-end";
      readonly turn: number;
      /** The reply; left out when the model call failed or was stopped. */
      readonly message?: ReplyMessage;
      /** What the driver had to mend in the text of the reply to read its calls or its answer. */
      readonly repairs?: readonly string[];
      readonly finishReason: FinishReason;
      readonly driver: string;
      /** From sending the request to the end of the reply, as recorded. */
      readonly durationMs: number;
    }
  | {
      readonly type: "usage-add";
      readonly turn: number;
      readonly usage: Usage;
      readonly total: Usage;
      readonly costUsd?: number;
    }
  | {
      readonly type: "call-decided";
      readonly turn: number;
      readonly callId: string;
      readonly name: string;
      readonly arguments: Json;
      readonly decision: Decision;
      /** Arguments that were changed without loss to fit the schema. */
      readonly coerced?: readonly string[];
      /** Why the author lets the tool, which is code of strangers, run without isolation. */
      readonly unenforced?: string;
    }
  | {
      readonly type: "approval-request";
      readonly turn: number;
      readonly callId: string;
      readonly name: string;
      readonly arguments: Json;
      /** The whole question, as a person is asked it. */
      readonly request: ApprovalRequest;
    }
  | {
      readonly type: "approval-answer";
      readonly turn: number;
      readonly callId: string;
      readonly approved: boolean;
      readonly reason?: string;
      /** It holds for the same call again in this run. */
      readonly for?: "once" | "run";
      /** What the person put in the place of the model's arguments. */
      readonly edited?: Json;
    }
  | {
      /** A tool looked at whether it may use something of the world. Told before its end. */
      readonly type: "capability-checked";
      readonly turn: number;
      readonly callId: string;
      readonly resource: string;
      readonly granted: boolean;
      readonly reason?: string;
    }
  | {
      readonly type: "tool-start";
      readonly turn: number;
      readonly callId: string;
      readonly name: string;
      readonly arguments: Json;
    }
  | {
      readonly type: "tool-end";
      readonly turn: number;
      readonly callId: string;
      readonly name: string;
      readonly arguments: Json;
      readonly result: ToolResult;
      /** How long the tool ran, and when it began after the run did, as recorded. Both 0 for a call that did not run. */
      readonly durationMs: number;
      readonly startedMs: number;
    }
  | {
      /** The author's knowledge was read; it has no `tool-start` and no `tool-end`. */
      readonly type: "knowledge-used";
      readonly turn: number;
      readonly callId: string;
      readonly name: string;
      readonly arguments: Json;
      readonly result: ToolResult;
      readonly durationMs: number;
    }
  | {
      /** A run inside a call of this one ended. */
      readonly type: "delegation-end";
      readonly turn: number;
      readonly callId: string;
      readonly delegation: Delegation;
    }
  | {
      readonly type: "budget-threshold";
      readonly turn: number;
      readonly field: BudgetField;
      readonly used: number;
      readonly limit: number;
    }
  | {
      readonly type: "budget-extended";
      readonly turn: number;
      readonly field: BudgetField;
      readonly from: number;
      readonly to: number;
    }
  | {
      /** Old turns were taken out of what the model is sent. The tokens are estimates. */
      readonly type: "compaction-end";
      readonly turn: number;
      readonly droppedTurns: number;
      readonly tokensBefore: number;
      readonly tokensAfter: number;
    }
  | {
      /** Hooks changed something: which fields, and by which hook. */
      readonly type: "hook-end";
      readonly turn: number;
      readonly place: string;
      readonly by: Readonly<Record<string, string>>;
      readonly callId?: string;
    }
  | {
      readonly type: "retry-start";
      readonly turn: number;
      readonly reason: string;
      /** Which request failed, from 1; not there when the model replied, and its reply could not be used. */
      readonly attempt?: number;
      /** After how many milliseconds it is asked again. */
      readonly delayMs?: number;
    }
  | { readonly type: "turn-end"; readonly turn: number }
  | { readonly type: "run-end"; readonly outcome: Outcome; readonly usage: Usage };

/** A run inside another one: who ran, how it ended, what it used. */
export interface Delegation {
  readonly agent: string;
  readonly runId: string;
  /** 1 for a run inside a run that nobody called. */
  readonly depth: number;
  readonly outcome: Outcome["type"];
  readonly usage: Usage;
}

/** What is only told while somebody watches; never part of a replay. Merged when the reader is slow: `merged` says how many became one. */
export type LiveEvent =
  | { readonly type: "message-start"; readonly turn: number; readonly driver: string }
  | { readonly type: "text-delta"; readonly turn: number; readonly text: string; readonly merged?: number }
  | {
      readonly type: "reasoning-delta";
      readonly turn: number;
      readonly text: string;
      readonly merged?: number;
    }
  | {
      readonly type: "call-delta";
      readonly turn: number;
      readonly callId: string;
      readonly name: string;
      readonly text: string;
      readonly merged?: number;
    }
  | {
      /** What of the answer can be read so far, when it is held to a schema. A snapshot; parts that are complete are shared with later ones. */
      readonly type: "output-delta";
      readonly turn: number;
      readonly partial: Json;
      readonly merged?: number;
    }
  | {
      /** A run inside this one began. Its own events follow under its own run id. */
      readonly type: "delegation-start";
      readonly turn: number;
      readonly callId: string;
      readonly delegation: Pick<Delegation, "agent" | "runId" | "depth">;
    }
  | {
      readonly type: "tool-progress";
      readonly turn: number;
      readonly callId: string;
      readonly value: Json;
      readonly merged?: number;
    };

/** Anything a run tells. */
export type RunEvent = Fact | LiveEvent;

/** What a watcher gets: the event with its envelope. */
export type AgentEvent = RunEvent & Envelope;

/** What is put on an event at the edge. `seq` counts facts; a live event carries the number of the last fact before it. */
export interface Envelope {
  readonly seq: number;
  readonly runId: string;
  /** The run around this one. */
  readonly parentRunId?: string;
  /** The hash of the intent of the run, from when it is declared. */
  readonly intent?: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * Tells facts from live events.
 *
 * @example
 * ```ts
 * import { isFact, type RunEvent } from "writ";
 *
 * export const facts = (events: readonly RunEvent[]): readonly RunEvent[] => events.filter(isFact);
 * ```
 */
export function isFact(event: RunEvent): event is Fact {
  return !liveTypes.has(event.type);
}

const liveTypes: ReadonlySet<RunEvent["type"]> = new Set<LiveEvent["type"]>([
  "message-start",
  "text-delta",
  "reasoning-delta",
  "call-delta",
  "output-delta",
  "delegation-start",
  "tool-progress",
]);
