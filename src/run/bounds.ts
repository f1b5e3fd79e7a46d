import { consult, type Consulting } from "../hook/consult.ts";
import type { HookAnswer } from "../hook/hook.ts";
import { type BudgetField, type Excess, extendLimit, type Limits } from "../policy/account/budget.ts";

/** The fate of a bound that was met: it was raised, or the run ends by it, or waits to be resumed. */
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

/** Asks the author's hooks about a bound that was met. Without them, and with a bound that is not larger, the run ends by it. */
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

/** Applies the author's answer to a bound that was met. Tells if it was raised. */
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
