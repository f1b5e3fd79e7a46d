import { askHooksOnce, type HookOutcome, type Hooks } from "../hook/run-hooks.ts";
import { tooLong } from "../policy/account/budget.ts";
import type { Journal } from "../journal/journal.ts";

/** Asks the author what happens when a time of so many milliseconds is over. */
export type MoreTime = (limitMs: number) => Promise<HookOutcome<"onBudgetExceeded">>;

/**
 * Asks the author's hooks about time that is over, once for each bound, whoever comes first: the clock in the middle of a turn, or the
 * reservation of the next. What they say is told at the reservation, so that a replay, whose clock does not run out, tells the same.
 */
export function moreTime(
  hooks: NonNullable<Hooks["onBudgetExceeded"]>,
  journal: Journal,
  turn: () => number,
): MoreTime {
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
