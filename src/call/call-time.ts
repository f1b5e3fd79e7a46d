import type { Host } from "../journal/host.ts";
import type { RunContext } from "../run/context.ts";

/** The time of a call that has a bound, and the signal that tells its tool that the call is over. A call without a bound is over when its run is. */
export class CallTime {
  readonly timeoutMs: number;
  /** The end of the call's time, in milliseconds since 1970. */
  private deadline: number;
  private readonly run: Pick<RunContext, "host" | "stop">;
  /** The call's own signal, made on first use. */
  private controller: AbortController | undefined;
  /** Starts the timer again; set while somebody waits for the call within its time. */
  private rearm: (() => void) | undefined;
  /** The number of waits of the tool that are open, and the time that was left when they began. */
  private paused: { count: number; readonly left: number } | undefined;

  constructor(timeoutMs: number, run: Pick<RunContext, "host" | "stop">) {
    this.timeoutMs = timeoutMs;
    this.run = run;
    this.deadline = run.host.now() + timeoutMs;
  }

  get signal(): AbortSignal {
    return (this.controller ??= new AbortController()).signal;
  }

  /** True if the time is over, even if the tool blocked the thread. */
  get isOver(): boolean {
    return this.run.host.now() > this.deadline;
  }

  /** The first of: the tool's result, its time-out, the end of the run. The last two abort the tool's signal. */
  within<Settled>(work: Promise<Settled>): Promise<Settled | "timeout" | "stopped"> {
    const { run } = this;
    return new Promise((resolve, reject) => {
      const undo: (() => void)[] = [];
      const leave = (): void => {
        this.rearm = undefined;
        undo.forEach((each) => each());
      };
      const end = (early: "timeout" | "stopped"): void => {
        leave();
        resolve(early);
        this.abort(early);
      };
      let stopTimer: (() => void) | undefined; // undefined if the tool waited from the beginning
      const rearm = (): void => {
        stopTimer?.();
        if (this.deadline !== Infinity)
          stopTimer = run.host.timer(this.deadline - run.host.now(), () => end("timeout"));
      };
      this.rearm = rearm;
      rearm();
      undo.push(() => stopTimer?.());
      work.finally(leave).then(resolve, reject);
      undo.push(run.stop.onStop(() => end("stopped")));
    });
  }

  /** Stops the clock; the returned function starts it again. Several waits of a tool can be open at once. */
  pause(): () => void {
    const { host } = this.run;
    const paused = (this.paused ??= { count: 0, left: this.deadline - host.now() });
    paused.count += 1;
    this.endAt(Infinity);
    return () => {
      paused.count -= 1;
      if (paused.count > 0) return;
      this.paused = undefined;
      this.endAt(host.now() + paused.left);
    };
  }

  private endAt(deadline: number): void {
    this.deadline = deadline;
    this.rearm?.();
  }

  private abort(early: "timeout" | "stopped"): void {
    const { reason } = this.run.stop.signal as { readonly reason: unknown };
    const why = early === "stopped" ? reason : new Error(`timed out after ${this.timeoutMs} ms`);
    (this.controller ??= new AbortController()).abort(why);
  }
}

/**
 * The times of judging a call, in milliseconds since 1970, as its record keeps them. Each part ends where the next begins: hooks are asked from `from`,
 * arguments are checked from `checking`, and the policy is asked from `authorising` until `decided`. A part that took less than a millisecond has no time
 * of its own: the part before it has the same.
 */
export interface JudgedTimes {
  readonly from: number;
  readonly checking?: number;
  readonly authorising?: number;
  readonly decided?: number;
}

/** Notes the times of judging one call. A part that is repeated, as after mending, has its first beginning and its last end. */
export class JudgingTimes {
  private readonly host: Pick<Host, "now">;
  private readonly from: number;
  private checkedFrom: number | undefined;
  private checkedTo: number | undefined;
  private to: number | undefined;

  constructor(host: Pick<Host, "now">) {
    this.host = host;
    this.from = host.now();
  }

  checks(): void {
    this.checkedFrom ??= this.host.now();
  }

  checked(): void {
    this.checkedTo = this.host.now();
  }

  decides(): void {
    this.to = this.host.now();
  }

  /** The times as a record keeps them; undefined for a call that was not decided about. */
  get kept(): JudgedTimes | undefined {
    const { from, checkedFrom = from, to } = this;
    if (to === undefined) return undefined;
    const checkedTo = this.checkedTo ?? checkedFrom;
    return {
      from,
      ...(checkedFrom === from ? {} : { checking: checkedFrom }),
      ...(checkedTo === checkedFrom ? {} : { authorising: checkedTo }),
      ...(to === checkedTo ? {} : { decided: to }),
    };
  }
}
