import type { Host } from "../journal/host.ts";
import type { DurableAround } from "./durable-options.ts";
import { leftToLater } from "./protocol.ts";
import { repeatedly } from "./repeatedly.ts";
import type { RunStore, StoredRun } from "./run-store.ts";

/** The most runs of an agent that are looked at. */
const most = 100;

/** Tells the author that no worker takes a run: once for an agent, and for each run of a later version. */
export async function tellUntaken(
  run: StoredRun,
  { store, host }: Pick<DurableAround, "store" | "host">,
): Promise<void> {
  const later = leftToLater(run);
  const text = later === undefined ? await withoutWorker(run, store) : `${later.message} ${later.hint}`;
  if (text !== undefined) tell(text, host);
}

/** Undefined if other runs of the agent are being carried out: then this one only has to wait. */
async function withoutWorker({ agent, session }: StoredRun, store: RunStore): Promise<string | undefined> {
  const atWork = await store.list({ status: "running", agent, limit: 1 });
  if (atWork.length > 0) return undefined;
  const has =
    session === undefined ? `"${agent}" in \`agents\`` : `"${agent}" in \`agents\` and \`sessions\``;
  return `No worker takes the runs of "${agent}". Begin one, here or in another process: \`durableRuns({ store, agents }).work()\`, with ${has}.`;
}

/** Tells the author, once for an agent, that a worker without `sessions` leaves its runs of a session to others. Returns a function that ends the looking. */
export function tellLeft(alone: readonly string[], { store, host }: DurableAround): () => void {
  const told = new Set<string>();
  return repeatedly(host, async () => {
    for (const agent of alone.filter((name) => !told.has(name))) {
      const ready = await store.list({ status: "ready", agent, limit: most });
      const left = ready.findLast(({ session }) => session !== undefined);
      if (left === undefined) continue;
      told.add(agent);
      const why = `A worker without \`sessions\` leaves "${left.id}" of "${agent}" to others, because it belongs to the session "${left.session}".`;
      tell(
        `${why} Give \`durableRuns({ sessions: (id) => session(store, id) })\`, or \`sessions: () => undefined\` where sessions only group runs.`,
        host,
      );
    }
  });
}

function tell(text: string, { warn }: Host): void {
  warn?.({ code: "WRIT_RUN_UNTAKEN", text, isDeprecation: false });
}
