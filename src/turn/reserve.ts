import { type Met, meetBound, metBy } from "../run/bounds.ts";
import { consult, tellHooks } from "../hook/consult.ts";
import { crossed, type Excess, reserveTurn, type Threshold } from "../policy/account/budget.ts";
import { untilStopped } from "../util/interrupt.ts";
import { exhausted, suspended } from "../run/end.ts";
import type { Run, State, NextState } from "./state.ts";

/** Reserves one model call. When a bound forbids it, the author may raise it, or have the run wait; else it ends. */
export function reserve(state: State, run: Run): NextState | Promise<NextState> {
  const outer = run.parent?.purse.turnExcess();
  if (outer !== undefined) return { state, end: exhausted(run, outer) };
  const { limits } = state;
  const reservation = reserveTurn(state.ledger, limits, state.now - run.startedAt);
  if (reservation.ok) {
    const { ledger } = reservation;
    run.purse.begin({ ledger, limits });
    return { state: { ...state, ledger } };
  }
  return reserveMore(reservation.excess, state, run);
}

async function reserveMore(excess: Excess, state: State, run: Run): Promise<NextState> {
  const met = await meet(excess, state, run);
  if (met.type === "checkpoint") return { state, end: suspended(run, excess) };
  if (met.type === "stop") return { state, end: exhausted(run, excess) };
  return reserve({ ...state, limits: met.limits }, run);
}

async function meet(excess: Excess, { limits, ledger }: State, run: Run): Promise<Met> {
  const { turns: turn } = ledger;
  if (excess.field !== "durationMs") return meetBound(excess, { limits, turn, part: "turn" }, run);
  const asking = run.frame.moreTime?.(limits.durationMs);
  if (asking === undefined) return { type: "stop" };
  const outcome = await untilStopped(asking, run.stop);
  if (outcome === "stopped") throw new Error("the run was stopped while a hook was asked");
  tellHooks({ turn, place: "onBudgetExceeded", by: outcome.by }, run);
  return metBy(outcome.answer, { field: "durationMs", limits, turn }, run);
}

/** Tells which bounds are nearly used up: each once, and again when it was raised since. */
export function tellThresholds(state: State, run: Run): State | Promise<State> {
  if (run.tell === undefined && run.hooks.onBudgetThreshold === undefined) return state;
  const { limits, ledger, warned } = state;
  const all = crossed({ ledger, elapsedMs: state.now - run.startedAt }, limits, run.warnAt);
  const fresh = all.filter(({ field, limit }) => warned[field] !== limit);
  return fresh.length === 0 ? state : warn(fresh, state, run);
}

async function warn(fresh: readonly Threshold[], state: State, run: Run): Promise<State> {
  const { turns: turn } = state.ledger;
  for (const threshold of fresh) {
    run.tell?.({ type: "budget-threshold", turn, ...threshold });
    const at = { turn, ...threshold };
    await consult(run, { place: "onBudgetThreshold", at, turn, part: threshold.field });
  }
  return {
    ...state,
    warned: { ...state.warned, ...Object.fromEntries(fresh.map(({ field, limit }) => [field, limit])) },
  };
}
