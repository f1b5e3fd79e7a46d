import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, type Hook, skill, tool, type ToolContext } from "../../src/index.ts";
import type { JsonObject } from "../../src/util/json.ts";
import { fakeTool, scripted, type ScriptedModel } from "../../src/testing.ts";
import { base, scene } from "./hook-scene.ts";
import { calling, resultsIn, watch } from "./watching.ts";

describe("a model call that fails", () => {
  const down = new Error("the line is down");

  it("is tried again after a pause as often as the author says, counted in each turn from 1 [A11]", async () => {
    const attempts: [number, number, string][] = [];
    const patient: Hook = {
      onError: ({ turn, attempt, error }) => {
        attempts.push([turn, attempt, error.code]);
        return attempt < 3 ? { retryAfterMs: 15 } : {};
      },
    };
    const began = Date.now();
    const { result } = await scene([patient], { steps: [down, down, base[0] ?? "", down, "Done."] });
    expect(result.text).toBe("Done.");
    expect(Date.now() - began).toBeGreaterThanOrEqual(40);
    expect(attempts).toEqual([
      [1, 1, "provider-failed"],
      [1, 2, "provider-failed"],
      [2, 1, "provider-failed"],
    ]);
  });

  it("is thrown as it is without a hook, and with one that says nothing; a stubborn hook ends after ten attempts [A11]", async () => {
    const run = (hooks: readonly Hook[], model = scripted([down])): [ScriptedModel, Promise<unknown>] => [
      model,
      agent({ name: "a", model, hooks }).run("go"),
    ];
    const [, plain] = run([]);
    await expect(plain).rejects.toMatchObject({ code: "provider-failed", cause: down });
    const [, silent] = run([{ onError: () => undefined }]);
    await expect(silent).rejects.toMatchObject({ code: "provider-failed", cause: down });
    const [model, stubborn] = run([{ onError: () => ({ retryAfterMs: 0 }) }]);
    await expect(stubborn).rejects.toMatchObject({ code: "provider-failed" });
    expect(model.requests).toHaveLength(10);
  });

  it("is nobody's question when the run was stopped or a budget ran out [A11]", async () => {
    const asked: unknown[] = [];
    const hook: Hook = { onError: (at) => void asked.push(at) };
    const stopping = new AbortController();
    const model = (): Promise<string> => {
      stopping.abort(new Error("enough"));
      return Promise.reject(down);
    };
    const stopped = await agent({ name: "a", model, hooks: [hook] }).run("go", { signal: stopping.signal });
    expect(stopped.outcome).toEqual({ type: "cancelled", reason: "enough" });
    await scene([hook], { definition: { budget: { turns: 1 } } });
    expect(asked).toEqual([]);

    let calls = 0;
    const failing = (): Promise<string> => ((calls += 1), Promise.reject(down));
    const pausing: Hook = { onError: () => ({ retryAfterMs: 60_000 }) };
    const paused = await agent({ name: "a", model: failing, hooks: [pausing] }).run("go", {
      signal: AbortSignal.timeout(30),
    });
    expect([paused.outcome.type, calls]).toEqual(["cancelled", 1]);
  });

  it("that says nothing is asked again: empty, blank, or nothing but reasoning [L4]", async () => {
    for (const silent of ["", "  \n", { text: "", reasoning: "Hm." }]) {
      const { result, model } = await scene([], { steps: [silent, "Here."] });
      expect([result.text, result.turns, model.requests.length]).toEqual(["Here.", 2, 2]);
      const never = await scene([], { steps: [silent] });
      expect(never.result.outcome).toMatchObject({ type: "failed", code: "protocol-violated" });
    }
  });
});

describe("tools that fail and tools that ask", () => {
  it("case 32: `tool-failure` in `endOn` ends the run at the first failure, and no later call of its reply begins; without it the model is told [C13, C8.1, C8.2]", async () => {
    const bad = tool({
      name: "bad",
      description: "",
      inputSchema: z.object({}),
      execute: (): string => {
        throw new RangeError("out of range");
      },
    });
    const good = fakeTool("good", "fine");
    const steps = [calling("good", "bad", "good"), "Told."];
    const lenient = await watch(
      agent({ name: "a", model: scripted(steps), tools: [bad, good] }).stream("go"),
    );
    expect(lenient.result.text).toBe("Told.");
    const model = scripted(steps);
    const strict = await watch(
      agent({ name: "a", model, tools: [bad, good], endOn: ["tool-failure"] }).stream("go"),
    );
    expect(strict.result).toMatchObject({
      outcome: { type: "failed", code: "tool-failed" },
      error: { cause: { message: "out of range" } },
    });
    expect(resultsIn(strict.result.transcript)).toMatchObject([
      { status: "ok" },
      { status: "error", text: "Tool 'bad' failed: out of range" },
      { status: "skipped" },
    ]);
    expect(model.requests).toHaveLength(1);
    expect(good.calls).toHaveLength(3); // two where the model is told, and the one before the failure
    const thrown = agent({ name: "a", model: scripted(steps), tools: [bad, good], endOn: ["tool-failure"] });
    await expect(thrown("go")).rejects.toMatchObject({ code: "tool-failed", cause: { name: "RangeError" } });
    expect(good.calls).toHaveLength(4);
  });

  it("an unknown tool that ends the run names no tool but those that are left in it [L3.2, Z2.2]", async () => {
    const tools = [fakeTool("good", "fine"), fakeTool("other", "fine")];
    const definition = {
      name: "a",
      model: scripted([calling("other")]),
      tools,
      endOn: ["unknown-tool"] as const,
    };
    const { error } = await agent(definition).run("go", { tools: ["good"] });
    expect(error?.message).toBe("Tool 'other' is not allowed for skill 'a'. Allowed: [good]");
  });

  it("case 32: missing parameters are named and the tool does not run, whatever the schema is written in [C12]", async () => {
    const ran: unknown[] = [];
    const properties = { a: { type: "number" }, b: { type: "number" }, c: { type: "string" } };
    const schemas = [
      z.object({ a: z.number(), b: z.number(), c: z.string().optional() }),
      { type: "object", properties, required: ["a", "b"] },
    ];
    for (const inputSchema of schemas) {
      const sum = tool({ name: "sum", description: "", inputSchema, execute: (args) => ran.push(args) });
      const given: JsonObject[] = [{}, { a: 1 }, { c: 5, b: "x" }];
      const model = scripted([calling(...given.map((args) => ["sum", args] as const)), "Told."]);
      const result = await agent({ name: "a", model, tools: [sum] }).run("go");
      const told = resultsIn(result.transcript).map(({ text }) => text);
      expect(told[0]).toContain(
        "Tool 'sum' received invalid arguments: Missing required parameters: a, b. It did not run.",
      );
      expect(told[1]).toContain("invalid arguments: Missing required parameters: b. It did not run.");
      expect(told[2]).toMatch(/invalid arguments: Missing required parameters: a; b: .+\. It did not run\./);
    }
    expect(ran).toEqual([]);
  });

  it("a tool that asks is given its call and the state of its run [C7.3]", async () => {
    const seen: ToolContext[] = [];
    const ask = tool({
      name: "ask",
      description: "",
      inputSchema: z.object({ q: z.number() }),
      execute: (_args, context) => void seen.push(context),
    });
    const model = scripted([calling(["ask", { q: 1 }]), calling(["ask", { q: 2 }]), "Done."]);
    const work = skill({ name: "work", description: "", tools: [ask] });
    const hooks: Hook[] = [{ beforeToolCall: ({ turn }) => (turn === 2 ? { arguments: { q: 20 } } : {}) }];
    const result = await agent({ name: "asker", model, skills: [work], hooks }).run("go", { runId: "r" });
    expect(seen.map(({ call, callId }) => [call.name, call.arguments, call.id === callId])).toEqual([
      ["ask", { q: 1 }, true],
      ["ask", { q: 20 }, true],
    ]);
    expect(seen.map(({ run: { transcript: _transcript, ...run } }) => run)).toEqual([
      { runId: "r", agent: "asker", skill: "work", turn: 1, depth: 0 },
      { runId: "r", agent: "asker", skill: "work", turn: 2, depth: 0 },
    ]);
    expect(seen.map(({ run }) => run.transcript.messages.length)).toEqual([2, 4]);
    expect(result.transcript.messages.slice(0, 4)).toEqual(seen[1]?.run.transcript.messages);
  });
});
