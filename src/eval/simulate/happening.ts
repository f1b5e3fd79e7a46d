import type { StoreChange } from "../../durable/memory-run.ts";
import type { AgentEvent } from "../../event/event.ts";
import type { Execution } from "./execution.ts";

/** Something that happened in a schedule. A model of a run can be compared with all of these, in order. */
export type Happening =
  /** The store of durable runs changed. */
  | { readonly type: "stored"; readonly runId: string; readonly change: StoreChange }
  /** A machine begins to carry a run out. */
  | { readonly type: "takes"; readonly runId: string; readonly machine: number }
  | { readonly type: "dies"; readonly machine: number }
  /** The process that has a run is told that it was stopped. */
  | { readonly type: "hears-stop"; readonly runId: string }
  /** A person answers a question of a run that lives in one process. */
  | { readonly type: "answers"; readonly callId: string; readonly isYes: boolean }
  | { readonly type: "tells"; readonly machine: number; readonly event: AgentEvent }
  | { readonly type: "executes"; readonly machine: number; readonly execution: Execution };
