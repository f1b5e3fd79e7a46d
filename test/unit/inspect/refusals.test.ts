import { expect, it } from "vitest";
import { nodeHost } from "../../../src/adapters/clock.ts";
import { durableRuns, memoryRuns, type RunStore } from "../../../src/durable.ts";
import { agent, fs, net, tool } from "../../../src/index.ts";
import { loadRun } from "../../../src/inspect/load-run.ts";
import type { InspectedCall, InspectedRun } from "../../../src/inspect/view.ts";
import { planned } from "../../acceptance/durable-place.ts";
import { answered, clerk, waitingRun } from "./scene.ts";

/** The run as the page shows it without the program. */
const view = (store: RunStore): Promise<InspectedRun> =>
  loadRun("mail-1", { store, agents: [], host: nodeHost, known: new Map() });
const callsIn = ({ turns }: InspectedRun): readonly InspectedCall[] => turns.flatMap(({ calls }) => calls);
const isRefusal = ({ key }: { readonly key: string }): boolean => key.endsWith("/refused");

/** The store as a version left it that kept no refusals. */
async function olderStore(store: RunStore): Promise<RunStore> {
  const moved = await store.moveOut("mail-1");
  expect(moved.records.some(isRefusal)).toBe(true);
  const older = memoryRuns();
  await older.moveIn({ ...moved, records: moved.records.filter((record) => !isRefusal(record)) });
  return older;
}

it("goes on with a run that an earlier version began, which kept no refusals, and keeps them then", async () => {
  const store = await olderStore(await waitingRun());
  const before = await view(store);
  expect(callsIn(before)[2]).toMatchObject({ tool: "find_order", state: "refused" });
  expect(before.notes).toEqual([expect.stringContaining("writ inspect agent.ts")]);
  await answered(store, true);
  const after = await view(store);
  expect(after.notes).toEqual([]);
  expect(callsIn(after).map(({ decision }) => decision?.rule)).toEqual([
    "sensible",
    "sensible",
    "arguments",
    "allow-list",
    "sensible",
  ]);
});

it("replays an ended run alike with its refusals and without them", async () => {
  const store = await waitingRun();
  await answered(store, true);
  const facts = (from: RunStore): Promise<readonly object[]> =>
    Array.fromAsync(durableRuns({ store: from, agents: [clerk()] }).events("mail-1"), (fact) => ({
      ...fact,
      at: 0, // the time of the replay
    }));
  const told = await facts(store);
  expect(told.length).toBeGreaterThan(10);
  expect(await facts(await olderStore(store))).toEqual(told);
});

it("says of a call that nobody knows about that it is unknown, and not that it failed", async () => {
  const store = await waitingRun();
  await answered(store, true);
  const { records, ...moved } = await store.moveOut("mail-1");
  const lost = memoryRuns();
  const losing = ({ key, json }: (typeof records)[number]): string | undefined =>
    key === "turn/2/call/1" ? json?.replace('"status":"ok"', '"status":"unknown"') : json;
  await lost.moveIn({ ...moved, records: records.map((record) => ({ ...record, json: losing(record) })) });
  expect(callsIn(await view(lost)).at(-1)).toMatchObject({ state: "unknown", status: "unknown" });
});

const long = (letter: string): string => letter.repeat(60);
/** Twenty tools with long names, of which the first wants forty fields. */
const manyTools = Array.from({ length: 20 }, (_, at) =>
  tool({
    name: `${long("t")}_${at}`,
    description: "",
    effect: "read",
    inputSchema: {
      type: "object",
      properties: Object.fromEntries(
        Array.from({ length: 40 }, (__, field) => [`${long("f")}${field}`, { type: "string" }]),
      ),
      required: [`${long("f")}0`, `${long("f")}1`],
    },
    execute: () => "",
  }),
);

it.each([
  ["is not listed", { name: "delete_all" }],
  ["has wrong arguments", { name: `${long("t")}_0` }],
])("keeps less than 1 kB of a call that %s, however long its reason is", async (_what, call) => {
  const store = memoryRuns();
  const one = agent({ name: "many", model: planned([call]), tools: manyTools });
  const runs = durableRuns({ store, agents: [one] });
  await runs.start(one, "go", { id: "mail-1" });
  const worker = runs.work();
  await runs.result("mail-1");
  await worker.drain();
  const kept = (await store.records("mail-1")).filter(isRefusal);
  expect(kept.map(({ key }) => key)).toEqual(["turn/1/call/0/refused"]);
  const bytes = Buffer.byteLength(JSON.stringify(kept));
  expect(bytes).toBeGreaterThan(300);
  expect(bytes).toBeLessThan(1000);
});

it("says without the program what a tool needs, what the run granted, and what was missing", async () => {
  const look = tool({
    name: "look",
    description: "",
    effect: "read",
    inputSchema: { type: "object" },
    needs: [net("api.example.com"), fs.read("/notes")],
    execute: (_args, { fetch }) =>
      fetch("http://elsewhere.example").then(
        () => "there",
        () => "not there",
      ),
  });
  const store = memoryRuns();
  const one = agent({
    name: "looker",
    model: planned([{ name: "look" }]),
    tools: [look],
    grants: [net("*.example.com")],
  });
  const runs = durableRuns({ store, agents: [one] });
  await runs.start(one, "go", { id: "mail-1" });
  const worker = runs.work();
  await runs.result("mail-1");
  await worker.drain();
  expect(callsIn(await view(store))[0]).toMatchObject({
    needs: ["net(api.example.com)", "fs.read(/notes)"],
    granted: ["net(*.example.com)"],
    looks: [{ resource: expect.stringContaining("elsewhere.example"), granted: false }],
  });
});

it("keeps the places at which arguments do not fit the schema, as pointers and not in words alone", async () => {
  const order = tool({
    name: "order",
    description: "",
    inputSchema: {
      type: "object",
      properties: {
        items: { type: "array", items: { type: "object", properties: { "q/ty": { type: "integer" } } } },
        to: { type: "string" },
      },
      required: ["items", "to"],
    },
    effect: "write",
    execute: () => "ordered",
  });
  const items = [{ "q/ty": 1 }, { "q/ty": 2 }, { "q/ty": 3 }, { "q/ty": "many" }];
  const model = ({ messages }: { readonly messages: readonly object[] }) =>
    messages.length > 2 ? "No." : { calls: [{ name: "order", arguments: { items } }] };
  const one = agent({ name: "shop", model, tools: [order] });
  const store = memoryRuns();
  const runs = durableRuns({ store, agents: [one] });
  await runs.start(one, "Order them", { id: "mail-1" });
  const worker = runs.work();
  await runs.result("mail-1");
  await worker.drain();
  expect(callsIn(await view(store))[0]?.faults).toEqual([
    { at: "/to", message: expect.any(String) },
    { at: "/items/3/q~1ty", message: expect.stringContaining("integer") },
  ]);
});
