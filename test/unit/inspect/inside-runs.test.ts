import { expect, it } from "vitest";
import { nodeHost } from "../../../src/adapters/clock.ts";
import { parallel, pipe } from "../../../src/compose.ts";
import { durableRuns, memoryRuns } from "../../../src/durable.ts";
import { type Agent, agent, tool } from "../../../src/index.ts";
import { loadRun } from "../../../src/inspect/load-run.ts";
import { folds, rowAround, rowsOf, type WaterfallRow } from "../../../src/inspect/page/rows.ts";
import type { InspectedRun } from "../../../src/inspect/view.ts";
import { planned } from "../../acceptance/durable-place.ts";

const look = tool({
  name: "look",
  description: "",
  effect: "read",
  inputSchema: { type: "object", properties: { id: { type: "string" } } },
  execute: ({ id }) => `seen ${JSON.stringify(id)}`,
});
const reader = agent({
  name: "reader",
  model: planned([{ name: "look", arguments: { id: "1" } }, { name: "wipe" }]),
  tools: [look],
});
const clerk = agent({
  name: "clerk",
  model: planned([{ name: "reader", arguments: { input: "the mail" } }]),
  tools: [reader.asTool({ description: "" })],
});
const boss = agent({
  name: "boss",
  model: planned([
    { name: "clerk", arguments: { input: "today" } },
    { name: "look", arguments: { id: "2" } },
  ]),
  tools: [clerk.asTool({ description: "" }), look],
});

async function view(one: Agent<string>, agents: readonly Agent<string>[] = []): Promise<InspectedRun> {
  const store = memoryRuns();
  const runs = durableRuns({ store, agents: [one] });
  await runs.start(one, "go", { id: "run-1" });
  const worker = runs.work();
  await runs.result("run-1");
  await worker.drain();
  const known = new Map(agents.map(({ name }) => [name, {}]));
  return loadRun("run-1", { store, agents, host: nodeHost, known });
}

const words = (row: WaterfallRow): string => {
  if (row.type === "turn") return `turn ${row.turn.number}`;
  return row.type === "run" ? `${row.run.agent}: ${row.run.outcome}` : `${row.call.tool} ${row.call.state}`;
};
const shown = (rows: readonly WaterfallRow[]): readonly string[] =>
  rows.map((row) => `${"  ".repeat(row.level - 1)}${words(row)}`);

it.each([
  ["the program", [boss]],
  ["the records alone", []],
] as const)("shows runs inside runs as rows further to the right, with %s", async (_of, agents) => {
  const rows = rowsOf(await view(boss, agents), new Set());
  expect(shown(rows)).toEqual([
    "turn 1",
    "  clerk done",
    "    clerk: answered",
    "      turn 1",
    "        reader done",
    "          reader: answered",
    "            turn 1",
    "              look done",
    "              wipe refused",
    "            turn 2",
    "      turn 2",
    "  look done",
    "turn 2",
  ]);
  expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
});

it("leaves out what is in a closed row, and knows the row around each", async () => {
  const run = await view(boss);
  const rows = rowsOf(run, new Set());
  const inside = rows.find((row) => row.type === "run" && row.run.agent === "clerk");
  expect(shown(rowsOf(run, new Set([inside?.key ?? ""])))).toEqual([
    "turn 1",
    "  clerk done",
    "    clerk: answered",
    "  look done",
    "turn 2",
  ]);
  expect(inside && folds(inside) && inside.isOpen).toBe(true);
  expect(inside && rowAround(rows, inside)).toMatchObject({ type: "call", call: { tool: "clerk" } });
  expect(rows[0] && rowAround(rows, rows[0])).toBeUndefined();
});

it("says of a call inside why it was refused, and whose it is", async () => {
  const rows = rowsOf(await view(boss), new Set());
  const wipe = rows.find((row) => row.type === "call" && row.call.tool === "wipe");
  expect(wipe).toMatchObject({
    call: {
      within: expect.stringMatching(/reader~\w+\/1$/),
      decision: { verdict: "deny", rule: "allow-list" },
    },
  });
});

it("shows the steps of a composition, which has no turns of its own", async () => {
  const shout = agent({ name: "shout", model: () => "LOUD" });
  const both = parallel([reader, shout], { aggregate: (texts) => texts.join(" ") });
  const run = await view(pipe(both, shout).with({ name: "piped" }) as unknown as Agent<string>);
  expect(shown(rowsOf(run, new Set()))).toEqual([
    "parallel(reader, shout): undefined",
    "  reader: undefined",
    "    turn 1",
    "      look done",
    "      wipe refused",
    "    turn 2",
    "  shout: undefined",
    "    turn 1",
    "shout: undefined",
    "  turn 1",
  ]);
  expect(run.critical).not.toEqual([]);
});
