import type { WaitingQuestion } from "../durable/run-store.ts";
import type { Asked } from "./route.ts";

type Seeing = Pick<Asked, "runs" | "caller">;

/** The questions of the runs that a caller sees. Where they may use all agents, no run is looked up for that. */
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
