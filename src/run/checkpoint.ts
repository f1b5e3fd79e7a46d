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

/** The last rounds of a run, and for each period how many of them in a row came again. */
export interface Repeats {
  readonly rounds: readonly CallRound[];
  readonly streaks: readonly number[];
}

/** The count of what the model may do only so often in a row. */
export interface InARow {
  readonly repeats: Repeats;
  /** Replies that could not be taken. */
  readonly violations: number;
  /** Replies that were half a turn. */
  readonly pending: number;
}

/**
 * A run between two turns, as JSON: every call has its result, nothing is under way. It can be kept anywhere and the run resumed from it, on
 * another machine too, with `agent.resume(checkpoint)`.
 */
export interface Checkpoint {
  readonly runId: string;
  readonly agent: string;
  readonly skill: string;
  readonly input: Json;
  /** The purpose of the run and the bounds that it is held to: checked when it is resumed. */
  readonly intent: Intent;
  /** `running` between two turns; how the run ended after the last. */
  readonly status: "running" | Outcome["type"];
  /** The answer of the run, if it gave one: a run resumed from here answers this again. */
  readonly answer?: { readonly content: Json; readonly finishReason: FinishReason };
  readonly transcript: TranscriptJson;
  readonly ledger: Ledger;
  readonly usage: Usage;
  readonly driver: number;
  /** The changes that calls made for the rest of the run, in their order. */
  readonly modes: readonly Mode[];
  /** Calls that may have changed something and that compaction took out of the transcript. */
  readonly acts?: readonly Act[];
  /** Milliseconds that the run has taken; waiting between two parts of it does not count. */
  readonly elapsedMs: number;
  /** The number of its messages that the model was sent before. With it the journal that recorded the turns after this checkpoint is gone on with. */
  readonly sent?: number;
  /** The count of what the model did in a row, of a run that is `running`. One that ended is given new bounds, and counts anew. */
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
    // A count that cannot be read must not pass for none: constraints are held against it.
    uses: optional(list(object({ tool: string, calls: count, inside: optional(count), succeeded: boolean }))),
  }),
  usage: object({ inputTokens: count, outputTokens: count }),
  driver: refined(whole, "is no driver's: a run has two at most", (index) => index < 2),
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

/** The fault of a value that was given as a checkpoint; undefined when it is one. Its transcript is read by itself. */
export function checkpointFault(value: unknown): string | undefined {
  const json = toJson(isJsonObject(value) ? { ...value, transcript: null } : value); // which can be very long
  return json.ok ? misfitText(checkpointShape, value) : json.reason;
}
