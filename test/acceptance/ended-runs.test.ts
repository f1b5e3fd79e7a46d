import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import {
  type Agent,
  agent,
  type AgentEvent,
  type Journal,
  inMemorySessions,
  isFact,
  memoryJournal,
  session,
  tool,
} from "../../src/index.ts";
import { type Composite, parallel, pipe, race } from "../../src/compose.ts";
import { execute, type JournalRecord, recordedJournal } from "../../src/doors.ts";
import { fakeTool, scripted } from "../../src/testing.ts";

const keysOf = (records: readonly JournalRecord[]): readonly string[] => records.map(({ key }) => key);
const call = (name: string): { readonly calls: readonly [{ readonly name: string }] } => ({
  calls: [{ name }],
});
const at = (records: readonly JournalRecord[], key: string): unknown =>
  JSON.parse(records.findLast((record) => record.key === key)?.json ?? "null");

const wait = tool({
  name: "wait",
  description: "",
  inputSchema: { type: "object" },
  effect: "read",
  execute: () => sleep(60_000),
});

describe("the end of a run in its journal", () => {
  it("is one record, after which nothing of the run happens again", async () => {
    const journal = memoryJournal();
    const pay = fakeTool("pay", "paid");
    const clerk = agent({ name: "clerk", model: scripted([call("pay"), "done"]), tools: [pay] });
    const first = await clerk.run("Pay", { journal, runId: "r" });
    expect(keysOf(journal.records)).toEqual([
      "start",
      "turn/1/model",
      "turn/1/call/0",
      "turn/2/model",
      "end",
    ]);
    expect(at(journal.records, "end")).toMatchObject({ outcome: { type: "answered" } });
    expect(journal.records.at(-1)?.json).not.toContain("done"); // the answer stands in the records before
    const again = await clerk.run("Pay", { journal, runId: "r" });
    expect(again.outcome).toEqual(first.outcome);
    const asks = clerk.with({ model: scripted([call("pay"), call("pay"), "another"]) });
    const records = journal.records.filter(({ key }) => key !== "turn/2/model");
    await expect(asks.run("Pay", { journal: memoryJournal(records), runId: "r" })).rejects.toMatchObject({
      code: "journal-ended",
      data: { run: "r", key: "turn/2/model" },
    });
    expect(pay.calls).toHaveLength(1);
  });

  it("of a cancelled run is final: replayed, it asks nobody and sends nothing", async () => {
    const sent: string[] = [];
    const mail = tool({
      name: "mail",
      description: "",
      inputSchema: { type: "object" },
      effect: "irreversible",
      execute: () => sent.push("mail"),
    });
    const make = (...steps: Parameters<typeof scripted>[0]) =>
      agent({ name: "clerk", model: scripted(steps), tools: [mail, wait] });
    const journal = memoryJournal();
    const cancel = AbortSignal.timeout(20);
    const first = await make(call("wait")).run("Go", { journal, runId: "r", signal: cancel });
    expect(first.outcome.type).toBe("cancelled");
    const again = await make(call("mail"), "sent").run("Go", { journal, runId: "r", approve: () => true });
    expect(again.outcome).toEqual(first.outcome);
    expect(again.transcript.toJSON()).toEqual(first.transcript.toJSON());
    expect(sent).toEqual([]);
  });

  it("of a cancelled run is written before anything is told to end", async () => {
    const order: string[] = [];
    const records: JournalRecord[] = [];
    const journal = recordedJournal([], async (record) => {
      await sleep(5);
      records.push(record);
      order.push(record.key);
    });
    const controller = new AbortController();
    const wait = tool({
      name: "wait",
      description: "",
      inputSchema: { type: "object" },
      effect: "read",
      execute: (_args, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            order.push("aborted");
            resolve("late");
          });
          setTimeout(() => controller.abort("enough"), 5);
        }),
    });
    const one = agent({ name: "clerk", model: scripted([call("wait")]), tools: [wait] });
    const { outcome } = await one.run("Go", { journal, runId: "r", signal: controller.signal });
    expect(outcome).toEqual({ type: "cancelled", reason: "enough" });
    expect(order.slice(2)).toEqual(["end", "aborted", "turn/1/call/0"]);
  });

  it("stays that of the cancel where the run answered while that was written", async () => {
    const controller = new AbortController();
    const journal = recordedJournal([], async ({ key }) => {
      if (key === "turn/1/model") controller.abort("enough");
      await sleep(key === "end" ? 30 : 5);
    });
    const { outcome } = await agent({ name: "a", model: () => "done" }).run("Go", {
      journal,
      signal: controller.signal,
    });
    expect(outcome.type).toBe("cancelled");
  });

  it("is not for good where the world failed or its time was over: the run goes on", async () => {
    const journal = memoryJournal();
    const model = scripted([new Error("no line"), call("wait"), "done"]);
    const one = agent({ name: "clerk", model, tools: [wait], budget: { durationMs: 40 } });
    await expect(one.run("Go", { journal, runId: "r" })).rejects.toMatchObject({ code: "provider-failed" });
    expect((await one.run("Go", { journal, runId: "r" })).outcome.type).toBe("exhausted");
    expect(at(journal.records, "end/1")).toMatchObject({
      outcome: { type: "failed" },
      open: ["turn/1/model"],
    });
    expect(at(journal.records, "end/2")).toMatchObject({
      outcome: { type: "exhausted" },
      stop: { type: "duration" },
    });
  });

  it.each<[string, (one: Agent<string, string>, other: Agent<string, string>) => Composite<string>]>([
    ["at the same time", (one, other) => parallel([one, other], { aggregate: String })],
    [
      "beside a longer way",
      (one, other) => {
        const way = pipe(pipe(other, other, other), pipe(other, other, other), one);
        return parallel({ one, way }, { aggregate: String });
      },
    ],
    ["one after another", (one, other) => pipe(other, one)],
    ["each when the one before it failed", (one, other) => race([one, other], { concurrency: 1 })],
  ])("is told by a replay of agents that ran %s until their time was over", async (_how, put) => {
    const stuck = agent({ name: "stuck", model: () => sleep(60_000, "late") });
    const group = put(stuck, agent({ name: "quick", model: () => "here" })).with({
      budget: { durationMs: 60 },
    });
    const told = async (mode?: "replay", records?: readonly JournalRecord[]) => {
      const journal = memoryJournal(records, mode && { mode });
      const facts: AgentEvent[] = [];
      const onEvent = (event: AgentEvent) => void (isFact(event) && facts.push(event));
      const { outcome } = await group.run("Go", { journal, runId: "r", onEvent });
      const ends = facts.flatMap((fact) =>
        fact.type === "run-end" ? [`${fact.agent} ${fact.outcome.type}`] : [],
      );
      return { records: journal.records, end: { outcome, ends: ends.toSorted() } };
    };
    const { records, end } = await told();
    expect(end.outcome).toMatchObject({ type: "exhausted", field: "durationMs" });
    expect((await told("replay", records)).end).toEqual(end);
  });

  it("takes the end of an earlier process for no end of a later one", async () => {
    const journal = memoryJournal();
    const model = scripted([new Error("no line"), call("look"), new Error("no line again")]);
    const one = agent({ name: "clerk", model, tools: [fakeTool("look", "seen")] });
    await expect(one.run("Go", { journal, runId: "r" })).rejects.toMatchObject({ code: "provider-failed" });
    await expect(one.run("Go", { journal, runId: "r" })).rejects.toMatchObject({ code: "provider-failed" });
    const died = journal.records.filter(({ key }) => key !== "end/2"); // after its second turn began
    const replay = one.run("Go", { journal: memoryJournal(died, { mode: "replay" }), runId: "r" });
    await expect(replay).rejects.toMatchObject({ code: "journal-ended", data: { key: "turn/2/model" } });
  });

  it("fails the run that it cannot be written for", async () => {
    const journal = recordedJournal([], ({ key }) => {
      if (key === "end") throw new Error("the disk is full");
    });
    const running = agent({ name: "a", model: () => "done" }).run("Go", { journal });
    await expect(running).rejects.toMatchObject({ code: "run-broken" });
  });

  it("needs a journal that can find it: one of one's own goes on as before", async () => {
    const known = new Map<string, string>();
    const journal: Journal = {
      async step({ key, run }) {
        const kept = known.get(key);
        if (kept !== undefined) return JSON.parse(kept);
        const result = await run();
        known.set(key, JSON.stringify(result));
        return result;
      },
      all: (steps) => Promise.all(steps.map((step) => journal.step(step))),
    };
    await agent({ name: "a", model: () => "done" }).run("Go", { journal });
    expect([...known.keys()]).toEqual(["start", "turn/1/model"]);
  });
});

describe("the beginning of a run in its journal", () => {
  it("keeps all that it takes to begin it again, of agents, functions and compositions", async () => {
    const store = inMemorySessions();
    const options = { instructions: "Be kind.", tools: ["look"], session: session(store, "s") };
    const journal = memoryJournal();
    const one = agent({ name: "clerk", model: () => "done", tools: [fakeTool("look", "seen")] });
    await one.run([{ type: "text", text: "Hi" }], { ...options, journal, runId: "r" });
    expect(at(journal.records, "start")).toMatchObject({
      form: 2,
      agent: "clerk",
      runId: "r",
      input: [{ type: "text", text: "Hi" }],
      options: { instructions: "Be kind.", tools: ["look"], session: "s" },
    });
    const group = memoryJournal();
    await parallel([one, one.with({ name: "other" })]).run("Hi", { journal: group });
    expect(at(group.records, "start")).toMatchObject({
      input: "Hi",
      agent: expect.stringContaining("parallel"),
    });
    expect(keysOf(group.records).filter((key) => key.endsWith("end"))).toEqual(["end"]);
    expect(group.records.filter(({ json }) => json?.includes('"form"'))).toHaveLength(1);
    const plain = memoryJournal();
    const skills = [{ type: "plain", name: "f", description: "", execute: () => 1 }] as const;
    await agent({ name: "plain", skills }).run("Hi", { journal: plain });
    expect(keysOf(plain.records)).toEqual(["start", "skill", "end"]);
  });

  it("refuses a journal of a newer form before anything happens", async () => {
    const journal = memoryJournal();
    const model = scripted(["done"]);
    await agent({ name: "a", model: () => "done" }).run("Go", { journal, runId: "r" });
    const newer = journal.records.map((record) => ({
      ...record,
      json: record.json?.replace('"form":2', '"form":3') ?? "",
    }));
    const running = agent({ name: "a", model }).run("Go", { journal: memoryJournal(newer), runId: "r" });
    await expect(running).rejects.toMatchObject({
      code: "journal-newer",
      data: { run: "r", form: 3, known: 2 },
    });
    expect(model.requests).toHaveLength(0);
  });
});

describe("calls of no run", () => {
  it("do nothing in a replay", async () => {
    const look = fakeTool("look", "seen");
    const calls = [{ type: "tool-call", id: "a", name: "look", arguments: {} }] as const;
    const journal = memoryJournal();
    const first = await execute({ calls, tools: [look], journal });
    const again = { calls, tools: [look], journal: memoryJournal(journal.records, { mode: "replay" }) };
    expect(await execute(again)).toEqual(first);
    const empty = execute({ ...again, journal: memoryJournal([], { mode: "replay" }) });
    await expect(empty).rejects.toMatchObject({ code: "journal-ended" });
    expect(look.calls).toHaveLength(1);
  });
});
