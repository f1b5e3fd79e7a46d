import { describe, expect, it } from "vitest";
import { agent, memoryJournal, type Policy } from "../../src/index.ts";
import type { JournalRecord } from "../../src/doors.ts";
import { fakeTool, scripted } from "../../src/testing.ts";

const free: Policy = () => ({ verdict: "allow", rule: "free", reason: "" });
const other: Policy = () => ({ verdict: "allow", rule: "other", reason: "" });
const look = fakeTool("look", "seen");
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
