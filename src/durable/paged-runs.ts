import { isWritError } from "../error/writ-error.ts";
import type { RunFilter, RunStore, StoredRun } from "./run-store.ts";

/** A filter of runs, with the number that is read first, and the number that is read at a time after that. */
export interface PagedRuns extends RunFilter {
  readonly limit: number;
  readonly most: number;
}

/**
 * All wanted runs, latest first, read page by page. If the last run of a page is erased meanwhile, the next page begins after the run before it.
 *
 * @throws WritError `run-missing` if the run named in `before` is gone
 */
export async function* pagedRuns(
  store: Pick<RunStore, "list">,
  { limit, most, before: first, ...wanted }: PagedRuns,
): AsyncGenerator<StoredRun, void> {
  const seen: string[] = [];
  for (let size = limit; ;) {
    const before = seen.at(-1) ?? first;
    let page: readonly StoredRun[];
    try {
      page = await store.list({ ...wanted, limit: size, ...(before === undefined ? {} : { before }) });
    } catch (error) {
      if (!isWritError(error, "run-missing") || seen.pop() === undefined) throw error;
      continue;
    }
    yield* page;
    if (page.length < size) return;
    for (const { id } of page) seen.push(id);
    size = most;
  }
}
