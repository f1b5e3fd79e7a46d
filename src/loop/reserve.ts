import { type Met, meetBound, metBy } from "../executor/bounds.ts";
import { consult, tellHooks } from "../hook/consult.ts";
import { crossed, type Excess, reserveTurn } from "../policy/budget.ts";
import { untilStopped } from "../util/interrupt.ts";
import { exhausted, suspended } from "./end.ts";
import type { Run, State, Step } from "./run.ts";

/** Reserves one model call. When a bound forbids it, the author may raise it, or have the run wait; else it ends. */
export async function reserve(state: State, run: Run): Promise<Step> {
  const outer = run.parent?.purse.turnExcess();
  if (outer !== undefined) return { state, end: exhausted(run, outer) };
  const { limits } = state;
  const reservation = reserveTurn(state.ledger, limits, state.now - run.startedAt);
  if (reservation.ok) {
    const { ledger } = reservation;
    run.purse.begin({ ledger, limits });
    return { state: { ...state, ledger } };
  }
  const { excess } = reservation;
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
export async function tellThresholds(state: State, run: Run): Promise<State> {
  if (run.tell === undefined && run.hooks.onBudgetThreshold === undefined) return state;
  const { limits, ledger, warned } = state;
  const { turns: turn } = ledger;
  const all = crossed({ ledger, elapsedMs: state.now - run.startedAt }, limits, run.warnAt);
  const fresh = all.filter(({ field, limit }) => warned[field] !== limit);
  if (fresh.length === 0) return state;
  for (const threshold of fresh) {
    run.tell?.({ type: "budget-threshold", turn, ...threshold });
    const at = { turn, ...threshold };
    await consult(run, { place: "onBudgetThreshold", at, turn, part: threshold.field });
  }
  return {
    ...state,
    warned: { ...warned, ...Object.fromEntries(fresh.map(({ field, limit }) => [field, limit])) },
  };
}
