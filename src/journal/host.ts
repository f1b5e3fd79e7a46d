import type { PowerPort } from "../tool/power-port.ts";

/**
 * What the core may know of the machine it runs on: the only way to a clock, a timer and randomness. `src/index.ts` gives Node's; other
 * runtimes and tests bring their own.
 */
export interface Host {
  /** Milliseconds since 1970, for durations and budgets. */
  now(): number;
  /** Calls `fire` once after `afterMs`; what it returns takes the timer back. */
  timer(afterMs: number, fire: () => void): () => void;
  /** A new id that no other run has. */
  randomId(): string;
  /** What kind of machine it is, like `linux`. */
  readonly platform?: string;
  /** SHA-256 of a text, in hexadecimal. */
  readonly digest: (text: string) => string;
  /** Where handles to the world come from. Without it no tool has any. */
  readonly powers?: PowerPort;
}
