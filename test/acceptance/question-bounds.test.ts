import { describe, expect, it } from "vitest";
import { agent, memoryJournal, skill, tool } from "../../src/index.ts";
import { account, inMemoryAccounts } from "../../src/policy.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { image } from "../../src/tools.ts";

/** 300 kB: by its letters it would be 100,000 tokens. */
const large = image("iVBORw0KGgo".padEnd(400_000, "A"));
const asked = ["What is it?", large] as const;

describe("a question with files is bound as any other", () => {
  it("counts a file as providers count it, and not by its bytes: in accounts, and where no usage is told", async () => {
    const kim = account({ store: inMemoryAccounts(), key: "kim", limits: { tokens: 20_000 }, per: "day" });
    const viewer = agent({ name: "viewer", model: scripted(["A cat."]) });
    const { outcome, usage } = await viewer.run(asked, { account: kim });
    expect(outcome.type).toBe("answered");
    expect(usage.inputTokens).toBeGreaterThan(500);
    expect(usage.inputTokens).toBeLessThan(3_000);
    expect((await kim.used()).tokens).toBe(usage.inputTokens + usage.outputTokens);
  });

  it("is compacted by the same count: a picture does not take the whole room", async () => {
    const model = scripted([{ calls: [{ name: "look", arguments: {} }] }, "A cat."]);
    const viewer = agent({
      name: "viewer",
      model,
      tools: [fakeTool("look", "x")],
      compaction: { atTokens: 3_000 },
    });
    await viewer.run(asked);
    expect(
      model.requests
        .at(-1)
        ?.messages.map(({ role }) => role)
        .slice(-3),
    ).toEqual(["user", "assistant", "tool"]);
  });

  it("is routed by its text, and a plain skill is given that", async () => {
    const given: unknown[] = [];
    const read = skill({ name: "read", description: "Reads", instructions: "Read.", tools: [] });
    const note = skill({
      name: "note",
      description: "Notes",
      execute: (input) => (given.push(input), "noted"),
    });
    const model = scripted(['{"skillName":"note","confidence":1}']);
    const clerk = agent({ name: "clerk", model, skills: [read, note] });
    expect(await clerk(asked)).toBe("noted");
    const told = "What is it?\n[image: image/png, 300.0 kB]";
    expect(given).toEqual([told]);
    expect(model.requests[0]?.messages.at(-1)).toMatchObject({ parts: [{ type: "text", text: told }] });
  });

  it("is replayed from its journal and resumed from a checkpoint, with its files", async () => {
    const look = tool({
      name: "look",
      description: "Look",
      inputSchema: { type: "object", properties: {} },
      effect: "read",
      execute: () => large,
    });
    const steps = [{ calls: [{ name: "look", arguments: {} }] }, "A cat."];
    const journal = memoryJournal();
    const first = await agent({ name: "viewer", model: scripted(steps), tools: [look] }).run(asked, {
      journal,
      runId: "r",
    });
    const silent = scripted([new Error("nobody asks")]);
    const again = agent({ name: "viewer", model: silent, tools: [look] });
    const records = memoryJournal(JSON.parse(JSON.stringify(journal.records)));
    const second = await again.run(asked, { journal: records, runId: "r" });
    expect(second.text).toBe("A cat.");
    expect(JSON.stringify(second.transcript)).toBe(JSON.stringify(first.transcript));

    for await (const state of agent({ name: "viewer", model: scripted(steps), tools: [look] }).turns(asked)) {
      const model = scripted(["A dog."]);
      const kept = JSON.parse(JSON.stringify(state)) as typeof state;
      if (state.answer !== undefined) continue;
      expect((await agent({ name: "viewer", model, tools: [look] }).resume(kept)).text).toBe("A dog.");
      const messages = model.requests[0]?.messages ?? [];
      expect(messages).toMatchObject([{}, { parts: [{}, large] }, {}, { files: [large] }]);
    }
  });
});
