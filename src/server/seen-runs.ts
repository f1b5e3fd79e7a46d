import { pagedRuns } from "../durable/paged-runs.ts";
import type { QuestionFilter, RunFilter, StoredRun, WaitingQuestion } from "../durable/run-store.ts";
import { WritError } from "../error/writ-error.ts";
import { isJsonList, parseJson } from "../util/json.ts";
import { fits, string, whole } from "../util/shape.ts";
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

/** A page of the open questions of the runs that a caller sees. @throws WritError `request-invalid` */
export async function questionsSeen({
  runs,
  caller,
  served,
  query: { after, limit },
}: Asked): Promise<readonly WaitingQuestion[]> {
  const { prefix, agents: own, mayUse } = caller;
  const known = (served.agents ?? []).map(({ name }) => name); // also those that work for one of their own
  return runs.waiting({
    prefix,
    ...(own === undefined ? {} : { agents: [...own, ...known].filter(mayUse) }),
    ...(after === undefined ? {} : { after: placeIn(after, prefix) }),
    ...(limit === undefined ? {} : { limit: Number(limit) }),
  });
}

function placeIn(text: string, prefix: string): NonNullable<QuestionFilter["after"]> {
  const parsed = parseJson(text);
  const [since, runId, key] = parsed.ok && isJsonList(parsed.value) ? parsed.value : [];
  if (fits(whole, since) && fits(string, runId) && fits(string, key))
    return { since, runId: prefix + runId, key };
  const reason = "it is not the `since`, `runId` and `key` of a question, as an array of JSON";
  throw new WritError("request-invalid", { where: "`after`", reason });
}
