import type { ToolCall } from "../message/message.ts";
import type { Excess, Ledger, Limits } from "../policy/account/budget.ts";
import type { Batch, Fatal, Fate, SetAnswer } from "./call.ts";
import type { ResultFault } from "./given.ts";

/** The way in which the author's executor broke its contract. All but the cause is plain data, since a journal keeps it. */
export interface BrokenContract extends ResultFault {
  readonly code: "executor-failed" | "executor-result-invalid";
  /** The error that the executor threw; undefined in a replay. */
  readonly cause?: unknown;
}

/** The reason why a batch ended before its last call and the rest of it is skipped. */
export interface BatchEnd {
  /** The bound that forbade a call. With `checkpoint` the run waits there to be resumed. */
  readonly excess?: Excess;
  readonly checkpoint?: boolean;
  /** The call of an unknown tool. */
  readonly unknown?: ToolCall;
  /** The call that ends the run, and its failure. */
  readonly fatal?: { readonly call: ToolCall; readonly fatal: Fatal };
  /** The fault of the author's executor. */
  readonly broken?: BrokenContract;
}

/** A batch while its calls are decided about, one after another. */
export interface BatchJudging {
  readonly fates: Fate[];
  ledger: Ledger;
  limits: Limits;
  /** The end of the batch, and the reason that the calls after it are given. */
  ended?: { readonly end: BatchEnd; readonly reason: string };
  /** The gate of the calls that are still to be decided about, where an earlier one takes tools away from the rest of the run. */
  gate?: Batch["gate"];
  /** Answers that a person gave with those of earlier calls. */
  answered?: readonly SetAnswer[];
}
