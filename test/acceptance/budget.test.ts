import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, type Budget, tool, type Usage } from "../../src/index.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import type { JsonObject } from "../../src/util/json.ts";

const call = (name: string, args: JsonObject = {}): { name: string; arguments: JsonObject } => ({
  name,
  arguments: args,
});

describe("budgets", () => {
  it("case 25: three calls are allowed, two a turn: the third runs, the fourth does not [B-toolCalls]", async () => {
    const search = fakeTool("search", "found");
    const model = scripted([
      { calls: [call("search"), call("search")] },
      { calls: [call("search"), call("search")] },
      "never",
    ]);
    const result = await agent({ name: "a", model, tools: [search], budget: { toolCalls: 3 } }).run("go");
    expect(search.calls).toHaveLength(3);
    expect(result.outcome).toMatchObject({
      type: "exhausted",
      field: "toolCalls",
      limit: 3,
      message: "exceeded tool-call budget of 3",
    });
    expect(result.transcript.messages.slice(-2)).toMatchObject([{ status: "ok" }, { status: "skipped" }]);
    expect(model.requests).toHaveLength(2);
  });

  it("case 26: the run is over when its time is, also in the middle of a call or of a reply [B-duration, C31]", async () => {
    const slow = tool({
      name: "slow",
      description: "",
      inputSchema: z.object({}),
      execute: () => sleep(80, "late"),
    });
    const model = scripted([{ calls: [call("slow")] }, { calls: [call("slow")] }, "never"]);
    const result = await agent({ name: "a", model, tools: [slow], budget: { durationMs: 100 } }).run("go");
    expect(result.outcome).toMatchObject({ type: "exhausted", field: "durationMs", limit: 100 });
    expect(model.requests.length).toBeLessThanOrEqual(2);

    const hanging = agent({
      name: "a",
      model: () => new Promise<string>(() => undefined),
      budget: { durationMs: 50 },
    });
    expect(await hanging.run("go")).toMatchObject({ outcome: { type: "exhausted", field: "durationMs" } });
  });

  it("case 27: a tool that hangs ends as a time-out that names it; a late value is never a success [B-toolTime]", async () => {
    let aborted = false;
    const hang = tool({
      name: "hang",
      description: "",
      inputSchema: z.object({}),
      timeoutMs: 40,
      execute: (_args, { signal }) => {
        signal.addEventListener("abort", () => (aborted = true));
        return sleep(120, "late");
      },
    });
    const model = scripted([{ calls: [call("hang")] }, "It took too long."]);
    const result = await agent({ name: "a", model, tools: [hang] }).run("go");
    expect(result.text).toBe("It took too long.");
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({
      status: "timeout",
      text: "Tool 'hang' timed out after 40 ms.",
    });
    expect(aborted).toBe(true);
    await sleep(120);
    expect(JSON.stringify(result.transcript)).not.toContain("late");

    const byBudget = agent({
      name: "a",
      model: scripted([{ calls: [call("slow")] }, "over"]),
      tools: [fakeTool("slow", () => sleep(200))],
      budget: { toolMs: 30 },
    });
    expect((await byBudget.run("go")).transcript.messages.at(-2)).toMatchObject({ status: "timeout" });
  });

  it("case 28: one tool too often in a row ends the run, in one reply too; another tool between them is fine; no bound, no end [B-sameTool]", async () => {
    const tools = [fakeTool("a", 1), fakeTool("b", 2)];
    const run = async (replies: readonly (readonly string[])[], sameToolInARow?: number): Promise<object> => {
      const model = scripted([
        ...replies.map((names) => ({ calls: names.map((name) => call(name)) })),
        "done",
      ]);
      return (await agent({ name: "x", model, tools, budget: { sameToolInARow } }).run("go")).outcome;
    };
    expect(await run([["a"], ["a"], ["a"]], 2)).toMatchObject({
      type: "exhausted",
      field: "sameToolInARow",
      used: 3,
    });
    expect(await run([["a", "a", "a"]], 2)).toMatchObject({
      type: "exhausted",
      message: expect.stringContaining("'a' 3 times"),
    });
    expect(await run([["a", "a"], ["b"], ["a", "a"]], 2)).toMatchObject({ type: "answered" });
    expect(
      await run([
        ["a", "a", "a"],
        ["a", "a"],
      ]),
    ).toMatchObject({ type: "answered" });
  });

  it("counts tokens that a provider does not report, or reports absurdly, by an estimate and never as zero [B-tokens, C31]", async () => {
    const talk = (usage?: object): ReturnType<typeof scripted> =>
      scripted([{ text: "x".repeat(400), calls: [call("t")], usage }, "done"]);
    const tools = [fakeTool("t", "y".repeat(400))];
    const unreported = await agent({ name: "a", model: talk(), tools }).run("go");
    expect(unreported.usage.estimated).toBe(true);
    expect(unreported.usage.inputTokens).toBeGreaterThan(100);
    for (const inputTokens of [-5, Number.NaN, 1e18, 0.5, 0]) {
      const result = await agent({
        name: "a",
        model: talk({ inputTokens, outputTokens: 3 }),
        tools,
        budget: { tokens: 50 },
      }).run("go");
      expect(result.usage.estimated).toBe(true);
    }
    const bounded = await agent({ name: "a", model: talk(), tools, budget: { tokens: 50 } }).run("go");
    expect(bounded.outcome).toMatchObject({ type: "exhausted", field: "tokens", limit: 50 });
  });

  it("lets a model write no more than what is left of the tokens [B-tokens]", async () => {
    const usage = { inputTokens: 60, outputTokens: 20 };
    const model = scripted([
      { calls: [call("t")], usage },
      { text: "done", usage },
    ]);
    const result = await agent({ name: "a", model, tools: [fakeTool("t", 1)], budget: { tokens: 100 } }).run(
      "go",
    );
    expect(model.requests.map((request) => request.settings.maxOutputTokens)).toEqual([100, 20]);
    expect(result).toMatchObject({
      outcome: { type: "answered" },
      usage: { inputTokens: 120, outputTokens: 40 },
    });
  });

  it("bounds dollars with a known price, and takes an unknown price for no budget at all [C31]", async () => {
    const usage = { inputTokens: 1000, outputTokens: 1000 };
    const model = (): ReturnType<typeof scripted> => scripted([{ calls: [call("t")], usage }, "done"]);
    const priced = (price: (usage: object) => number | undefined): Promise<{ outcome: object }> =>
      agent({ name: "a", model: model(), tools: [fakeTool("t", 1)], budget: { costUsd: 0.01, price } }).run(
        "go",
      );
    expect(await priced(() => 0.02)).toMatchObject({
      outcome: { type: "exhausted", field: "costUsd", used: 0.02 },
    });
    expect(await priced(() => 0.001)).toMatchObject({ outcome: { type: "answered" } });
    expect(await priced(() => undefined)).toMatchObject({
      outcome: { type: "exhausted", message: expect.stringContaining("price is unknown") },
    });
  });

  it("asks for 16 tokens at least, since providers refuse a smaller bound, but never for more than the author allows", async () => {
    const usage = { inputTokens: 60, outputTokens: 35 };
    const asked = async (settings: { maxOutputTokens?: number }): Promise<unknown[]> => {
      const model = scripted([
        { calls: [call("t")], usage },
        { text: "done", usage },
      ]);
      const tools = [fakeTool("t", 1)];
      await agent({ name: "a", model, tools, budget: { tokens: 100 }, settings }).run("go");
      return model.requests.map((request) => request.settings.maxOutputTokens);
    };
    expect(await asked({})).toEqual([100, 16]);
    expect(await asked({ maxOutputTokens: 7 })).toEqual([7, 7]);
  });

  it("gives the dollars of a run and of the agents inside it, and none where a price is unknown", async () => {
    const usage = { inputTokens: 1000, outputTokens: 1000 };
    const reply = (of: object): object => ({ ...of, usage });
    const inner = agent({
      name: "inner",
      model: scripted([reply({ text: "done" })]),
      budget: { price: () => 0.25 },
    });
    const outer = (price?: Budget["price"]) =>
      agent({
        name: "outer",
        model: scripted([reply({ calls: [call("inner", { input: "go" })] }), reply({ text: "done" })]),
        tools: [inner.asTool()],
        budget: { price },
      });
    expect((await outer(() => 0.5).run("go")).costUsd).toBe(1.25);
    expect((await outer(() => undefined).run("go")).costUsd).toBeUndefined();
    expect((await inner.with({ model: () => "free", budget: {} }).run("go")).costUsd).toBe(0.25);
    expect((await agent({ name: "a", model: () => "free" }).run("go")).costUsd).toBe(0);
  });

  it("bounds each reply by what the dollars that are left pay for beside its prompt, and by 256 tokens at least", async () => {
    const price = (of: Usage): number => (of.inputTokens + 10 * of.outputTokens) / 1e6;
    const usage = { inputTokens: 1000, outputTokens: 400 };
    const asked = async (budget: Budget): Promise<unknown[]> => {
      const model = scripted([{ calls: [call("t")], usage }, { calls: [call("t")], usage }, "done"]);
      await agent({ name: "a", model, tools: [fakeTool("t", 1)], budget }).run("x".repeat(4000));
      return model.requests.map(({ settings }) => settings.maxOutputTokens);
    };
    const [first = 0, second = 0, third] = (await asked({ costUsd: 0.012, price })) as number[];
    expect(first).toBeGreaterThan(1050);
    expect(first).toBeLessThanOrEqual(1100); // 0.012 dollars, without those for 1000 tokens of the prompt
    expect(first - second).toBeGreaterThan(500);
    expect(third).toBe(256);
    expect(await asked({ costUsd: 100, price })).toEqual([undefined, undefined, undefined]); // no model writes that much
    expect(await asked({ costUsd: 0.05, price: () => 0.01 })).toEqual([undefined, undefined, undefined]);
    expect(await asked({ costUsd: 0.012, tokens: 300, price })).toEqual([300]);
  });

  it("bounds the bytes of arguments and cuts a long result, telling the model [B-argumentBytes]", async () => {
    const echo = fakeTool("echo", "é".repeat(1000));
    const long = await agent({
      name: "a",
      model: scripted([{ calls: [call("echo", { text: "é".repeat(100) })] }, "done"]),
      tools: [echo],
      budget: { argumentBytes: 150 },
    }).run("go");
    expect(long.outcome).toMatchObject({ type: "exhausted", field: "argumentBytes" });
    expect(echo.calls).toEqual([]);
    const cut = await agent({
      name: "a",
      model: scripted([{ calls: [call("echo")] }, "done"]),
      tools: [echo],
      budget: { resultBytes: 101 },
    }).run("go");
    const result = cut.transcript.messages.at(-2);
    expect(result).toMatchObject({
      status: "ok",
      text: `${"é".repeat(50)}\n[cut off: the first 100 bytes of a longer result]\n[950 characters are left. Read on with read_result {"call":"call_1_0","from":50}.]`,
    });
  });

  it("lets the last turn answer without tools when the author says so [Y23]", async () => {
    const usingTools = { calls: [call("t")] };
    const model = scripted([
      usingTools,
      (request) => (request.toolChoice === "none" ? "I stop here." : usingTools),
    ]);
    const answering = agent({
      name: "a",
      model,
      tools: [fakeTool("t", 1)],
      budget: { turns: 2 },
      lastTurn: "answer",
    });
    expect(await answering("go")).toBe("I stop here.");
    const stubborn = await answering.with({ model: scripted([usingTools]) }).run("go");
    expect(stubborn.outcome).toMatchObject({ type: "exhausted", field: "turns" });
    expect(stubborn.transcript.messages.at(-1)).toMatchObject({ role: "user", by: "runtime" });
    expect(stubborn.transcript.messages.filter(({ role }) => role === "tool")).toHaveLength(1);
  });
});
