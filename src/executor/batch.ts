import type { ToolCall } from "../message/message.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import type { Ledger, Limits } from "../policy/budget.ts";
import type { ToolUse } from "../policy/constraints.ts";
import type { Gate } from "./gate.ts";
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
}
