import type { Fact } from "../../event/event.ts";
import type { Evidence, Told } from "./evidence.ts";
import { insideRun, type SimulatedInside } from "./inside-run.ts";
import type { Machine } from "./machine.ts";

/** The bounds of a budget that a run passed, alone or with the runs inside it. */
export function budgetFaults(one: Told, { world, subject, told, cluster }: Evidence): readonly string[] {
  const { run, facts } = one;
  const { turns, toolCalls } = subject.limits;
  const began = facts.filter(({ type }) => type === "turn-start").length;
  const faults = spendingFaults(one, subject.limits, cluster?.all ?? [run.machine]);
  if (began > turns) faults.push(`${run.id} took ${began} turns of ${turns}`);
  if (told.length > 1) return faults;
  // A call that began while its reply was written, and whose process died before the reply was kept, does not count: no decision was made on it.
  const counted = world.executions.filter((each) => world.decisionOn(each) !== undefined);
  const keys = new Set(counted.map(({ key }) => key));
  if (keys.size > toolCalls)
    faults.push(`${run.id} and the runs inside it made ${keys.size} calls of ${toolCalls}`);
  return faults;
}

function spendingFaults(
  { run, facts }: Told,
  limits: Evidence["subject"]["limits"],
  machines: readonly Machine[],
): string[] {
  const bounded = (["tokens", "costUsd"] as const).filter((of) => limits[of] < Infinity);
  if (bounded.length === 0) return [];
  const spending = { runId: run.id, facts, inside: insideRun(run.id, machines) };
  return bounded.flatMap((of) => {
    const used = lateRequest(spending, { of, most: limits[of] });
    return used === undefined ? [] : [`${run.id} asked its model after ${used} ${of} of ${limits[of]}`];
  });
}

/** A bound on the use of a run's requests, with those of the runs inside it. */
export interface SpendingBound {
  readonly of: "tokens" | "costUsd";
  readonly most: number;
}

/** A run, and all runs inside it. */
interface Spending {
  readonly runId: string;
  readonly facts: readonly Fact[];
  readonly inside: readonly SimulatedInside[];
}

interface Spent {
  /** The amount that the run and those inside it used. */
  readonly used: number;
  readonly late: number | undefined;
}

/** The amount used around a run: at the latest time of its first request, which may be before the reply around it had ended, and after that reply. */
interface Around {
  readonly first: number;
  readonly later: number;
}

/**
 * The amount that was used at the first request that a bound forbids; undefined if there is none. Calls of one turn run side by side, and a run inside
 * one of them does not know what the others use.
 */
export function lateRequest(run: Spending, bound: SpendingBound): number | undefined {
  return spentIn(run, { first: 0, later: 0 }, bound).late;
}

function spentIn({ runId, facts, inside }: Spending, around: Around, bound: SpendingBound): Spent {
  const own = inside.filter(({ parentRunId }) => parentRunId === runId);
  let used = 0;
  let late: number | undefined;
  let reply = { turn: 0, before: 0 };
  const addInside = (): void => {
    const { first, later } = around;
    const all = own
      .filter(({ turn }) => turn === reply.turn)
      .map((each) =>
        spentIn({ ...each, inside }, { first: first + reply.before, later: later + used }, bound),
      );
    late ??= all.find((each) => each.late !== undefined)?.late;
    used = all.reduce((sum, each) => sum + each.used, used);
  };
  for (const fact of facts) {
    if (fact.type === "usage-add") used += amountOf(fact, bound);
    if (fact.type !== "turn-start") continue;
    addInside();
    reply = { turn: fact.turn, before: used };
    const known = used + (fact.turn === 1 ? around.first : around.later);
    if (known >= bound.most) late ??= known;
  }
  addInside();
  return { used, late };
}

function amountOf(
  { usage, costUsd = Infinity }: Extract<Fact, { readonly type: "usage-add" }>,
  { of }: SpendingBound,
): number {
  return of === "tokens" ? usage.inputTokens + usage.outputTokens : costUsd;
}
