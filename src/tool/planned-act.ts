import type { JsonObject } from "../util/json.ts";

/** An act that a run was planned to do. */
export interface PlannedAct {
  readonly tool: string;
  /** The arguments of the one intended call. Left out if only the kind of act is known. */
  readonly arguments?: JsonObject;
  /** The names of the `arguments` that are still open: records and content, never whom or how much. Without `arguments` it changes nothing. */
  readonly free?: readonly string[];
}

/** A planned act, with its planner: a model before it had read a stranger's words, or a person who was asked. */
export interface AgreedAct extends PlannedAct {
  readonly by: "model" | "person";
}
