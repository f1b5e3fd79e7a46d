import type { Delegation } from "../event/event.ts";
import type { Label } from "../message/label.ts";
import type { Spending } from "../policy/account/purse.ts";
import type { Act } from "../tool/acts.ts";

/** The runs inside one call, and their total spending. */
export interface Inside {
  readonly delegations: readonly Delegation[];
  readonly spending: Spending;
  /** The part of the spending that the call's own questions to the model used. Left out if there were none. */
  readonly asked?: Pick<Spending, "usage" | "costUsd">;
  /** The join of the labels that the runs have seen. */
  readonly label: Label;
  /** The calls by which they changed something, or may have. Left out if there were none. */
  readonly acts?: readonly Act[];
}
