import type { RunEvent } from "../event/event.ts";
import type { Hooks } from "../hook/run-hooks.ts";
import type { Host } from "../journal/host.ts";
import type { Journal } from "../journal/journal.ts";
import type { Limits } from "../policy/budget.ts";
import type { Interrupt } from "../util/interrupt.ts";
import type { Recovery } from "../tool/recovery.ts";
import type { Tool } from "../tool/tool.ts";
import type { Approve } from "./approval.ts";
import type { AskOnce } from "./powers.ts";
import type { Ordering } from "../call/order.ts";
import type { RunScope } from "./scope.ts";
import type { Slots } from "../util/slots.ts";

/** What the calls of a run are carried out with. */
export interface ExecuteOptions extends Ordering {
  readonly runId: string;
  readonly journal: Journal;
  readonly host: Host;
  readonly stop: Interrupt<unknown>;
  /** The bounds that hold for each call by itself. */
  readonly limits: Pick<Limits, "toolMs" | "resultBytes">;
  readonly slots: Slots;
  readonly hooks: Hooks;
  readonly scope: RunScope;
  /** What to do when a call of the tool fails. */
  readonly recoveryOf: (tool: Tool) => Recovery | undefined;
  /** Told what happens, in order; left out when nobody watches, and then no event is made. */
  readonly tell?: (event: RunEvent) => void;
  /** When the run began, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly approve?: Approve;
  /** Asks the run's model for a tool that may. */
  readonly ask?: AskOnce;
  /** `throw` stops the batch at the first call of a tool outside the allow-list. */
  readonly onUnknownTool: "feedback" | "throw";
  /** Skips the rest of the batch after a call that a rule, a hook or a person denied. */
  readonly stopOnToolBlock: boolean;
  /** Told the error that a tool threw, for the cause of the run's own error. */
  readonly onThrow: (callId: string, error: unknown) => void;
}
