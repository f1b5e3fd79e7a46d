import type { PowerPort } from "../tool/power-port.ts";

/**
 * The machine, as far as the core may know it: the only way to a clock, a timer and randomness. `src/index.ts`
 * passes Node's; other runtimes and tests bring their own.
 */
export interface Host {
  /** Milliseconds since 1970, for durations and budgets. */
  now(): number;
  /** The host of one run. Changes of the system clock, by a time server or after a laptop slept, do not count as time of its work. Default: this one. */
  ofRun?(): Host;
  /** On the host of a run, whose `now` is the start of the run plus the time passed since: the host whose `now` is the time of day. */
  readonly day?: Pick<Host, "now">;
  /** Calls `fire` once after `afterMs`; returns a function that cancels the timer. */
  timer(afterMs: number, fire: () => void): () => void;
  /** Asked for each run that begins outside of others; false: so many have begun that it lets those go first. Default: true. */
  mayBegin?(): boolean;
  /** A new id, unique among runs. */
  randomId(): string;
  /** The kind of machine, such as `linux`. */
  readonly platform?: string;
  /** SHA-256 of a text, in hexadecimal. */
  readonly digest: (text: string) => string;
  /** The source of handles to the world. Without it tools get none. */
  readonly powers?: PowerPort;
  /** Tells the author of a problem that fails no run. Without it nobody is told. */
  readonly warn?: (warning: Warning) => void;
}

/** A warning for the author: `code` is the same for all warnings of one kind. */
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
