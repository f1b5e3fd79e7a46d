import { expect, it } from "vitest";
import { nodeHost } from "../../../src/adapters/clock.ts";
import type { RunStore } from "../../../src/durable.ts";
import { conversationsIn } from "../../../src/inspect/conversations.ts";
import { type KnownAgent, loadRun } from "../../../src/inspect/load-run.ts";
import { originsOf } from "../../../src/inspect/value-origins.ts";
import type { InspectedCall, InspectedRun } from "../../../src/inspect/view.ts";
import { answered, clerk, waitingRun } from "./scene.ts";

/** The view of the run, with the agent's program or without. */
async function view(store: RunStore, agents = [clerk()]): Promise<InspectedRun> {
  const known = new Map<string, KnownAgent>(
    await Promise.all(
      agents.map(
        async (one) => [one.name, { manifest: await one.manifest(), instructions: "Be a clerk." }] as const,
      ),
    ),
  );
  return loadRun("mail-1", { store, agents, host: nodeHost, known });
}

const callsIn = ({ turns }: InspectedRun): readonly InspectedCall[] => turns.flatMap(({ calls }) => calls);
const about = (run: InspectedRun): readonly string[] =>
  callsIn(run).map(({ tool, state, decision }) => `${tool} ${state} ${decision?.verdict} ${decision?.rule}`);

it("says of each call what became of it, and which rule decided", async () => {
  const run = await view(await waitingRun());
  expect(about(run)).toEqual([
    "read_mail done allow sensible",
    "find_order done allow sensible",
    "find_order refused deny arguments",
    "delete_all refused deny allow-list",
    "send_mail waiting ask sensible",
  ]);
  expect(run).toMatchObject({
    source: "replay",
    notes: [],
    run: { status: "waiting", waiting: 1, refused: 2 },
  });
});

it("says without the program what the records say: which rule decided each call, and what the model was told of it", async () => {
  const run = await view(await waitingRun(), []);
  expect(about(run)).toEqual([
    "read_mail done allow sensible",
    "find_order done allow sensible",
    "find_order refused deny arguments",
    "delete_all refused deny allow-list",
    "send_mail waiting ask sensible",
  ]);
  expect(callsIn(run)[2]).toMatchObject({
    status: "invalid",
    decision: { remedy: "arguments that match the input schema" },
    result: { text: expect.stringContaining("Missing required parameters: id") },
  });
  expect(run).toMatchObject({ source: "records", notes: [], run: { refused: 2 } });
});

it("has the value of a tool once where the text tells it whole: long results came twice, before the first row was shown", async () => {
  const [read, find] = callsIn(await view(await waitingRun()));
  expect(read?.result).toEqual({ text: "From eve@example.net: what does it cost?" });
  expect(find?.result).toEqual({ text: '{"id":"17","euro":30}' });
});

it("tells where the values of a call come from, and which the user chose", async () => {
  const run = await view(await waitingRun());
  const [mail] = callsIn(run).slice(-1);
  expect(mail && originsOf(run, mail)).toEqual([
    { path: "to", value: "eve@example.net", seenIn: "turn 1, read_mail", isBound: false },
    { path: "text", value: "Order 17 costs 30.", isBound: false },
  ]);
  expect(mail?.explanation).toContain("seen: untrusted");
});

it("tells of a value that the model wrote, and that is the default of the schema anyway", async () => {
  const run = await view(await waitingRun());
  const [mail] = callsIn(run).slice(-1);
  const request = mail?.question?.request;
  if (mail?.question === undefined || request === undefined) throw new Error("it waits for an answer");
  const values = request.values.map((each) =>
    each.path === "text" ? { ...each, bound: true, default: true as const } : each,
  );
  const asked = { ...mail, question: { ...mail.question, request: { ...request, values } } };
  expect(originsOf(run, asked)[1]).toEqual({
    path: "text",
    value: "Order 17 costs 30.",
    isBound: true,
    isDefault: true,
  });
});

it.each([
  [true, "done", "yes"],
  [false, "refused", "no"],
])("keeps the answer of a person, approved: %j", async (approved, state) => {
  const store = await waitingRun();
  await answered(store, approved);
  const run = await view(store);
  const mail = callsIn(run).at(-1);
  expect(mail).toMatchObject({ state, question: { answer: { approved, by: "kim" } } });
  expect(run.outcome?.type).toBe("answered");
  const spans = mail?.spans.map(({ phase, isExact }) => `${phase} ${isExact}`);
  expect(spans).toContain("waited true");
  expect(spans?.includes("executed true")).toBe(approved);
});

it("gives each turn the prompt that its model was shown: those of the turn before, and what is new", async () => {
  const [{ turns, messages } = { turns: [], messages: [] }] = conversationsIn(await view(await waitingRun()));
  expect(turns.map(({ promptLength }) => promptLength)).toEqual([2, 6]);
  expect(messages.slice(0, 6).map(({ role, name = "" }) => `${role} ${name}`.trim())).toEqual([
    "system",
    "user",
    "model",
    "tool read_mail",
    "tool find_order",
    "tool find_order",
  ]);
});

it("counts no time that a run waits for a person", async () => {
  const store = await waitingRun();
  const later = { ...nodeHost, now: () => nodeHost.now() + 3_600_000 };
  const { budgets } = await loadRun("mail-1", { store, agents: [], host: later, known: new Map() });
  const { used = 0 } = budgets.find(({ field }) => field === "durationMs") ?? {}; // no time at all is not told
  expect(used).toBeLessThan(60_000);
});

it("counts budgets from the records, with the limits of the program", async () => {
  const store = await waitingRun();
  const budgets = new Map(
    (await view(store)).budgets.map(({ field, used, limit }) => [field, { used, limit }]),
  );
  expect(budgets.get("turns")).toEqual({ used: 2, limit: 8 });
  expect(budgets.get("toolCalls")).toEqual({ used: 5, limit: 32 });
  const alone = (await view(store, [])).budgets.find(({ field }) => field === "turns");
  expect(alone).toEqual({ field: "turns", used: 2 });
});

it("says that another program made the run, and shows its records then", async () => {
  const store = await waitingRun();
  const other = clerk().with({ instructions: "You are somebody else." });
  const run = await view(store, [other]);
  expect(run.source).toBe("records");
  expect(run.notes[0]).toContain("another program");
});
