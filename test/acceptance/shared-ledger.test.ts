import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { WritError } from "../../src/error/writ-error.ts";
import { agent, allow, ask, type Budget, type Hook, policy, skill, tool } from "../../src/index.ts";
import { fakeTool, scripted, type ScriptedModel, type ScriptStep } from "../../src/testing.ts";
import type { Delta, ModelRequest } from "../../src/model/model.ts";
import { type Called, calling, ofType, resultsIn, watch, type TextAgent } from "./watching.ts";

const usage = { inputTokens: 60, outputTokens: 40 };
const said = (text: string): ScriptStep => ({ text, usage });
const called = (...names: readonly Called[]): ScriptStep => ({ ...calling(...names), usage });

describe("one ledger", () => {
  const spender = (
    name: string,
    replies: number,
    budget: Budget = { turns: 50, toolCalls: 99, repeats: Infinity, price: () => 0.01 },
  ): [TextAgent, ScriptedModel] => {
    const model = scripted([...Array.from({ length: replies }, () => called("look")), said("Seen.")]);
    return [agent({ name, model, tools: [fakeTool("look", "x")], budget }), model];
  };

  it("case 38: what a child spends is gone for its parent: tokens, dollars, calls; the usage of the result has it too [C39, C31]", async () => {
    const bounded = async (budget: Budget): Promise<[unknown, number, number]> => {
      const [child, inner] = spender("child", 9);
      const model = scripted([called(["child", { input: "x" }]), said("Done.")]);
      const { result } = await watch(
        agent({ name: "outer", model, tools: [child.asTool()], budget }).stream("go"),
      );
      const { field, used } = result.outcome as { field?: string; used?: number };
      expect(result.usage.inputTokens).toBe(60 * (model.requests.length + inner.requests.length));
      return [field, used ?? 0, inner.requests.length];
    };
    expect(await bounded({ tokens: 450 })).toEqual(["tokens", 500, 4]);
    expect(await bounded({ costUsd: 0.035, price: () => 0.01 })).toEqual(["costUsd", 0.04, 3]);
    expect(await bounded({ toolCalls: 4 })).toEqual([undefined, 0, 4]);
  });

  it("a child may have no more written than is left of its parent's tokens, and of all around", async () => {
    const model = scripted([called("look"), said("Seen.")]);
    const child = agent({ name: "child", model, tools: [fakeTool("look", "x")], budget: { tokens: 900 } });
    const between = agent({
      name: "between",
      model: scripted([called(["child", { input: "x" }]), "Done."]),
      tools: [child.asTool()],
    });
    const outer = scripted([called(["between", { input: "x" }]), said("Done.")]);
    await agent({ name: "outer", model: outer, tools: [between.asTool()], budget: { tokens: 450 } }).run(
      "go",
    );
    expect(model.requests.map(({ settings }) => settings.maxOutputTokens)).toEqual([250, 150]);
  });

  it("what a child spent in an earlier turn is counted once", async () => {
    const inner = scripted([said("Seen.")]);
    const child = agent({ name: "child", model: inner });
    const calls = ["a", "b", "c", "d"].map((input) => called(["child", { input }]));
    const model = scripted([...calls, said("Done.")]);
    const outer = agent({ name: "outer", model, tools: [child.asTool()], budget: { tokens: 850 } });
    // nine replies of 100 tokens: the fourth child begins at 700, the last reply at 800
    expect([await outer("go"), inner.requests.length]).toEqual(["Done.", 4]);
  });

  it("a child knows the dollars of its parent by its own price, and one that has none leaves nothing", async () => {
    const priced = (price: number | undefined): TextAgent =>
      agent({
        name: "child",
        model: scripted([called("look"), called("look"), said("Seen.")]),
        tools: [fakeTool("look", "x")],
        budget: { price: () => price },
      });
    for (const [price, used] of [
      [0.02, 0.05],
      [undefined, Infinity],
    ] as const) {
      const model = scripted([called(["child", { input: "x" }]), said("Done.")]);
      const outer = agent({
        name: "outer",
        model,
        tools: [priced(price).asTool()],
        budget: { costUsd: 0.05, price: () => 0.01 },
      });
      const { result } = await watch(outer.stream("go"));
      expect(result.outcome).toMatchObject({ type: "exhausted", field: "costUsd", used });
    }
  });

  it("case 38: two children beside each other overspend by no more than one reply each [C39]", async () => {
    for (const effect of [undefined, "read"] as const) {
      const children = ["left", "right"].map((name) => spender(name, 40));
      const model = scripted([called(["left", { input: "x" }], ["right", { input: "x" }]), said("Done.")]);
      const tools = children.map(([child]) => child.asTool(effect === undefined ? {} : { effect }));
      const { result } = await watch(
        agent({ name: "outer", model, tools, budget: { tokens: 1000 } }).stream("go"),
      );
      const total = result.usage.inputTokens + result.usage.outputTokens;
      expect(result.outcome).toMatchObject({ type: "exhausted", field: "tokens", used: total });
      expect(total).toBeGreaterThanOrEqual(1000);
      expect(total).toBeLessThanOrEqual(1200);
      expect(
        resultsIn(result.transcript).every(({ text }) =>
          text.includes("exceeded the tokens budget of 1000 of the run around it"),
        ),
      ).toBe(true);
    }
  });

  it("a child may answer when its parent has no call of a tool left, and may make none", async () => {
    let ran = 0;
    const read = tool({
      name: "look",
      description: "",
      inputSchema: {},
      effect: "read",
      execute: () => (ran += 1),
    });
    const inner = scripted([called("look"), said("Seen.")]);
    const child = agent({ name: "child", model: inner, tools: [read] });
    const look = agent({ name: "talker", model: scripted([said("Hello.")]) });
    const model = scripted([calling(["talker", { input: "x" }]), "Done."]);
    expect(
      await agent({ name: "outer", model, tools: [look.asTool()], budget: { toolCalls: 1 } })("go"),
    ).toBe("Done.");
    const second = scripted([calling(["child", { input: "x" }]), "Done."]);
    const { result } = await watch(
      agent({ name: "outer", model: second, tools: [child.asTool()], budget: { toolCalls: 1 } }).stream("go"),
    );
    expect([ran, inner.requests.length]).toEqual([0, 1]);
    expect(resultsIn(result.transcript)).toMatchObject([
      { status: "error", text: expect.stringContaining("toolCalls budget of 1 of the run around it") },
    ]);
  });

  it("a child cannot raise what its parent has: only the parent's own hooks can", async () => {
    let asked = 0;
    const greedy = { onBudgetExceeded: () => ((asked += 1), { extend: 1_000_000 }) };
    const child = agent({
      name: "child",
      model: scripted([called("look")]),
      tools: [fakeTool("look", "x")],
      budget: { turns: 50 },
      hooks: [greedy],
    });
    const model = scripted([called(["child", { input: "x" }]), said("Done.")]);
    const { result } = await watch(
      agent({ name: "outer", model, tools: [child.asTool()], budget: { tokens: 350 } }).stream("go"),
    );
    expect([asked, result.outcome]).toMatchObject([0, { type: "exhausted", field: "tokens", limit: 350 }]);
    const raising = agent({
      name: "outer",
      model: scripted([called(["child", { input: "x" }]), said("Done.")]),
      tools: [child.asTool()],
      budget: { tokens: 350 },
      hooks: [greedy],
    });
    expect((await raising.run("go")).text).toBe("Done.");
  });

  it("asks no model to route when nothing is left", async () => {
    const model = scripted([said("first")]);
    const skills = ["first", "second"].map((name) => skill({ name, description: name, tools: [] }));
    const router = agent({ name: "router", model, skills });
    const outer = agent({
      name: "outer",
      model: scripted([called(["router", { input: "x" }]), said("Done.")]),
      tools: [router.asTool()],
      budget: { tokens: 100 },
    });
    const { result } = await watch(outer.stream("go"));
    expect([model.requests.length, result.outcome]).toMatchObject([
      0,
      { type: "exhausted", field: "tokens" },
    ]);
  });

  it("does not skip a call that has begun while its reply was read, though another one used up what they share", async () => {
    const used = Promise.withResolvers<undefined>();
    const grandchild = agent({
      name: "grandchild",
      model: scripted([called("look"), said("Seen.")]),
      tools: [fakeTool("look", () => used.resolve(undefined))],
    });
    let asked = 0;
    async function* model(): AsyncGenerator<Delta> {
      asked += 1;
      for (const [id, name] of asked === 1
        ? ([
            ["a", "look"],
            ["b", "grandchild"],
          ] as const)
        : []) {
        yield { type: "call-start", id, name };
        yield { type: "call-end", id, arguments: { input: "x" } };
      }
      await used.promise;
      yield { type: "end", finishReason: "tool-calls", usage };
    }
    const child = agent({
      name: "child",
      model,
      tools: [fakeTool("look", "x"), grandchild.asTool({ effect: "read" })],
    });
    const outer = agent({
      name: "outer",
      model: scripted([called(["child", { input: "x" }]), said("Done.")]),
      tools: [child.asTool()],
      budget: { toolCalls: 3 },
    });
    const { events, result } = await watch(outer.stream("go"));
    const ends = ofType(events, "tool-end").map(({ name, result: { status } }) => [name, status]);
    expect(ends).toEqual([
      ["look", "skipped"],
      ["look", "ok"], // that of the grandchild, whose call began early: it is told when it is known that there is such a call
      ["grandchild", "ok"],
      ["child", "error"],
    ]);
    expect(ofType(events, "delegation-end").map(({ delegation }) => delegation.agent)).toEqual([
      "grandchild",
      "child",
    ]);
    expect(result.usage.inputTokens).toBe(60 * 5);
  });

  it("leaves to a reply the calls that it makes: a child that began early takes none of them while a person is asked", async () => {
    const look = fakeTool("look", "x", { effect: "read" });
    const pay = fakeTool("pay", "paid", { effect: "irreversible" });
    const looks = ["a", "b", "c"].map((name) => ({ name: "look", arguments: { name } }));
    const slow = async ({ messages }: ModelRequest) => {
      await sleep(5); // the reply around it is whole by then
      return messages.length > 2 ? "Seen." : { calls: looks };
    };
    const child = agent({
      name: "child",
      model: slow,
      tools: [look],
    });
    const outer = agent({
      name: "outer",
      model: scripted([called(["child", { input: "x" }], "pay"), "Done."]),
      tools: [child.asTool({ effect: "read" }), pay],
      policy: policy({ name: "asks", rules: [ask("pay"), allow("child")] }),
      budget: { toolCalls: 4 },
    });
    await outer.run("go", { approve: () => sleep(20, true) });
    expect([pay.calls.length, look.calls.length]).toEqual([1, 2]);
  });

  it("counts a child that began early in a reply that broke off, where the next reply or a hook answers without it", async () => {
    const inner = scripted([said("Seen.")]);
    const child = agent({ name: "child", model: inner });
    const busy = { provider: "p", model: "m", reason: "busy" };
    const torn = (): (() => AsyncGenerator<Delta>) => {
      let asked = 0;
      return async function* model() {
        if ((asked += 1) > 1) {
          yield { type: "text-delta", text: "Done." };
          yield { type: "end", finishReason: "stop", usage };
          return;
        }
        yield { type: "call-start", id: "c", name: "child" };
        yield { type: "call-end", id: "c", arguments: { input: "x" } };
        await sleep(5);
        throw new WritError("provider-failed", busy, { retryable: true });
      };
    };
    const tools = [child.asTool({ effect: "read" })];
    const hooks: Hook[] = [{ onError: () => ({ answer: "Later." }) }];
    for (const [changes, used] of [
      [{ retry: { firstDelayMs: 1 } }, 120],
      [{ retry: false, hooks }, 60],
    ] as const) {
      const around = agent({ name: "around", model: torn(), tools, ...changes });
      const result = await around.run("go");
      expect([result.usage.inputTokens, resultsIn(result.transcript)]).toEqual([used, []]);
    }
    expect(inner.requests).toHaveLength(2);
  });

  it("counts what a child spent whose call timed out, and lets none go on behind its call", async () => {
    let replies = 0;
    const endless = agent({
      name: "endless",
      model: async () => {
        await sleep(5);
        replies += 1;
        return called("look") as object;
      },
      tools: [fakeTool("look", "x")],
      budget: { turns: 10_000, toolCalls: 10_000, repeats: Infinity },
    });
    const deaf = tool({
      name: "deaf",
      description: "",
      inputSchema: z.object({}),
      timeoutMs: 150,
      execute: (_args, { run }) => endless.run("x", { parent: run }),
    });
    const outer = agent({ name: "outer", model: scripted([calling("deaf"), "Done."]), tools: [deaf] });
    const { result, events } = await watch(outer.stream("go"));
    const before = replies;
    await sleep(40);
    expect(replies).toBeLessThanOrEqual(before + 1);
    expect(resultsIn(result.transcript)).toMatchObject([{ status: "timeout" }]);
    const [end] = ofType(events, "delegation-end");
    expect(end?.delegation).toMatchObject({ agent: "endless", outcome: "cancelled" });
    expect(end?.delegation.usage.inputTokens).toBeGreaterThanOrEqual(60 * (before - 1));
    expect(result.usage.inputTokens).toBeGreaterThan(60);
  });
});
