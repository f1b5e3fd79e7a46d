import { beforeEach, describe, expect, it } from "vitest";
import { parallel } from "../../src/compose.ts";
import { durableRuns, type DurableRuns, type WaitingQuestion } from "../../src/durable.ts";
import { agent, type AgentEvent, type Policy, tool } from "../../src/index.ts";
import { recordedJournal } from "../../src/doors.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import { durablePlaces, planned, storesIn } from "./durable-place.ts";

let paid: string[] = [];
beforeEach(() => {
  paid = [];
});
const pay = tool({
  name: "pay",
  description: "",
  inputSchema: { type: "object", properties: { to: { type: "string" } } },
  effect: "irreversible",
  execute({ to }: { readonly to?: string }) {
    paid.push(to ?? "");
    return "paid";
  },
});
const asks: Policy = () => ({ verdict: "ask", rule: "money", reason: "money leaves" });
const model = planned([{ name: "pay", arguments: { to: "kim" } }]);
const payer = agent({ name: "payer", model, tools: [pay], policy: asks });
const yes = ({ request }: WaitingQuestion) => ({ approved: true, hash: request.hash });

async function question(runs: DurableRuns): Promise<WaitingQuestion> {
  await expect.poll(() => runs.waiting("r")).toHaveLength(1);
  await expect.poll(async () => (await runs.show("r"))?.status).toBe("waiting");
  const [asked] = await runs.waiting("r");
  if (asked === undefined) throw new Error("nothing waits");
  return asked;
}

describe.each(durablePlaces)("an approval in %s", (where) => {
  const open = storesIn(where);

  it("that nobody gives in time is refused by a worker, recorded, and told to the model [Z8]", async () => {
    const one = agent({ name: "payer", model, tools: [pay], policy: asks, approvals: { within: "300ms" } });
    const runs = durableRuns({ store: open(), agents: [one] });
    await using _worker = runs.work();
    await runs.start(one, "Go", { id: "r" });
    const asked = await question(runs);
    expect(asked.until).toBe(asked.since + 300);
    expect(await runs.result("r")).toMatchObject({ output: "pay denied" });
    await expect(durableRuns({ store: open() }).answer("r", asked.key, yes(asked))).rejects.toMatchObject({
      code: "question-expired",
    });
    const facts: AgentEvent[] = [];
    for await (const fact of runs.events("r")) facts.push(fact);
    expect(facts.find(({ type }) => type === "approval-answer")).toMatchObject({
      approved: false,
      expired: true,
      reason: "nobody answered within 300ms",
    });
    expect(paid).toEqual([]);
  });

  it("counts when it comes from one who may give it, whose name is kept", async () => {
    const approvals = ({ tool: name }: { tool: string }) => (name === "pay" ? { by: ["kim", "lee"] } : {});
    const one = agent({ name: "payer", model, tools: [pay], policy: asks, approvals });
    const runs = durableRuns({ store: open(), agents: [one] });
    await using _worker = runs.work();
    await runs.start(one, "Go", { id: "r" });
    const asked = await question(runs);
    expect(asked.by).toEqual(["kim", "lee"]);
    await expect(runs.answer("r", asked.key, { ...yes(asked), by: "eve" })).rejects.toMatchObject({
      code: "question-forbidden",
      message: expect.stringContaining("eve"),
    });
    expect(paid).toEqual([]);
    await runs.answer("r", asked.key, { ...yes(asked), by: "lee" });
    expect(await runs.result("r")).toMatchObject({ output: "pay ok" });
    await expect(runs.answer("r", asked.key, { ...yes(asked), by: "kim" })).rejects.toMatchObject({
      code: "question-answered",
      data: { by: "lee" },
    });
    const answers: AgentEvent[] = [];
    for await (const fact of runs.events("r")) if (fact.type === "approval-answer") answers.push(fact);
    expect(answers).toMatchObject([{ approved: true, by: "lee" }]);
    expect(answers[0]).not.toHaveProperty("hash");
    expect(paid).toEqual(["kim"]);
  });

  it("names its agents, from the outermost, and those inside have the terms of the one around them", async () => {
    const boss = agent({
      name: "boss",
      model: planned([{ name: "payer", arguments: { input: "x" } }]),
      tools: [payer.asTool()],
      approvals: { within: "2d", by: ["kim"] },
    });
    const runs = durableRuns({ store: open(), agents: [boss] });
    await using _worker = runs.work();
    await runs.start(boss, "Go", { id: "r" });
    const asked = await question(runs);
    expect(asked).toMatchObject({ by: ["kim"], until: asked.since + 2 * 86_400_000 });
    expect(asked.request.path).toEqual(["boss", "payer"]);
    expect(asked.request.policy).toMatch(/^[0-9a-f]{64}$/);
    await runs.answer("r", asked.key, { ...yes(asked), by: "kim" });
    expect(await runs.result("r")).toMatchObject({ output: "payer ok" });
  });

  it("is held to the terms of the agent around, through agents put together too", async () => {
    const group = parallel([payer]).with({ name: "group" });
    const boss = agent({
      name: "boss",
      model: planned([{ name: "group", arguments: { input: "x" } }]),
      tools: [group.asTool()],
      approvals: { within: "2d", by: ["kim"] },
    });
    const runs = durableRuns({ store: open(), agents: [boss] });
    await using _worker = runs.work();
    await runs.start(boss, "Go", { id: "r" });
    const asked = await question(runs);
    expect(asked).toMatchObject({ by: ["kim"], until: asked.since + 2 * 86_400_000 });
    await expect(runs.answer("r", asked.key, { ...yes(asked), by: "eve" })).rejects.toMatchObject({
      code: "question-forbidden",
    });
    await runs.answer("r", asked.key, { ...yes(asked), by: "kim" });
    expect(await runs.result("r")).toMatchObject({ output: "group ok" });
  });

  it("for a question of another policy is refused, unless the change was meant", async () => {
    const boss = (policy: Policy) =>
      agent({
        name: "boss",
        model: planned([{ name: "payer", arguments: { input: "x" } }]),
        tools: [agent({ name: "payer", model, tools: [pay], policy }).asTool()],
      });
    const before = durableRuns({ store: open(), agents: [boss(asks)] });
    const worker = before.work();
    await before.start(boss(asks), "Go", { id: "r" });
    const asked = await question(before);
    await worker.drain();
    const stricter: Policy = () => ({ verdict: "ask", rule: "stricter", reason: "money leaves" });
    const agents = [boss(stricter)];
    const after = durableRuns({ store: open(), agents });
    const stale = { code: "question-stale" };
    await expect(after.answer("r", asked.key, yes(asked))).rejects.toMatchObject(stale);
    const meant = durableRuns({ store: open(), agents, accept: ["policy"] });
    const store = open();
    const journal = await store.open("r"); // another worker, which asks again
    await agents[0]?.run("Go", { journal, runId: "r", accept: ["policy"] });
    await journal.wait();
    const [again] = await meant.waiting("r");
    expect(again?.request.hash).toBe(asked.request.hash);
    const { policy } = asked.request;
    await expect(meant.answer("r", asked.key, { ...yes(asked), policy })).rejects.toMatchObject(stale);
    expect(paid).toEqual([]);
    await meant.answer("r", asked.key, { ...yes(asked), policy: again?.request.policy });
    await using _worker = meant.work();
    expect(await meant.result("r")).toMatchObject({ output: "payer ok" });
    expect(paid).toEqual(["kim"]);
  });
});

describe("an approval whose call was changed in the store", () => {
  it("lets nothing run, whatever changes the caller accepts", async () => {
    using store = sqliteRuns(":memory:");
    const runs = durableRuns({ store, agents: [payer] });
    await runs.start(payer, "Go", { id: "r" });
    const worker = runs.work();
    const asked = await question(runs);
    await worker.drain();
    await runs.answer("r", asked.key, yes(asked));
    const records = (await store.records("r")).map(({ json, ...record }) => ({
      ...record,
      ...(json === undefined ? {} : { json: json.replaceAll('"kim"', '"eve"') }),
    }));
    const journal = recordedJournal(records, () => undefined);
    const going = payer.run("Go", { journal, runId: "r", accept: ["arguments"] });
    await expect(going).rejects.toMatchObject({
      code: "journal-mismatch",
      data: { key: asked.key, run: "r", parts: "arguments" },
      hint: expect.stringContaining("only holds for the arguments that it was given for") as string,
    });
    expect(paid).toEqual([]);
  });
});

describe("the terms of approvals", () => {
  it.each([
    { approvals: { within: "two days" }, says: /approvals\.within` must be a time span/ },
    { approvals: { by: "kim" }, says: /approvals\.by` must be a list of names/ },
    { approvals: { by: [] }, says: /approvals\.by` must name somebody/ },
    { approvals: { by: [""] }, says: /approvals\.by\[0\]` must be a text that is not empty/ },
    { approvals: { whithin: "2d" }, says: /"whithin".*within/ },
  ])("are checked when the agent is defined: $approvals", ({ approvals, says }) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as plain JavaScript may write it
    expect(() => agent({ name: "payer", model, approvals: approvals as never })).toThrow(says);
  });
});
