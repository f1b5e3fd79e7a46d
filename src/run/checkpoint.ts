import type { Outcome } from "../event/outcome.ts";
import type { FinishReason, ToolCall, ToolResult } from "../message/message.ts";
import type { TranscriptJson } from "../message/transcript.ts";
import type { Usage } from "../message/usage.ts";
import type { Intent } from "../policy/knowledge/intent.ts";
import type { Ledger } from "../policy/account/budget.ts";
import type { Act } from "../tool/acts.ts";
import type { Mode } from "../tool/tool.ts";
import { isJsonObject, type Json, toJson } from "../util/json.ts";
import {
  anything,
  boolean,
  count,
  jsonObject,
  list,
  misfitText,
  object,
  oneOf,
  optional,
  orNull,
  refined,
  string,
  whole,
} from "../util/shape.ts";

/** The calls of one turn with their results. */
export interface CallRound {
  readonly calls: readonly ToolCall[];
  readonly results: readonly ToolResult[];
}

/** The last rounds of a run, and for each period how many rounds in a row repeated it. */
export interface Repeats {
  readonly rounds: readonly CallRound[];
  readonly streaks: readonly number[];
}

/** The counts of what the model may do only so often in a row. */
export interface InARow {
  readonly repeats: Repeats;
  /** Replies that could not be used. */
  readonly violations: number;
  /** Replies that were half of a turn. */
  readonly pending: number;
}

/**
 * A run between two turns, as JSON: every call has its result and nothing is under way. It can be stored anywhere, and `agent.resume(checkpoint)`
 * resumes the run from it, on another machine too.
 */
export interface Checkpoint {
  readonly runId: string;
  readonly agent: string;
  readonly skill: string;
  readonly input: Json;
  /** The purpose of the run and the bounds that hold it: checked when the run is resumed. */
  readonly intent: Intent;
  /** `running` between two turns; after the last turn, how the run ended. */
  readonly status: "running" | Outcome["type"];
  /** The answer of the run, if it gave one: a run resumed from here gives it again. */
  readonly answer?: { readonly content: Json; readonly finishReason: FinishReason };
  readonly transcript: TranscriptJson;
  readonly ledger: Ledger;
  readonly usage: Usage;
  readonly driver: number;
  /** The changes that calls made for the rest of the run, in order. */
  readonly modes: readonly Mode[];
  /** Calls that may have changed something and that compaction removed from the transcript. */
  readonly acts?: readonly Act[];
  /** Milliseconds that the run has taken, without the waiting between two parts of it. */
  readonly elapsedMs: number;
  /** The number of its messages that the model was sent before. The journal that recorded the turns after this checkpoint can go on with it. */
  readonly sent?: number;
  /** The counts of what the model did in a row, for a run that is `running`. A run that ended gets new bounds and counts from zero. */
  readonly inARow?: InARow;
}

const texts = list(string);
const mode = object({
  restrictTo: optional(texts),
  preapproved: optional(texts),
  offer: optional(texts),
  reads: optional(count),
  plan: optional(
    list(
      object({
        tool: string,
        arguments: optional(jsonObject),
        free: optional(texts),
        by: oneOf("model", "person"),
      }),
    ),
  ),
});

const checkpointShape = object({
  runId: string,
  agent: string,
  skill: string,
  status: string,
  intent: object({
    text: string,
    agent: string,
    skill: string,
    policy: string,
    tools: string,
    limits: string,
    hash: string,
    constants: texts,
    previous: optional(string),
  }),
  transcript: object({ messages: list(anything) }),
  ledger: object({
    tokens: count,
    turns: whole,
    toolCalls: whole,
    costUsd: optional(orNull(count)),
    lastTool: string,
    sameToolInARow: whole,
    approved: optional(texts),
    spent: optional(list(whole)),
    // An unreadable count must not pass for none: constraints are checked against it.
    uses: optional(list(object({ tool: string, calls: count, inside: optional(count), succeeded: boolean }))),
  }),
  usage: object({ inputTokens: count, outputTokens: count }),
  driver: refined(whole, "does not name a driver: a run has at most two", (index) => index < 2),
  modes: list(mode),
  acts: optional(
    list(
      object({
        callId: string,
        tool: string,
        effect: string,
        arguments: string,
        status: string,
        result: string,
      }),
    ),
  ),
  elapsedMs: count,
  sent: optional(whole),
  inARow: optional(
    object({
      repeats: object({
        rounds: list(
          object({
            calls: list(object({ name: string, arguments: anything })),
            results: list(object({ status: string, text: string })),
          }),
        ),
        streaks: list(whole),
      }),
      violations: whole,
      pending: whole,
    }),
  ),
  answer: optional(object({ content: anything, finishReason: string })),
});

/** The fault of a value given as a checkpoint; undefined for a valid one. Its transcript is read separately. */
export function checkpointFault(value: unknown): string | undefined {
  if (typeof value === "string") return "it is a text; give what `JSON.parse(text)` returns";
  const json = toJson(isJsonObject(value) ? { ...value, transcript: null } : value); // the transcript can be very long
  return json.ok ? misfitText(checkpointShape, value) : json.reason;
}
