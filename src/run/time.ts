import { askHooksOnce, type HookOutcome } from "../hook/run-hooks.ts";
import { tooLong } from "../policy/account/budget.ts";
import type { Host } from "../journal/host.ts";
import type { Interrupt } from "../util/interrupt.ts";
import type { RunContext } from "./context.ts";
import type { StopReason } from "./end.ts";

/** The time that a run may take. */
export interface RunTime {
  readonly durationMs: number;
  /** The milliseconds that earlier parts of the run have taken. Default 0. */
  readonly elapsedMs?: number;
  readonly host: Host;
}

/** A run as its clock sees it. */
interface TimedRun {
  readonly stop: Interrupt<StopReason>;
  /** Without it the run ends when its time is over. */
  readonly moreTime: MoreTime | undefined;
}

/** Asks the author what happens when a time of so many milliseconds is over. */
export type MoreTime = (limitMs: number) => Promise<HookOutcome<"onBudgetExceeded">>;

/**
 * Asks the author's hooks about time that is over, once for each bound, whoever comes first: the clock in the middle of a turn, or the
 * reservation of the next. What they say is told at the reservation, so that a replay, whose clock does not run out, tells the same.
 * Undefined without such hooks: the time is over then.
 */
export function moreTime(
  { hooks: { onBudgetExceeded: hooks }, journal }: Pick<RunContext, "hooks" | "journal">,
  turn: () => number,
): MoreTime | undefined {
  if (hooks === undefined) return undefined;
  const asked = new Map<number, ReturnType<MoreTime>>();
  return (limitMs) => {
    let asking = asked.get(limitMs);
    if (asking === undefined) {
      const { excess } = tooLong({ durationMs: limitMs }, limitMs);
      const about = { place: "onBudgetExceeded" as const, at: { turn: turn(), ...excess } };
      asking = askHooksOnce(hooks, about, { journal, key: `duration/${limitMs}` });
      asked.set(limitMs, asking);
    }
    return asking;
  };
}

/** The time that an author may take to say whether there is more of it: the run goes on meanwhile, and must not go on for ever. */
const patienceMs = 10_000;

/** The clock of one run: stops it when its time is over, unless the author gives more. */
export class RunClock {
  private readonly run: TimedRun;
  private readonly host: Host;
  private stopTimer: (() => void) | undefined;
  private isOver = false;

  constructor({ durationMs, elapsedMs = 0, host }: RunTime, run: TimedRun) {
    this.run = run;
    this.host = host;
    this.arm(durationMs, durationMs - elapsedMs);
  }

  /** The run has ended. */
  end(): void {
    this.isOver = true;
    this.stopTimer?.();
  }

  private arm(limit: number, afterMs: number): void {
    if (limit !== Infinity) this.stopTimer = this.host.timer(Math.max(0, afterMs), () => this.expire(limit));
  }

  private expire(limit: number): void {
    const { stop, moreTime } = this.run;
    if (moreTime === undefined) return stop.stop({ type: "duration", limit });
    this.stopTimer = this.host.timer(patienceMs, () => stop.stop({ type: "duration", limit }));
    moreTime(limit).then(
      ({ answer: { extend, checkpoint = false } }) => {
        if (this.isOver || stop.reason !== undefined) return;
        this.stopTimer?.();
        if (extend !== undefined && extend > limit) this.arm(extend, extend - limit);
        else stop.stop({ type: "duration", limit, waits: checkpoint });
      },
      (cause: unknown) => stop.stop({ type: "failed", cause }),
    );
  }
}
