import { isWritError } from "../error/writ-error.ts";
import type { RunFilter, RunStore, StoredRun } from "./run-store.ts";

/** Runs of which so many are read first, and then at most so many at a time. */
export interface PagedRuns extends RunFilter {
  readonly limit: number;
  readonly most: number;
}

/**
 * All runs that are wanted, the latest first, read page by page. Where the last of a page is erased meanwhile, the next one begins behind the one before it.
 *
 * @throws WritError `run-missing` where the run is gone that they are to be before
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
