import type { ErrorCode } from "../error/codes.ts";
import type { FinishReason } from "../message/message.ts";
import type { Excess } from "../policy/account/budget.ts";
import type { Json } from "../util/json.ts";

/**
 * The end of a run. `answered`: `content` is what the model said (text, or a JSON value where the driver
 * carries one). `exhausted`: a budget ran out. `suspended`: it waits, and can go on from its checkpoint, or
 * (`field: "answers"`, of which it wants `used`, and `"handover"`) from its journal.
 * `refused`: a rule said no to the run. `cancelled`: somebody aborted it. `failed`: the model, a tool or the
 * world failed.
 */
export type Outcome =
  | { readonly type: "answered"; readonly content: Json; readonly finishReason: FinishReason }
  | ({ readonly type: "exhausted" } & Excess)
  | ({ readonly type: "suspended" } & Excess<Excess["field"] | "answers" | "handover">)
  | { readonly type: "refused"; readonly code: ErrorCode; readonly message: string }
  | { readonly type: "cancelled"; readonly reason: string }
  | { readonly type: "failed"; readonly code: ErrorCode; readonly message: string };
