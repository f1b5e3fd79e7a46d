import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { SchemaSource } from "../schema/to-schema.ts";
import type { Duration } from "../util/duration.ts";
import type { Json, JsonObject } from "../util/json.ts";

/** The options of a wait for a signal. */
export interface WaitOptions<Payload, Within> {
  /** The schema of the signal's value. Default: any JSON. */
  readonly schema?: Payload;
  /**
   * The time after which the wait returns undefined if no signal came. It counts from when the tool first waited, in any process. Default: it
   * waits until one comes.
   */
  readonly within?: Within;
}

/** The value of a signal, as its schema parses it. */
export type SignalValue<Payload> = Payload extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Payload>
  : Json;

/** The waits of a call. They work without their object: `execute: async (args, { waitFor }) => …`. */
export interface Waits {
  /**
   * Waits for a signal of this name from outside, for days if need be. If the run can wait in its journal, the call is left meanwhile, and its tool
   * **begins again** when the signal has come: earlier waits return their values at once, and everything before them happens once more. The tool
   * has to permit that: effect `none` or `read`, or `retry: "always"` or `"keyed"`. Otherwise the call waits in its process for a value of `onWait`.
   *
   * @throws WritError `wait-not-repeatable`, `wait-unanswerable`, `signal-invalid`, `definition-invalid`
   */
  readonly waitFor: <
    const Payload extends SchemaSource | undefined = undefined,
    const Within extends Duration | undefined = undefined,
  >(
    name: string,
    options?: WaitOptions<Payload, Within>,
  ) => Promise<SignalValue<Payload> | (Within extends Duration ? undefined : never)>;
  /**
   * Waits until a time, a date or milliseconds since 1970, like `waitFor`. If the run waits in its journal, the first given time counts. It does not
   * wait for a time in the past.
   *
   * @throws WritError `wait-not-repeatable`, `definition-invalid`
   */
  readonly sleepUntil: (time: Date | number) => Promise<void>;
}

/** A wait for a signal in this process. */
export interface SignalWait {
  /** The name of the signal. */
  readonly name: string;
  /** The JSON Schema of its value. Left out if it may be anything. */
  readonly schema?: JsonObject;
  readonly agent: string;
  readonly tool: string;
  readonly callId: string;
  /** Aborted when nobody waits for the signal any more. */
  readonly signal: AbortSignal;
}

/** Returns the signals that tools wait for in this process. */
export type OnWait = (wait: SignalWait) => Json | Promise<Json>;
