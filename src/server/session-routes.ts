import { forgetSession } from "../durable/forget-session.ts";
import { pagedRuns } from "../durable/paged-runs.ts";
import { WritError } from "../error/writ-error.ts";
import type { Asked, Route } from "./route.ts";

/** The most runs that are read at a time. */
const mostAtOnce = 1000;

/** The routes about sessions. A caller has their own alone, by the ids that they gave them. */
export const sessionRoutes: readonly Route[] = [
  {
    method: "delete",
    path: "/sessions/{id}",
    summary: "Forgets a session: its conversation, and its runs with all that was recorded of them",
    answer: { status: 204 },
    act: forget,
  },
];

async function forget(asked: Asked): Promise<Response> {
  const { caller, params, runs, served } = asked;
  const id = caller.prefix + (params["id"] ?? "");
  if (!(await mayForget(id, asked))) throw new WritError("session-missing", { id });
  const handle = served.sessions?.(id);
  if (handle !== undefined && handle.erase === undefined) {
    const reason = "what it gives has no `erase`, so that nobody can delete a session.";
    throw new WritError("definition-invalid", { where: "`sessions` of a server", reason });
  }
  const eraseRuns = (): Promise<number> => runs.erase({ session: id });
  const { host } = served;
  const { count, wasKept } =
    handle === undefined
      ? { count: await eraseRuns(), wasKept: false }
      : await forgetSession({ handle, eraseRuns, host });
  if (count === 0 && !wasKept) throw new WritError("session-missing", { id });
  return new Response(null, { status: 204 });
}

/**
 * False where a run of the session is not there for the caller, since they may not use its agent. False also where all of its runs are gone: nobody knows the
 * agents that it was with.
 */
async function mayForget(session: string, { caller, runs }: Asked): Promise<boolean> {
  if (caller.agents === undefined) return true;
  let hasRuns = false;
  for await (const run of pagedRuns(runs, { session, limit: mostAtOnce, most: mostAtOnce })) {
    if (!caller.mayUse(run.agent)) return false;
    hasRuns = true;
  }
  return hasRuns;
}
