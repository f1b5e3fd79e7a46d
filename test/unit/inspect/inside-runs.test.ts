import { expect, it } from "vitest";
import { nodeHost } from "../../../src/adapters/clock.ts";
import { parallel, pipe } from "../../../src/compose.ts";
import { durableRuns, memoryRuns } from "../../../src/durable.ts";
import { type Agent, agent, tool } from "../../../src/index.ts";
import { conversationsIn } from "../../../src/inspect/conversations.ts";
import { loadRun } from "../../../src/inspect/load-run.ts";
import { folds, rowAround, rowsOf, type WaterfallRow } from "../../../src/inspect/page/rows.ts";
import { originsOf } from "../../../src/inspect/value-origins.ts";
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

const deep = () => {
  const note = tool({
    name: "note",
    description: "",
    effect: "read",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    execute: () => "the number 4711",
  });
  const found = planned(
    [{ name: "note", arguments: { text: "the mail" } }],
    [{ name: "note", arguments: { text: "4711" } }],
  );
  const finder = agent({ name: "finder", model: found, tools: [note] });
  const chief = agent({
    name: "chief",
    model: planned([{ name: "finder", arguments: { input: "Read the mail" } }]),
    tools: [finder.asTool({ description: "" })],
  });
  return view(chief);
};

it("gives each turn of a run inside the prompt that its model was shown", async () => {
  const [own, inside] = conversationsIn(await deep());
  expect(own?.messages.map(({ role }) => role)).toEqual(["user", "model", "tool", "model"]);
  expect(inside).toMatchObject({ agent: "finder", depth: 1 });
  expect(inside?.messages.slice(0, 3)).toMatchObject([
    { role: "user", text: "Read the mail" },
    { role: "model", turn: 1 },
    { role: "tool", name: "note", text: "the number 4711" },
  ]);
  expect(inside?.turns.map(({ promptLength }) => promptLength)).toEqual([1, 3, 5]);
});

it("sends the text of a result once, which the call and the prompts show", async () => {
  const sent = JSON.stringify(await deep());
  expect(sent.match(/the number 4711/g)).toHaveLength(2); // of two calls
});

it("finds where values of a call inside come from in the conversation of its own run", async () => {
  const run = await deep();
  const calls = conversationsIn(run)[1]?.turns.flatMap((turn) => turn.calls) ?? [];
  expect(calls.flatMap((call) => originsOf(run, call))).toMatchObject([
    { value: "the mail", seenIn: "the input" },
    { value: "4711", seenIn: "turn 1, note" },
  ]);
});

it("knows what the steps of a composition were asked, as far as it was said before", async () => {
  const shout = agent({ name: "shout", model: () => "LOUD" });
  const last = agent({ name: "last", model: () => "quiet" });
  const made = agent({ name: "made", model: () => "third" });
  const joined = pipe(shout, parallel([last, made], { aggregate: (texts) => texts.join(" ") }), last);
  const run = await view(joined.with({ name: "piped" }) as unknown as Agent<string>);
  const asked = conversationsIn(run).map(({ agent: name, messages: [first] }) => [
    name,
    first?.role,
    first?.text,
  ]);
  expect(asked).toContainEqual(["shout", "user", "go"]);
  expect(asked).toContainEqual(["made", "user", "LOUD"]);
  expect(asked.at(-1)).toEqual(["last", "model", "quiet"]); // its input was put together: no record has it
});
