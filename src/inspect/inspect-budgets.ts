import type { KnownRun } from "./known-run.ts";
import type { ReadRecords } from "./read-records.ts";
import { type Busy, gapsOf } from "./time-scale.ts";
import type { InspectedBudget, InspectedTurn } from "./view.ts";

/** The facts from which the use of a run's bounds is counted. */
export interface Spent {
  readonly known: KnownRun;
  readonly read: ReadRecords;
  readonly turns: readonly InspectedTurn[];
  readonly from: number;
}

/** The bounds of a run, with the use of each. The limits come from the run's own facts, otherwise from the program. */
export function budgetsOf({ known, read, turns, from }: Spent): readonly InspectedBudget[] {
  const { run, manifest } = known;
  const tokens = [...read.models.values()]
    .flat()
    .reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0);
  const costs = turns.flatMap(({ model }) => (model?.costUsd === undefined ? [] : [model.costUsd]));
  const used: Readonly<Record<string, number | undefined>> = {
    turns: turns.length,
    toolCalls: turns.reduce((sum, { calls }) => sum + calls.length, 0),
    tokens,
    costUsd: costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0),
    durationMs: workedMs(turns, {
      from,
      to: run.endedAt ?? (run.status === "ready" && turns.length === 0 ? from : known.now),
    }),
  };
  return Object.entries(used).flatMap(([field, count]) => {
    const limit = limitOf(known, field) ?? manifestLimit(manifest?.budget, field);
    if (count === undefined || (count === 0 && limit === undefined)) return [];
    return [{ field, used: count, ...(limit === undefined ? {} : { limit }) }];
  });
}

/** The time that counts: waits for people, or for a process, do not count against the bound. Without turns, all time counts. */
function workedMs(turns: readonly InspectedTurn[], whole: Busy): number {
  const busy = turns.flatMap(({ model, calls }) => [
    ...(model === undefined ? [] : [model]),
    ...calls.flatMap(({ spans }) => spans.filter(({ phase }) => phase !== "waited" && phase !== "queued")),
  ]);
  const idle = turns.length === 0 ? [] : gapsOf(whole, busy);
  return Math.max(0, whole.to - whole.from - idle.reduce((sum, gap) => sum + gap.to - gap.from, 0));
}

/** The limit that the run itself told, which overrides that of its program. */
function limitOf({ facts = [] }: KnownRun, field: string): number | undefined {
  const told = facts.findLast(
    (fact) => (fact.type === "budget-threshold" || fact.type === "budget-extended") && fact.field === field,
  );
  if (told?.type === "budget-threshold") return told.limit;
  return told?.type === "budget-extended" ? told.to : undefined;
}

function manifestLimit(budget: object | undefined, field: string): number | undefined {
  const limit: unknown = Object.entries(budget ?? {}).find(([name]) => name === field)?.[1];
  return typeof limit === "number" ? limit : undefined;
}
