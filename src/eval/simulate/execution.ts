import type { Json } from "../../util/json.ts";

/** An execution of a tool. */
export interface Execution {
  readonly agent: string;
  readonly skill: string;
  readonly tool: string;
  readonly arguments: Json;
  readonly callId: string;
  readonly runId: string;
  /** The idempotency key: the same at every attempt of one call. */
  readonly key: string;
  /** Milliseconds since the simulation began. */
  readonly atMs: number;
  readonly process: number;
  /** True if its schema takes the arguments. */
  readonly fits: boolean;
  /** True if the effect of the tool happened. */
  tookEffect: boolean;
  /** Its result, whether the tool returned it or not. */
  made?: Json;
  /** The time at which the tool returned it, if it did. */
  givenMs?: number;
}
