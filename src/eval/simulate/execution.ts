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
  /** Its schema takes the arguments. */
  readonly fits: boolean;
  /** It happened: what the tool does was done. */
  tookEffect: boolean;
  /** Its result, whether the tool gave it back or not. */
  made?: Json;
  /** The time at which the tool gave it back, once it did. */
  givenMs?: number;
}
