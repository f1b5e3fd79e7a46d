import type { ErrorCode } from "../error/codes.ts";
import type { FinishReason } from "../message/message.ts";
import type { Excess } from "../policy/account/budget.ts";
import type { Json } from "../util/json.ts";

/**
 * The end of a run. `answered`: `content` is the model's answer (a text, or a JSON value if the driver carries
 * one). `exhausted`: a budget ran out. `suspended`: the run waits, and can continue from its checkpoint, or
 * from its journal if `field` is `"answers"` (it waits for `used` answers) or `"handover"`.
 * `refused`: a rule refused the run. `cancelled`: somebody aborted it. `failed`: the model, a tool or the
 * world failed.
 */
export type Outcome = AnsweredOutcome | UnansweredOutcome;

/** The end of a run that answered. */
export interface AnsweredOutcome {
  readonly type: "answered";
  readonly content: Json;
  readonly finishReason: FinishReason;
}

/** The end of a run without an answer. */
export type UnansweredOutcome =
  | ({ readonly type: "exhausted" } & Excess)
  | ({ readonly type: "suspended" } & Excess<Excess["field"] | "answers" | "handover">)
  | { readonly type: "refused"; readonly code: ErrorCode; readonly message: string }
  | { readonly type: "cancelled"; readonly reason: string }
  | { readonly type: "failed"; readonly code: ErrorCode; readonly message: string };
