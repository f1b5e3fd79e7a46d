import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, type AgentEvent, memoryJournal, skill, tool } from "../../../src/index.ts";
import { fakeTool, scripted } from "../../../src/testing.ts";

describe("agent", () => {
  it("runs a plain skill without a model, and tells the same facts as any run [K1.2]", async () => {
    const shout = agent({
      name: "shout",
      skills: [
        skill({ name: "up", description: "Upper case", execute: (text) => String(text).toUpperCase() }),
      ],
    });
    expect(await shout("hello")).toBe("HELLO");
    const events: string[] = [];
    for await (const event of shout.stream("hello")) events.push(event.type);
    expect(events).toEqual(["run-start", "skill-chosen", "run-end"]);
    const failing = agent({
      name: "f",
      skills: [skill({ name: "f", description: "", execute: () => Promise.reject(new Error("no")) })],
    });
    expect(await failing.run("x")).toMatchObject({ outcome: { type: "failed", code: "skill-failed" } });
    await expect(failing("x")).rejects.toMatchObject({ code: "skill-failed", cause: { message: "no" } });
  });

  it("carries out no plain skill in a run that was cancelled before, with a journal too", async () => {
    let done = 0;
    const skills = [skill({ name: "pay", description: "", execute: () => `paid ${(done += 1)}` })];
    const payer = agent({ name: "payer", skills });
    const signal = AbortSignal.abort(new Error("too late"));
    for (const journal of [undefined, memoryJournal()]) {
      const { outcome } = await payer.run("go", { signal, ...(journal && { journal }) });
      expect(outcome).toEqual({ type: "cancelled", reason: "too late" });
    }
    expect(done).toBe(0);
  });

  it("refuses a wrong input before the model is asked", async () => {
    const model = scripted(["x"]);
    const typed = agent({ name: "a", model, input: z.object({ city: z.string() }) });
    await expect(typed.run({ city: 3 as never })).rejects.toMatchObject({ code: "input-invalid" });
    expect(model.requests).toHaveLength(0);
  });

  it("sends an answer back that does not match the output schema, with the reason, at most three times", async () => {
    const output = z.object({ days: z.number() });
    const model = scripted(["In three days.", '{"days": "soon"}', '{"days": 3}']);
    const typed = agent({ name: "a", model, output });
    expect(await typed("when?")).toEqual({ days: 3 });
    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain("it is not JSON");
    expect(JSON.stringify(model.requests[2]?.messages.at(-1))).toContain("days: ");
    expect(JSON.stringify(model.requests[0]?.messages[0])).toContain("Answer with JSON alone");
    expect(await typed.with({ model: scripted(["never"]) }).run("when?")).toMatchObject({
      outcome: { type: "failed", code: "protocol-violated" },
      turns: 4,
    });
  });

  it("makes the parts that with() replaces of those that it has", async () => {
    const first = agent({ name: "a", instructions: "Be brief.", model: () => "yes", budget: { turns: 2 } });
    const second = first.with(({ instructions, budget }) => ({
      instructions: `${instructions} ${budget?.turns} turns.`,
    }));
    const { transcript } = await second.run("x");
    expect(transcript.messages[0]).toMatchObject({ role: "system", text: "Be brief. 2 turns." });
    expect(second.describe()).toContain("budget: turns 2,");
  });

  it("describes itself without what would steer a terminal: a server may have written it", () => {
    const tools = [fakeTool("look", 1, { description: "Looks\u001b[2J\u202e at\na thing" })];
    const shown = agent({
      name: "a",
      description: "Kind\u001b]0;x\u0007",
      model: () => "",
      tools,
    }).describe();
    expect(shown).toContain(String.raw`a" (function): Kind\u{1b}]0;x\u{7}`);
    expect(shown).toContain(String.raw`: Looks\u{1b}[2J\u{202e} at a thing`);
  });

  it("replaces parts with with(), and keeps the bounds that are not named [A13]", async () => {
    const model = scripted([{ calls: [{ name: "t" }] }]);
    const first = agent({ name: "a", model, tools: [fakeTool("t", 1)], budget: { toolCalls: 2 } });
    expect((await first.with({ budget: { turns: 20 } }).run("x")).outcome).toMatchObject({
      field: "toolCalls",
      limit: 2,
    });
    expect(first.modelId).toBe("scripted");
    expect(first.skills).toEqual([{ name: "a", type: "agentic", tools: ["t"] }]);
    expect(() => Object.assign(first, { run: () => "changed" })).toThrow(TypeError);
    const tools = [fakeTool("t", 1)];
    const made = agent({ name: "a", model, tools });
    tools.push(fakeTool("late", 1));
    expect(made.skills).toEqual([{ name: "a", type: "agentic", tools: ["t"] }]);
  });

  it("gives an idempotency key by the place of the call, the same at every attempt", async () => {
    const keys: string[] = [];
    const spy = tool({
      name: "spy",
      description: "",
      inputSchema: z.object({}),
      execute: (_args, context) => keys.push(context.idempotencyKey),
    });
    const model = scripted([{ calls: [{ name: "spy" }, { name: "spy" }] }, "done"]);
    const a = agent({ name: "a", model, tools: [spy] });
    await a.run("x", { runId: "r1" });
    await a
      .with({ model: scripted([{ calls: [{ name: "spy" }, { name: "spy" }] }, "done"]) })
      .run("x", { runId: "r1" });
    expect(new Set(keys.slice(0, 2)).size).toBe(2);
    for (const key of keys) expect(key).toMatch(/^[0-9a-f]{64}$/); // whatever the id of the run is
    expect(keys.slice(2)).toEqual(keys.slice(0, 2));
  });

  it("tells progress and text while it watches, with rising numbers for facts [L6]", async () => {
    const slow = tool({
      name: "slow",
      description: "",
      inputSchema: z.object({}),
      execute: (_args, { progress }) => {
        progress({ done: 0.5 });
        return "ok";
      },
    });
    const a = agent({
      name: "a",
      model: scripted([{ text: "wait", calls: [{ name: "slow" }] }, "done"]),
      tools: [slow],
    });
    const events: AgentEvent[] = [];
    for await (const event of a.stream("x", { runId: "r" })) events.push(event);
    expect(events.find((event) => event.type === "tool-progress")).toMatchObject({
      value: { done: 0.5 },
      runId: "r",
    });
    expect(events.filter((event) => event.type === "text-delta").map((event) => event.text)).toEqual([
      "wait",
      "done",
    ]);
    expect(events.every((event, index) => index === 0 || event.seq >= (events[index - 1]?.seq ?? 0))).toBe(
      true,
    );
    expect(events.at(-1)).toMatchObject({
      type: "run-end",
      seq: new Set(events.map((event) => event.seq)).size,
    });
  });

  it("gives its result once to the reader of a stream, as a generator does", async () => {
    const stream = agent({ name: "a", model: scripted(["done"]) }).stream("x");
    let step = await stream.next();
    while (step.done !== true) step = await stream.next();
    expect(step.value).toMatchObject({ text: "done" });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });
});
