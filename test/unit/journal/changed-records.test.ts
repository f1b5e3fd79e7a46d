import { describe, expect, it } from "vitest";
import { agent, memoryJournal } from "../../../src/index.ts";
import { fakeTool, scripted } from "../../../src/testing.ts";

const clerk = () =>
  agent({
    name: "clerk",
    model: scripted([{ calls: [{ name: "pay", arguments: {} }] }, "done"]),
    tools: [fakeTool("pay", "paid")],
    policy: () => ({ verdict: "ask", rule: "money", reason: "money leaves" }),
  });

const approve = () => ({ approved: true });

describe("a record that somebody has changed to JSON of another shape", () => {
  it("is named, whichever it is", async () => {
    const journal = memoryJournal();
    await clerk().run("Go", { journal, approve });
    const keys = journal.records.map(({ key }) => key);
    expect(keys).toEqual([
      "start",
      "turn/1/model",
      "turn/1/approval/0",
      "turn/1/call/0",
      "turn/2/model",
      "end",
    ]);
    for (const key of keys)
      for (const json of ["{}", "[]", "null", '"x"', "5", '{"message":{}}', '{"result":{"status":"ok"}}']) {
        if (key === "start" && json.startsWith("{")) continue; // a run of an earlier version may have left out its fields
        const records = journal.records.map((each) => (each.key === key ? { ...each, json } : each));
        const again = clerk().run("Go", { journal: memoryJournal(records), approve });
        await expect(again, `${key} ${json}`).rejects.toMatchObject({
          code: "stored-unreadable",
          message: expect.stringContaining(`"${key}"`),
        });
      }
  });

  it("may have any shape where its name is not of the runtime", async () => {
    const records = ["signal/turn/1/call/0", "turn/1/call/0/wait/call/1"].map((key) => ({
      key,
      fingerprint: "",
      json: '{"value":1}',
    }));
    const journal = memoryJournal(records);
    for (const { key } of records) expect(journal.find?.(key)).toEqual({ value: 1 });
  });
});
