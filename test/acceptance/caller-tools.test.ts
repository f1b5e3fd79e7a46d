import { describe, expect, it, onTestFinished } from "vitest";
import { durableRuns, callerSignal, memoryRuns } from "../../src/durable.ts";
import { agent } from "../../src/index.ts";
import { fakeTool } from "../../src/testing.ts";

const clerk = agent({
  name: "clerk",
  tools: [fakeTool("look", "seen")],
  model: ({ messages, tools }) => {
    const results = messages.filter(({ role }) => role === "tool");
    return results.length === 0
      ? { calls: [{ name: "ring", arguments: { times: 2 } }] }
      : `${tools.map(({ name }) => name).join()} ${results.map((one) => ("status" in one ? one.status : "")).join()}`;
  },
});
const ring = { name: "ring", description: "Rings", inputSchema: { type: "object" } };

function runsOf() {
  const runs = durableRuns({ store: memoryRuns(), agents: [clerk] });
  const worker = runs.work();
  onTestFinished(() => worker.drain({ graceMs: 0 }));
  return runs;
}

describe("tools of whoever began a run", () => {
  it("are offered beside the agent's own, and wait for their results", async () => {
    const runs = runsOf();
    const { id } = await runs.start(clerk, "Go", { callerTools: [ring] });
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
    const plain = await runs.start(clerk, "Go", {});
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
});
