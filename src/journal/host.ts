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
}
