import { pagedRuns } from "../durable/paged-runs.ts";
import type { RunFilter, StoredRun, WaitingQuestion } from "../durable/run-store.ts";
import type { Asked } from "./route.ts";

type Seeing = Pick<Asked, "runs" | "caller">;

/** The most runs that are read at a time. */
const mostAtOnce = 1000;

/** The runs that a caller sees. Runs of agents that the caller may no longer use are skipped, and a page is short only if there are no more. */
export async function runsSeen(
  { runs, caller }: Seeing,
  wanted: RunFilter & { readonly limit: number },
): Promise<readonly StoredRun[]> {
  if (wanted.agent !== undefined && !caller.mayUse(wanted.agent)) return [];
  const seen: StoredRun[] = [];
  for await (const run of pagedRuns(runs, { ...wanted, most: mostAtOnce })) {
    if (caller.mayUse(run.agent)) seen.push(run);
    if (seen.length >= wanted.limit) break;
  }
  return seen;
}

/** The questions of the runs that a caller sees. If the caller may use all agents, no run is looked up for that. */
export async function questionsSeen({ runs, caller }: Seeing): Promise<readonly WaitingQuestion[]> {
  const all = await runs.waiting();
  const own = all.filter(({ runId }) => runId.startsWith(caller.prefix));
  if (caller.mayUseAll) return own;
  const ids = new Set(own.map(({ runId }) => runId));
  const found = await Promise.all([...ids].map((id) => runs.show(id)));
  const seen = new Set(
    found.flatMap((run) => (run !== undefined && caller.mayUse(run.agent) ? [run.id] : [])),
  );
  return own.filter(({ runId }) => seen.has(runId));
}
