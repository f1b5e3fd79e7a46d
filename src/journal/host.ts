import type { PowerPort } from "../tool/power-port.ts";

/**
 * The machine as far as the core may know it: the only way to a clock, a timer and randomness. `src/index.ts`
 * gives Node's; other runtimes and tests bring their own.
 */
export interface Host {
  /** Milliseconds since 1970, for durations and budgets. */
  now(): number;
  /** The host of one run. A clock that is set meanwhile, as by a time server or after a laptop slept, takes no time of what is at work there. Default: this one. */
  ofRun?(): Host;
  /** There on the host of a run, whose `now` is the time at which the run began and what has passed since: the one whose `now` is the time of day. */
  readonly day?: Pick<Host, "now">;
  /** Calls `fire` once after `afterMs`; what it returns takes the timer back. */
  timer(afterMs: number, fire: () => void): () => void;
  /** A new id that no other run has. */
  randomId(): string;
  /** The kind of machine, like `linux`. */
  readonly platform?: string;
  /** SHA-256 of a text, in hexadecimal. */
  readonly digest: (text: string) => string;
  /** The source of handles to the world. Without it a tool has none. */
  readonly powers?: PowerPort;
  /** Tells the author what no run fails by. Without it nobody is told. */
  readonly warn?: (warning: Warning) => void;
}

/** A warning for the author: `code` is the same for the same kind of thing. */
export interface Warning {
  readonly code:
    | "WRIT_TOOL_BY_NAME"
    | "WRIT_OBSERVER_FAILED"
    | "WRIT_HOOK_FAILED"
    | "WRIT_POLICY_FAILED"
    | "WRIT_NO_APPROVER"
    | "WRIT_EFFECT_UNDECLARED"
    | "WRIT_ANSWER_CUT"
    | "WRIT_COMPACTION_WAITS"
    | "WRIT_PROVIDER_WARNING"
    | "WRIT_STREAM_UNREAD"
    | "WRIT_STORE_FAILED"
    | "WRIT_RUN_UNTAKEN"
    | "WRIT_CHAT_FORGETS"
    | "WRIT_SERVER_FAILED";
  readonly text: string;
  readonly isDeprecation: boolean;
}
