import { consult, type Consulting } from "../hook/consult.ts";
import type { HookAnswer } from "../hook/hook.ts";
import { askHooksOnce, type HookOutcome, type Hooks } from "../hook/run-hooks.ts";
import type { Journal } from "../journal/journal.ts";
import {
  type BudgetField,
  type Excess,
  extendLimit,
  type Limits,
  tooLong,
} from "../policy/account/budget.ts";
import { StepsOfRun } from "./steps-of-run.ts";

/** The fate of a bound that was met: it was raised, the run ends by it, or the run waits to be resumed. */
export type Met =
  | { readonly type: "extended"; readonly limits: Limits }
  | { readonly type: "stop" }
  | { readonly type: "checkpoint" };

/** The place at which a bound was met. */
export interface MeetingPlace {
  readonly limits: Limits;
  readonly turn: number;
  readonly part: string;
}

/** Asks the author's hooks about a bound that was met. Without hooks, or with an answer that is not larger, the run ends by it. */
export async function meetBound(
  excess: Excess<BudgetField>,
  { limits, turn, part }: MeetingPlace,
  consulting: Consulting,
): Promise<Met> {
  const { field } = excess;
  const at = { turn, ...excess };
  const answer = await consult(consulting, {
    place: "onBudgetExceeded",
    at,
    turn,
    part: `${part}/${field}/${limits[field]}`,
  });
  return metBy(answer, { field, limits, turn }, consulting);
}

/** Applies the author's answer to a bound that was met. Returns whether it was raised. */
export function metBy(
  { extend, checkpoint = false }: HookAnswer<"onBudgetExceeded">,
  { field, limits, turn }: Pick<MeetingPlace, "limits" | "turn"> & Pick<Excess<BudgetField>, "field">,
  { tell }: Pick<Consulting, "tell">,
): Met {
  const extended = extendLimit(limits, field, extend);
  if (extended === undefined) return { type: checkpoint ? "checkpoint" : "stop" };
  tell?.({ type: "budget-extended", turn, field, from: limits[field], to: extended[field] });
  return { type: "extended", limits: extended };
}

/** Asks the author what to do when a time of so many milliseconds is over. */
export type MoreTime = (limitMs: number) => Promise<HookOutcome<"onBudgetExceeded">>;

/**
 * Asks the author's hooks about time that is over, once for each bound. The first to notice asks: the clock in the middle of a turn, or the
 * reservation of the next turn. The answer is told at the reservation, so that a replay, whose clock does not run out, tells the same events.
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

/**
 * The bound of the runs around this one that forbids a turn or a call, as it stands; undefined if none does. A replay takes the recorded bound: spending
 * beside the run comes in another order then.
 */
export function outerBound(
  key: string,
  journal: Journal,
  look: () => Excess | undefined,
): Excess | Promise<Excess> | undefined {
  const { find, mode } = journal;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was kept here
  if (mode === "replay" && find !== undefined) return find(key) as Excess | undefined;
  const excess = look();
  const steps = StepsOfRun.of(journal);
  if (excess === undefined || steps === undefined) return excess;
  return steps.keepBeside([{ key, value: excess }]).then(() => excess);
}
