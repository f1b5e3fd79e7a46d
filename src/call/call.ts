import type { ToolCall } from "../message/message.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import type { Ledger, Limits } from "../policy/budget.ts";
import type { ToolUse } from "../policy/constraints.ts";
import type { Learned } from "../policy/learned.ts";
import type { Gate } from "../run/gate.ts";
import type { Judging } from "./judge.ts";
import { sameJson } from "../util/same-json.ts";
import type { EarlyCall } from "./run-calls.ts";

/** The calls of one turn. `early` are those that were already started while the model wrote, by id. */
export interface Batch {
  readonly turn: number;
  readonly calls: readonly ToolCall[];
  readonly gate: Gate;
  readonly ledger: Ledger;
  readonly limits: Limits;
  /** What was said before the reply that made the calls. */
  readonly transcript: ReadyTranscript;
  /** What the run has learned from it. */
  readonly learned: Learned;
  readonly early?: ReadonlyMap<string, EarlyCall>;
  /** Why none of the calls may run, if so. */
  readonly refuse?: string;
}

/** A call that is being decided about, and its place in the batch. */
export interface Planning {
  readonly call: ToolCall;
  readonly batch: Batch;
  readonly index: number;
  /** What was done before it with the tools that constraints speak of, the earlier calls of the batch included. */
  readonly uses?: readonly ToolUse[];
  /** The calls that a person approved for the whole run, by their hashes. */
  readonly approved?: readonly string[];
}

/** Where a planned call is judged. */
export function judging({ batch: { turn, gate, learned }, uses }: Planning): Judging {
  return { turn, gate, learned, uses };
}

/**
 * The call as it was started while the reply was read. A reply that was given up can have started another call under the same id: that one is
 * nobody's any more.
 */
export function begunEarly({ early }: Pick<Batch, "early">, call: ToolCall): EarlyCall | undefined {
  const begun = call.malformed === undefined ? early?.get(call.id) : undefined;
  if (begun === undefined) return undefined;
  const { name, arguments: args } = begun.prepared.call;
  return name === call.name && sameJson(args, call.arguments) ? begun : undefined;
}
