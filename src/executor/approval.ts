import type { CallRequest } from "../policy/decision.ts";

/** A person's answer to a call that the policy asks about. */
export interface Approval {
  readonly approved: boolean;
  /** Told to the model when the answer is no. */
  readonly reason?: string;
}

/** Asks a person whether a call may run. What throws is taken for a no. */
export type Approve = (call: CallRequest) => boolean | Approval | Promise<boolean | Approval>;
