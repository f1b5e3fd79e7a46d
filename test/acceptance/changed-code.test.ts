import { describe, expect, it } from "vitest";
import { agent, type AgentEvent, isFact, memoryJournal, type Policy } from "../../src/index.ts";
import type { JournalRecord } from "../../src/doors.ts";
import { fakeTool, scripted } from "../../src/testing.ts";

const free: Policy = () => ({ verdict: "allow", rule: "free", reason: "" });
const other: Policy = () => ({ verdict: "allow", rule: "other", reason: "" });
const look = fakeTool("look", "seen");
const pay = fakeTool("pay", "paid", { effect: "irreversible" });
const paying = [{ calls: [{ name: "pay" }] }, "done"];
const secret = "to the bank";
const steps = [{ calls: [{ name: "look", arguments: { where: secret } }] }, "done"];
const definition = {
  name: "clerk",
  model: scripted(steps),
  instructions: "Be kind.",
  tools: [look],
  policy: free,
  budget: { turns: 3 },
};

/** The records of a run that died before its last reply. */
async function diedRun(): Promise<readonly JournalRecord[]> {
  const journal = memoryJournal();
  await agent({ ...definition, model: scripted(steps) }).run("Go", { journal, runId: "r" });
  return journal.records.filter(({ key }) => key !== "end" && key !== "turn/2/model");
}

const goOn = (records: readonly JournalRecord[], changes: object, options: object = {}) =>
  agent({ ...definition, model: scripted(["done"]), ...changes }).run("Go", {
    journal: memoryJournal(records),
    runId: "r",
    ...options,
  });

describe("code that changed while a run was away", () => {
  it.each([
    { part: "model", key: "turn/1/model", changes: { model: { ...scripted(["done"]), id: "other" } } },
    { part: "tools", key: "start", changes: { tools: [look, fakeTool("more", "")] } },
    { part: "instructions", key: "turn/1/model", changes: { instructions: "Be short." } },
    { part: "settings", key: "turn/1/model", changes: { settings: { temperature: 1 } } },
    { part: "policy", key: "start", changes: { policy: other } },
  ])("is named by its part, and taken where it is meant: $part", async ({ part, key, changes }) => {
    const records = await diedRun();
    const refused = goOn(records, changes);
    await expect(refused).rejects.toMatchObject({
      code: "journal-mismatch",
      data: { run: "r", key, parts: part },
    });
    await expect(refused).rejects.toThrow(`its ${part} changed`);
    expect(await goOn(records, changes, { accept: [part] })).toMatchObject({ text: "done" });
    const others = ["text", "skill", "agent"];
    const taken = goOn(records, changes, { accept: others });
    await expect(taken).rejects.toMatchObject({ code: "journal-mismatch" });
  });

  it("is the same for a policy of the same version, whatever a bundler made of its source", async () => {
    const versioned = (decide: Policy, version: string): Policy => Object.assign(decide, { version });
    const built: Policy = (a) => ({ verdict: "allow", rule: "free", reason: String(a.turn).slice(9) });
    const journal = memoryJournal();
    const before = { ...definition, model: scripted(steps), policy: versioned(free.bind(undefined), "1") };
    await agent(before).run("Go", { journal, runId: "r" });
    const records = journal.records.filter(({ key }) => key !== "end" && key !== "turn/2/model");
    expect(await goOn(records, { policy: versioned(built, "1") })).toMatchObject({ text: "done" });
    const refused = goOn(records, { policy: versioned(built, "2") });
    await expect(refused).rejects.toMatchObject({ code: "journal-mismatch", data: { parts: "policy" } });
  });

  it("is the same where tools, and fields of their schemas, stand in another order, as a server lists them", async () => {
    const propertiesOf = (...names: string[]) =>
      Object.fromEntries(names.map((name) => [name, { type: "string" }]));
    const toolOf = (name: string, ...fields: string[]) =>
      fakeTool(name, "seen", { inputSchema: { type: "object", properties: propertiesOf(...fields) } });
    const journal = memoryJournal();
    const before = {
      ...definition,
      model: scripted(steps),
      tools: [toolOf("look", "where", "when"), toolOf("more", "a")],
    };
    await agent(before).run("Go", { journal, runId: "r" });
    const records = journal.records.filter(({ key }) => key !== "end" && key !== "turn/2/model");
    const tools = [toolOf("more", "a"), toolOf("look", "when", "where")];
    expect(await goOn(records, { tools })).toMatchObject({ text: "done" });
  });

  it.each(["", 2, null])("has versions of policies that are texts: %j", (version) => {
    const policy = Object.assign((() => ({})) as unknown as Policy, { version });
    expect(() => agent({ ...definition, policy })).toThrow(
      "`policy.version` must be a text that is not empty",
    );
  });

  it("may have raised its bounds: a run that met one goes on", async () => {
    const journal = memoryJournal();
    const one = agent({ ...definition, model: scripted(steps), budget: { turns: 1 } });
    expect((await one.run("Go", { journal, runId: "r" })).outcome.type).toBe("exhausted");
    expect(await goOn(journal.records, { budget: { turns: 9, durationMs: 60_000 } })).toMatchObject({
      text: "done",
    });
  });

  it("keeps no arguments in clear, and few bytes a record", async () => {
    const records = await diedRun();
    expect(records.map(({ fingerprint }) => fingerprint).join("")).not.toContain(secret);
    expect(JSON.parse(records.find(({ key }) => key === "turn/1/call/0")?.fingerprint ?? "")).toEqual({
      tool: expect.any(String),
      arguments: expect.any(String),
    });
    for (const { fingerprint } of records) expect(fingerprint.length).toBeLessThan(200);
  });

  it("is taken in runs inside too, whose mismatch names them", async () => {
    const kid = (instructions: string) =>
      agent({
        name: "kid",
        instructions,
        model: scripted([{ calls: [{ name: "look" }] }, "kid"]),
        tools: [look],
        policy: free,
      });
    const boss = (instructions: string) => ({
      tools: [kid(instructions).asTool()],
      model: scripted([{ calls: [{ name: "kid", arguments: { input: "x" } }] }, "done"]),
    });
    const journal = memoryJournal();
    await agent({ ...definition, ...boss("One.") }).run("Go", { journal, runId: "r" });
    const died = journal.records.filter(
      ({ key }) => key !== "end" && !key.startsWith("turn/2") && key !== "turn/1/call/0",
    );
    const changed = { ...boss("Two."), model: scripted(["done"]) };
    await expect(goOn(died, changed)).rejects.toMatchObject({
      code: "journal-mismatch",
      data: { run: expect.stringMatching(/^r\/turn\/1\/call\/0\/kid~/), parts: "instructions" },
    });
    expect(await goOn(died, changed, { accept: ["instructions"] })).toMatchObject({ text: "done" });
  });

  it("recorded by an older version is refused as another request", async () => {
    const old = (await diedRun()).map((record) => ({ ...record, fingerprint: "abc" }));
    await expect(goOn(old, {})).rejects.toMatchObject({
      code: "journal-mismatch",
      data: { parts: "request" },
    });
  });
});

describe("a policy that says something else when a run goes on", () => {
  const verdicts = (...all: readonly ("allow" | "deny")[]) => {
    const left = [...all];
    const asked: Policy = () => ({ verdict: left.shift() ?? "deny", rule: "hours", reason: "" });
    return asked;
  };
  const accept = ["policy"];

  it("cannot deny what has happened: the call keeps its decision and its result", async () => {
    const journal = memoryJournal();
    const open = { ...definition, model: scripted(steps), policy: verdicts("allow") };
    await agent(open).run("Go", { journal, runId: "r" });
    const died = journal.records.filter(({ key }) => key !== "end" && key !== "turn/2/model");
    const { transcript } = await goOn(died, { policy: verdicts("deny") }, { accept });
    expect(transcript.messages.find(({ role }) => role === "tool")).toMatchObject({ status: "ok" });
  });

  it("does not make a call by and by that was denied: the no is recorded", async () => {
    const seen = fakeTool("look", "seen");
    const journal = memoryJournal();
    const closed = { ...definition, tools: [seen], model: scripted(steps), policy: verdicts("deny") };
    await agent(closed).run("Go", { journal, runId: "r" });
    const died = journal.records.filter(({ key }) => key !== "end" && key !== "turn/2/model");
    const { transcript } = await goOn(died, { tools: [seen], policy: verdicts("allow") }, { accept });
    expect(transcript.messages.find(({ role }) => role === "tool")).toMatchObject({ status: "denied" });
    expect(seen.calls).toHaveLength(0);
  });

  it("does not hide a call that an earlier process began: its result is unknown", async () => {
    const journal = memoryJournal();
    const open = { ...definition, tools: [pay], model: scripted(paying), policy: verdicts("allow") };
    await agent(open).run("Go", { journal, runId: "r" });
    const begun = journal.records.filter(({ key }) => key === "start" || key === "turn/1/model");
    const { fingerprint = "" } = journal.records.find(({ key }) => key === "turn/1/call/0") ?? {};
    const died = [...begun, { key: "turn/1/call/0", fingerprint }];
    const { transcript } = await goOn(died, { tools: [pay], policy: verdicts("deny") }, { accept });
    expect(transcript.messages.find(({ role }) => role === "tool")).toMatchObject({ status: "unknown" });
  });

  it.each(["allow", "ask"] as const)(
    "tells a call that an earlier process began as it was decided: %s",
    async (verdict) => {
      const journal = memoryJournal();
      const decides: Policy = () => ({ verdict, rule: "hours", reason: "" });
      const open = { ...definition, tools: [pay], model: scripted(paying), policy: decides };
      const told = (events: AgentEvent[]) => (event: AgentEvent) =>
        void (isFact(event) && events.push(event));
      const types = (events: readonly AgentEvent[]) =>
        events.map((event) => [event.type, "decision" in event ? event.decision.rule : ""]);
      const first: AgentEvent[] = [];
      const second: AgentEvent[] = [];
      const approve = () => true;
      await agent(open).run("Go", { journal, runId: "r", approve, onEvent: told(first) });
      const died = journal.records
        .filter(({ key }) => key !== "end" && !key.startsWith("turn/2"))
        .map(({ key, fingerprint, json }) =>
          key === "turn/1/call/0" ? { key, fingerprint } : { key, fingerprint, json },
        );
      const neverAsked = () => expect.unreachable();
      await goOn(died, { tools: [pay], policy: decides }, { onEvent: told(second), approve: neverAsked });
      expect(types(second)).toEqual(types(first));
    },
  );

  it("asks nobody about a call that has begun, though it would ask today", async () => {
    const journal = memoryJournal();
    const open = { ...definition, tools: [pay], model: scripted(paying), policy: verdicts("allow") };
    await agent(open).run("Go", { journal, runId: "r" });
    const died = journal.records
      .filter(({ key }) => key === "start" || key.startsWith("turn/1"))
      .map(({ key, fingerprint, json }) =>
        key === "turn/1/call/0" ? { key, fingerprint } : { key, fingerprint, json },
      );
    const asks: Policy = () => ({ verdict: "ask", rule: "hours", reason: "" });
    const options = { accept, approve: () => expect.unreachable() };
    const { transcript } = await goOn(died, { tools: [pay], policy: asks }, options);
    expect(transcript.messages.find(({ role }) => role === "tool")).toMatchObject({ status: "unknown" });
  });
});
