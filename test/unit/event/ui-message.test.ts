import { describe, expect, it } from "vitest";
import { agent, type AgentEvent, tool } from "../../../src/index.ts";
import { type UiDetail, type UiMessage, uiMessage } from "../../../src/doors.ts";
import { fakeTool, scripted } from "../../../src/testing.ts";

const pay = tool({
  name: "pay",
  description: "Pay",
  inputSchema: { type: "object", properties: { euro: { type: "number" } } },
  effect: "irreversible",
  trusted: true,
  execute: (_args, { progress }) => {
    progress({ done: 1 });
    return "secret receipt";
  },
});

async function events(): Promise<AgentEvent[]> {
  const calls = [{ name: "look", arguments: { query: "private words" } }];
  const paying = [{ name: "pay", arguments: { euro: 5 } }];
  const model = scripted([{ calls }, { calls: paying }, { reasoning: "hm", text: "Paid." }]);
  const payer = agent({ name: "payer", model, tools: [pay, fakeTool("look", "a result")] });
  const outer = agent({
    name: "outer",
    model: scripted([{ calls: [{ name: "payer", arguments: { input: "pay" } }] }, "done"]),
    tools: [payer.asTool({ effect: "write" })],
  });
  const told: AgentEvent[] = [];
  await outer.run("go", { runId: "r", approve: () => true, onEvent: (event) => told.push(event) });
  return told;
}

async function shown(detail?: UiDetail): Promise<readonly UiMessage[]> {
  return (await events()).flatMap((event) => uiMessage(event, detail) ?? []);
}

describe("messages for user interfaces", () => {
  it("tell status, steps, tools with the labels of their results, progress and questions, of runs inside too [C33]", async () => {
    const messages = await shown();
    const inside = messages.filter(({ parentRunId }) => parentRunId === "r");
    expect(inside.map(({ type }) => type)).toEqual([
      "status",
      "step-started",
      "tool-started",
      "tool-ended",
      "step-ended",
      "step-started",
      "approval-needed",
      "approval-answered",
      "tool-started",
      "progress",
      "tool-ended",
      "step-ended",
      "step-started",
      "text",
      "step-ended",
      "status",
    ]);
    const ended = inside.filter((message) => message.type === "tool-ended");
    expect(ended.map(({ name, status, label }) => [name, status, label.integrity])).toMatchObject([
      ["look", "ok", "untrusted"],
      ["pay", "ok", expect.any(String)],
    ]);
    expect(inside.find(({ type }) => type === "approval-needed")).toMatchObject({ name: "pay", request: {} });
    expect(messages[0]).toMatchObject({ type: "status", status: "running", agent: "outer", runId: "r" });
    expect(messages.at(-1)).toMatchObject({ type: "status", status: "answered", runId: "r" });
  });

  it("are JSON in each detail: what is read back is what was sent [C33]", async () => {
    for (const detail of ["minimal", "standard", "debug"] as const) {
      const messages = await shown(detail);
      expect(JSON.parse(JSON.stringify(messages))).toEqual(messages);
    }
  });

  it("tell each degree what it is for: no arguments and results before `debug`, which leaves no event out [C33]", async () => {
    const minimal = await shown("minimal");
    expect(new Set(minimal.map(({ type }) => type))).toEqual(
      new Set(["status", "text", "approval-needed", "approval-answered"]),
    );
    const standard = (await shown("standard")).filter(({ type }) => type !== "approval-needed");
    expect(JSON.stringify(standard)).not.toMatch(/private words|secret receipt/);
    const all = await events();
    const debug = all.map((event) => uiMessage(event, "debug"));
    expect(debug.every((message) => message !== undefined)).toBe(true);
    expect(JSON.stringify(debug)).toMatch(/private words.*secret receipt/);
    expect(debug.some((message) => message?.type === "thought" && message.text === "hm")).toBe(true);
  });

  it("say why there is no answer", async () => {
    const told: AgentEvent[] = [];
    const tired = agent({
      name: "tired",
      model: scripted([{ calls: [{ name: "look" }] }]),
      tools: [fakeTool("look", "x")],
    });
    await tired.with({ budget: { turns: 1 } }).run("go", { onEvent: (event) => told.push(event) });
    const last = told.at(-1);
    expect(last && uiMessage(last)).toMatchObject({
      type: "status",
      status: "exhausted",
      reason: "exceeded budget of 1 turns",
    });
  });

  it("tell of a failure the code, and its words in `debug` alone, which may be a provider's", async () => {
    const told: AgentEvent[] = [];
    const broken = agent({
      name: "broken",
      model: () => {
        throw new Error("http://10.1.1.1 is gone");
      },
    });
    await expect(broken.run("go", { onEvent: (event) => told.push(event) })).rejects.toThrow("gone");
    const last = told.at(-1);
    for (const detail of ["minimal", "standard"] as const)
      expect(last && uiMessage(last, detail)).toMatchObject({ status: "failed", reason: "provider-failed" });
    expect(JSON.stringify(last && uiMessage(last, "debug"))).toContain("http://10.1.1.1 is gone");
  });
});
