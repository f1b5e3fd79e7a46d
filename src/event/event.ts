import type {
  FinishReason,
  ReplyMessage,
  ReportedResponse,
  ResultStatus,
  ToolResult,
} from "../message/message.ts";
import type { Usage } from "../message/usage.ts";
import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import type { BudgetField } from "../policy/account/budget.ts";
import type { Decision } from "../policy/decision.ts";
import type { Json } from "../util/json.ts";
import type { Outcome } from "./outcome.ts";

/**
 * An event of a run that is the same at every replay: a fact holds neither time of day nor randomness. Every
 * start has its end on every path, facts of calls come in the order of the reply, and `run-end` is last.
 */
export type Fact =
  | { readonly type: "run-start"; readonly agent: string; readonly input: Json }
  | {
      readonly type: "skill-chosen";
      readonly skill: string;
      /**
       * The chooser: caller, function, model or hook; `only` or `first` if the skill was the only one, or the first, that takes the
       * input.
       */
      readonly by?: "caller" | "function" | "only" | "type" | "model" | "first" | "hook";
      readonly confidence?: number;
      readonly rationale?: string;
    }
  | ({ readonly type: "turn-start" } & InTurn)
  | ({
      readonly type: "message-end";
      /** The reply; left out if the model call failed or was stopped. */
      readonly message?: ReplyMessage;
      /** Repairs of the reply's text that the driver needed to read its calls or its answer. */
      readonly repairs?: readonly string[];
      /** The ids of the calls whose results the answer repeats word for word: a driver wrote it, not a model. */
      readonly quotes?: readonly string[];
      readonly finishReason: FinishReason;
      /** The provider's own metadata on its reply: its id, its reason for the end, and its additions. */
      readonly response?: ReportedResponse;
      readonly driver: string;
      /** The milliseconds from sending the request to the end of the reply, as recorded. */
      readonly durationMs: number;
    } & InTurn)
  | ({
      readonly type: "usage-add";
      readonly usage: Usage;
      readonly total: Usage;
      readonly costUsd?: number;
    } & InTurn)
  | ({
      readonly type: "call-decided";
      readonly decision: Decision;
      /** Arguments that were changed without loss to fit the schema. */
      readonly coerced?: readonly string[];
      /** The author's reason for running a stranger's code without isolation. */
      readonly unenforced?: string;
    } & NamedCall)
  | ({
      readonly type: "approval-request";
      /** The whole question, as a person sees it. */
      readonly request: ApprovalRequest;
    } & NamedCall)
  | ({
      readonly type: "approval-answer";
      readonly approved: boolean;
      readonly reason?: string;
      /** `run`: it also holds for the same call later in this run. */
      readonly for?: "once" | "run";
      /** The arguments that may differ then. */
      readonly free?: readonly string[];
      /** The arguments with which the person replaced the model's. */
      readonly edited?: Json;
      /** The person who answered, if the answer named one. */
      readonly by?: string;
      /** True if nobody answered in time. */
      readonly expired?: true;
    } & InCall)
  /** A tool asked for access to something of the world. Told before its end. */
  | ({
      readonly type: "capability-checked";
      readonly resource: string;
      readonly granted: boolean;
      readonly reason?: string;
    } & InCall)
  | ({ readonly type: "tool-start" } & NamedCall)
  | ({
      readonly type: "tool-end";
      readonly result: ToolResult;
      /** The time that the tool ran, and its start relative to that of the run, as recorded. Both are 0 for a call that did not run. */
      readonly durationMs: number;
      readonly startedMs: number;
      /** The usage of the tool's own questions to the run's model (`llm`). Left out without any; the dollars are left out if no price is known. */
      readonly usage?: Usage;
      readonly costUsd?: number;
    } & NamedCall)
  /** The author's knowledge was read; it has no `tool-start` and no `tool-end`. */
  | ({
      readonly type: "knowledge-used";
      readonly result: ToolResult;
      readonly durationMs: number;
      /** As in `tool-end`. */
      readonly usage?: Usage;
      readonly costUsd?: number;
    } & NamedCall)
  /** A run inside a call of this one ended. */
  | ({ readonly type: "delegation-end"; readonly delegation: Delegation } & InCall)
  | ({
      readonly type: "budget-threshold";
      readonly field: BudgetField;
      readonly used: number;
      readonly limit: number;
    } & InTurn)
  | ({
      readonly type: "budget-extended";
      readonly field: BudgetField;
      readonly from: number;
      readonly to: number;
    } & InTurn)
  /** Old turns were removed from what is sent to the model. Token counts are estimates. */
  | ({
      readonly type: "compaction-end";
      readonly droppedTurns: number;
      readonly tokensBefore: number;
      readonly tokensAfter: number;
    } & InTurn)
  /** Hooks changed something: the changed fields, each with the name of the hook. */
  | ({
      readonly type: "hook-end";
      readonly place: string;
      readonly by: Readonly<Record<string, string>>;
      readonly callId?: string;
    } & InTurn)
  | ({
      readonly type: "retry-start";
      readonly reason: string;
      /** The number of the failed request, from 1; left out if the model replied and its reply could not be used. */
      readonly attempt?: number;
      /** The milliseconds until the next request. */
      readonly delayMs?: number;
    } & InTurn)
  | ({ readonly type: "turn-end" } & InTurn)
  | { readonly type: "run-end"; readonly outcome: Outcome; readonly usage: Usage };

interface InTurn {
  readonly turn: number;
}

interface InCall extends InTurn {
  readonly callId: string;
}

interface NamedCall extends InCall {
  readonly name: string;
  readonly arguments: Json;
}

/** A run inside another one: its agent, its end, its usage. */
export interface Delegation {
  readonly agent: string;
  readonly runId: string;
  /** 1 for a run inside an outermost run. */
  readonly depth: number;
  readonly outcome: Outcome["type"];
  readonly usage: Usage;
}

/** An event for watchers alone, which is never part of a replay. For a slow reader events are merged: `merged` says how many became one. */
export type LiveEvent =
  | ({
      readonly type: "message-start";
      readonly driver: string;
      /** The id of the model that is asked. Left out if a driver decides by itself whether to ask one. */
      readonly model?: string;
    } & InTurn)
  | ({ readonly type: "text-delta"; readonly text: string } & Merged & InTurn)
  | ({ readonly type: "reasoning-delta"; readonly text: string } & Merged & InTurn)
  | ({ readonly type: "call-delta"; readonly name: string; readonly text: string } & Merged & InCall)
  /** The answer so far, if it is held to a schema. A snapshot; complete parts are shared with later ones. */
  | ({ readonly type: "output-delta"; readonly partial: Json } & Merged & InTurn)
  /** A run inside this one began. Its own events follow under its own run id. */
  | ({
      readonly type: "delegation-start";
      readonly delegation: Pick<Delegation, "agent" | "runId" | "depth">;
    } & InCall)
  | ({ readonly type: "tool-progress"; readonly value: Json } & Merged & InCall)
  /**
   * The state of a call that facts tell later, because they keep the order of the reply: it waits for its turn, it begins after such a
   * wait, or it has ended before an earlier call.
   */
  | ({
      readonly type: "call-state";
      readonly state: "waits" | "runs" | "ended";
      /** The end of the call, and the time that it ran. */
      readonly status?: ResultStatus;
      readonly durationMs?: number;
    } & InCall);

interface Merged {
  readonly merged?: number;
}

/** An event of a run: a fact or a live event. */
export type RunEvent = Fact | LiveEvent;

/** An event with its envelope (run, agent, number, time), as a watcher gets it. */
export type AgentEvent = RunEvent & Envelope;

/** The fields that watchers get with an event. `seq` counts facts; a live event has the number of the fact before it. */
export interface Envelope {
  readonly seq: number;
  /** The agent whose run it is, or the name of the composition. */
  readonly agent: string;
  readonly runId: string;
  /** The run around this one. */
  readonly parentRunId?: string;
  /** The id of the run's session. */
  readonly sessionId?: string;
  /** The hash of the intent of the run, once it is declared. */
  readonly intent?: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * Your listeners, one for each type of event: `{ "tool-end": ({ name, arguments: args, result }) => … }`.
 *
 * @example
 * ```ts
 * import { agent } from "writ";
 * import type { Listeners } from "writ/doors";
 *
 * const on: Listeners = { "tool-end": ({ name, result }) => console.log(name, result.text) };
 * export const helpful = agent({ name: "helpful", model: "ollama/qwen2.5:7b", on });
 * ```
 */
export type Listeners = {
  readonly [Type in AgentEvent["type"]]?: (event: Extract<AgentEvent, { readonly type: Type }>) => unknown;
};

/**
 * Tells whether an event is a fact. All other events are live.
 *
 * @example
 * ```ts
 * import { isFact, type RunEvent } from "writ";
 *
 * export const facts = (events: readonly RunEvent[]): readonly RunEvent[] => events.filter(isFact);
 * ```
 */
export function isFact(event: RunEvent): event is Fact {
  const { type } = (event as Partial<RunEvent> | undefined | null) ?? {};
  return type !== undefined && kinds[type] === "fact";
}

/** Tells whether a type of event exists. */
export function isEventType(type: string): type is RunEvent["type"] {
  return Object.hasOwn(kinds, type);
}

const kinds: {
  readonly [Type in RunEvent["type"]]: Type extends Fact["type"] ? "fact" : "live";
} = {
  "run-start": "fact",
  "skill-chosen": "fact",
  "turn-start": "fact",
  "message-end": "fact",
  "usage-add": "fact",
  "call-decided": "fact",
  "approval-request": "fact",
  "approval-answer": "fact",
  "capability-checked": "fact",
  "tool-start": "fact",
  "tool-end": "fact",
  "knowledge-used": "fact",
  "delegation-end": "fact",
  "budget-threshold": "fact",
  "budget-extended": "fact",
  "compaction-end": "fact",
  "hook-end": "fact",
  "retry-start": "fact",
  "turn-end": "fact",
  "run-end": "fact",
  "message-start": "live",
  "text-delta": "live",
  "reasoning-delta": "live",
  "call-delta": "live",
  "output-delta": "live",
  "delegation-start": "live",
  "tool-progress": "live",
  "call-state": "live",
};

/** The types of all events. */
export const eventTypes: readonly string[] = Object.keys(kinds);
