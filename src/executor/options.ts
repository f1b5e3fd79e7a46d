import type { RunEvent } from "../event/event.ts";
import type { Host } from "../journal/host.ts";
import type { Journal } from "../journal/journal.ts";
import type { Limits } from "../policy/budget.ts";
import type { CallRequest } from "../policy/decision.ts";
import type { Interrupt } from "../util/interrupt.ts";
import type { Gate } from "./prepare.ts";
import type { Slots } from "./slots.ts";

/** A person's answer to a call that the policy asks about. */
export interface Approval {
  readonly approved: boolean;
  /** Told to the model when the answer is no. */
  readonly reason?: string;
}

/** Asks a person whether a call may run. What throws is taken for a no. */
export type Approve = (call: CallRequest) => boolean | Approval | Promise<boolean | Approval>;

/** What the calls of a run are carried out with. */
export interface ExecuteOptions {
  readonly runId: string;
  readonly gate: Gate;
  readonly journal: Journal;
  readonly host: Host;
  readonly stop: Interrupt<unknown>;
  readonly limits: Limits;
  readonly slots: Slots;
  /** Told what happens, in order; left out when nobody watches, and then no event is made. */
  readonly tell?: (event: RunEvent) => void;
  /** When the run began, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly approve?: Approve;
  /** `throw` stops the batch at the first call of a tool outside the allow-list. */
  readonly onUnknownTool: "feedback" | "throw";
  /** Told the error that a tool threw, for the cause of the run's own error. */
  readonly onThrow: (callId: string, error: unknown) => void;
}
