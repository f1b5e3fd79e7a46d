import { expect, it } from "vitest";
import { protocol } from "../../../src/durable/protocol.ts";
import { memoryRuns } from "../../../src/durable.ts";
import { RunIndex } from "../../../src/inspect/run-index.ts";

it("keeps the latest runs, also of those that begin while it looks", async () => {
  let now = 0;
  const store = memoryRuns();
  const list: typeof store.list = async (wanted) =>
    (await store.list(wanted)).map((run) => ({ ...run, begunAt: Number(run.id) }));
  const index = new RunIndex(Object.assign(Object.create(store) as typeof store, { list }));
  index.most = 20;
  const told: string[] = [];
  index.watch(({ erased }) => told.push(...erased));
  await index.open();
  for (let look = 0; look < 10; look += 1) {
    for (let each = 0; each < 5; each += 1)
      await store.begin({ id: `${(now += 1)}`, agent: "a", input: "", options: {}, protocol });
    await index.look();
  }
  expect(index.list().length).toBeLessThan(25);
  expect(index.list()[0]?.id).toBe("50");
  expect(told).toContain("1");
  index.close();
});

it("reads the known records of open runs once, and sees each new one", async () => {
  const store = memoryRuns();
  let rows = 0;
  const records: typeof store.records = async (id, after) => {
    const found = await store.records(id, after);
    rows += found.length;
    return found;
  };
  const journals = [];
  for (const id of ["1", "2"]) {
    const journal = await store.open(id);
    for (let turn = 1; turn <= 50; turn += 1)
      await journal.step({ key: `turn/${turn}/note`, run: async () => turn });
    journals.push(journal);
  }
  const index = new RunIndex(Object.assign(Object.create(store) as typeof store, { records }));
  const told: string[] = [];
  await index.open();
  await index.look();
  index.watch(({ runs }) => told.push(...runs.map(({ id }) => id)));
  rows = 0;
  await index.look();
  expect([rows, told]).toEqual([0, []]);
  await journals[1]?.step({ key: "turn/51/tool", run: async () => "heron" });
  await index.look();
  expect([rows, told]).toEqual([52, ["2"]]);
  index.close();
});
