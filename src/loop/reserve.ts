import { meetBound } from "../executor/bounds.ts";
import { consult } from "../hook/consult.ts";
import { type BudgetField, crossed, type Limits, reserveTurn, type Reservation } from "../policy/budget.ts";
import { exhausted, suspended } from "./end.ts";
import type { Run, State, Step } from "./run.ts";

/** Reserves one model call. When a bound forbids it, the author may raise it, or have the run wait; else it ends. */
export async function reserve(before: State, run: Run): Promise<Step> {
  let state = withTime(before, run);
  let reservation = attempt(state, run);
  while (!reservation.ok && run.hooks.onBudgetExceeded !== undefined) {
    const { excess } = reservation;
    const place = { limits: state.limits, turn: state.ledger.turns, part: "turn" };
    const met = await meetBound(excess, place, run);
    if (met.type === "checkpoint") return { state, end: suspended(run, excess) };
    if (met.type !== "extended") break;
    state = extended(state, met.limits, excess.field);
    reservation = attempt(state, run);
  }
  if (!reservation.ok) return { state, end: exhausted(run, reservation.excess) };
  const reserved = { ...state, ledger: reservation.ledger };
  run.purse.settle(reserved.ledger, reserved.limits);
  return { state: reserved };
}

/** A bound that was raised may be warned of again. */
function extended(state: State, limits: Limits, field: BudgetField): State {
  return { ...state, limits, warned: state.warned.filter((warned) => warned !== field) };
}

/** More time that was given while the run went on counts. */
function withTime(state: State, { frame }: Run): State {
  const durationMs = frame.durationMs();
  return durationMs === state.limits.durationMs
    ? state
    : { ...state, limits: { ...state.limits, durationMs } };
}

function attempt(state: State, run: Run): Reservation {
  const outer = run.parent?.purse.excess();
  if (outer !== undefined) return { ok: false, excess: outer };
  return reserveTurn(state.ledger, state.limits, state.now - run.startedAt);
}

/** Tells which bounds are nearly used up, each once. */
export async function tellThresholds(state: State, run: Run): Promise<State> {
  if (run.tell === undefined && run.hooks.onBudgetThreshold === undefined) return state;
  const { limits, ledger, warned } = state;
  const { turns: turn } = ledger;
  const all = crossed({ ledger, elapsedMs: state.now - run.startedAt }, limits, run.warnAt);
  const fresh = all.filter(({ field }) => !warned.includes(field));
  if (fresh.length === 0) return state;
  for (const threshold of fresh) {
    run.tell?.({ type: "budget-threshold", turn, ...threshold });
    const at = { turn, ...threshold };
    await consult(run, { place: "onBudgetThreshold", at, turn, part: threshold.field });
  }
  return { ...state, warned: [...warned, ...fresh.map(({ field }) => field)] };
}
