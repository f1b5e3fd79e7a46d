import { expect, it } from "vitest";
import { memoryRuns } from "../../../src/durable.ts";
import { pagedRuns } from "../../../src/durable/paged-runs.ts";
import { protocol } from "../../../src/durable/protocol.ts";

it("reads all runs, though the last of a page is erased before the next is read", async () => {
  const store = memoryRuns();
  for (const id of ["1", "2", "3", "4", "5"])
    await store.begin({ id, agent: "a", input: null, options: {}, protocol });
  const seen: string[] = [];
  for await (const { id } of pagedRuns(store, { limit: 2, most: 2 })) {
    seen.push(id);
    if (id === "4") for (const gone of ["5", "4"]) await store.erase({ id: gone });
  }
  expect(seen).toEqual(["5", "4", "3", "2", "1"]);
  const after = pagedRuns(store, { limit: 2, most: 2, before: "5" });
  await expect(after.next()).rejects.toMatchObject({ code: "run-missing" });
});
