import { describe, expect, it, onTestFinished } from "vitest";
import { durableRuns, callerSignal, memoryRuns } from "../../src/durable.ts";
import { agent, skill } from "../../src/index.ts";
import type { ModelFunction } from "../../src/model/function-model.ts";
import { fakeTool } from "../../src/testing.ts";

const model: ModelFunction = ({ messages, tools }) => {
  const results = messages.filter(({ role }) => role === "tool");
  return results.length === 0
    ? { calls: [{ name: "ring", arguments: { times: 2 } }] }
    : `${tools.map(({ name }) => name).join()} ${results.map((one) => ("status" in one ? one.status : "")).join()}`;
};
const look = fakeTool("look", "seen");
const clerk = agent({ name: "clerk", model, tools: [look] });
const skilled = agent({
  name: "clerk",
  model,
  skills: [skill({ name: "desk", description: "d", tools: [look] })],
});
const ring = { name: "ring", description: "Rings", inputSchema: { type: "object" } };

function runsOf(by = clerk) {
  const runs = durableRuns({ store: memoryRuns(), agents: [by] });
  const worker = runs.work();
  onTestFinished(() => worker.drain({ graceMs: 0 }));
  return runs;
}

describe("tools of whoever began a run", () => {
  it.each([
    ["the agent's own", clerk],
    ["those of its skill", skilled],
  ])("are offered beside %s, and wait for their results", async (_what, by) => {
    const runs = runsOf(by);
    const { id } = await runs.start(by, "Go", { callerTools: [ring] });
    let question;
    while (question === undefined) {
      [question] = await runs.waiting(id);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const { request } = question;
    expect(request).toMatchObject({ tool: "ring", effect: "undeclared", arguments: { times: 2 } });
    expect(request.waitsFor).toEqual({ signal: callerSignal(request.callId) });
    await runs.signal(id, { name: callerSignal(request.callId), value: "rang" });
    expect((await runs.result(id)).output).toBe("look,ring ok");
    const { transcript, label } = await runs.replay(id);
    expect(transcript.messages.find(({ role }) => role === "tool")).toMatchObject({ value: "rang" });
    expect(label.integrity).toBe("untrusted");
    const plain = await runs.start(by, "Go", {});
    expect((await runs.result(plain.id)).output).toBe("look denied"); // it has none there
  });

  it.each([
    ["a name of the agent's", [{ name: "look" }]],
    ["a name twice", [ring, ring]],
    ["a name that is none", [{ name: "a b" }]],
    ["a schema that is none", [{ name: "x", inputSchema: { type: "nonsense" } }]],
    ["more than data", [{ name: "x", execute: 1 }]],
    ["no list", { name: "x" }],
  ])("are refused: %s", async (_name, callerTools) => {
    await expect(runsOf().start(clerk, "Go", { callerTools: callerTools as never })).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:name-taken|name-invalid|schema-invalid|definition-invalid)$/),
    });
  });

  it("are refused by an agent whose skills ask no model: nobody would call them", async () => {
    const plain = skill({ name: "echo", description: "d", execute: String });
    const echo = agent({ name: "echo", skills: [plain] });
    const starting = runsOf(echo).start(echo, "Go", { callerTools: [ring] });
    await expect(starting).rejects.toThrow("its caller has tools for it, and it calls none itself");
    const mixed = agent({
      name: "mixed",
      model,
      skills: [plain, skill({ name: "desk", description: "d", tools: [] })],
    });
    await expect(runsOf(mixed).start(mixed, "Go", { callerTools: [ring] })).resolves.toBeDefined();
  });
});
