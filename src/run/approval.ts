import type { ApprovalRequest } from "../policy/rules/approval-request.ts";
import type { JsonObject } from "../util/json.ts";

/** A person's answer to a call that the policy asks about. */
export interface Approval {
  readonly approved: boolean;
  /** `once`: this call. `run`: also each later call of this run with the same tool and exactly these arguments. Default `once`. */
  readonly for?: "once" | "run";
  /** Other arguments, in the place of the model's: checked and judged again. What the policy denies stays denied. */
  readonly arguments?: JsonObject;
  /** Told to the model when the answer is no. */
  readonly reason?: string;
}

/** Asks a person whether a call may run. What throws is taken for a no. */
export type Approve = (call: ApprovalRequest) => boolean | Approval | Promise<boolean | Approval>;
