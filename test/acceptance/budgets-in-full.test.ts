import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { nodeHost } from "../../src/adapters/clock.ts";
import { resolveModel } from "../../src/adapters/model/resolve.ts";
import { makeAgent } from "../../src/agent/agent.ts";
import { WritError } from "../../src/error/writ-error.ts";
import { agent, type Budget, type Hook, memoryJournal, tool } from "../../src/index.ts";
import type { HookInput } from "../../src/hook/hook.ts";
import { fakeTool, scripted, type ScriptStep } from "../../src/testing.ts";
import { calling, expectValid, factsOf, ofType, resultsIn, roundTrip, watch } from "./watching.ts";

const usage = { inputTokens: 60, outputTokens: 40 };
const look = (): ReturnType<typeof fakeTool> => fakeTool("look", "seen");
const looking = { ...calling("look"), usage };
const looks = (count: number): ScriptStep[] => [
  ...Array.from({ length: count }, () => looking),
  { text: "Done.", usage },
];

/** A hook that answers in turn, and what it was asked. */
function exceeded(...answers: readonly object[]): { hook: Hook; asked: HookInput<"onBudgetExceeded">[] } {
  const asked: HookInput<"onBudgetExceeded">[] = [];
  const onBudgetExceeded = (at: HookInput<"onBudgetExceeded">): object => {
    asked.push(at);
    return answers[Math.min(asked.length, answers.length) - 1] ?? {};
  };
  return { hook: { name: "purser", onBudgetExceeded }, asked };
}

describe("thresholds", () => {
  it("case 29: each bound is warned of once, when a part of it is used up: to the hook and as a fact [B2]", async () => {
    const warned: unknown[] = [];
    const hook: Hook = {
      onBudgetThreshold: ({ field, used, limit, turn }) => void warned.push([turn, field, used, limit]),
    };
    const budget: Budget = {
      turns: 8,
      toolCalls: 3,
      tokens: 900,
      costUsd: 0.1,
      price: () => 0.02,
      warnAt: 0.5,
    };
    const a = agent({ name: "a", model: scripted(looks(3)), tools: [look()], budget, hooks: [hook] });
    const { events, result } = await watch(a.stream("go"));
    expect(result.text).toBe("Done.");
    const expected = [
      [3, "toolCalls", 2, 3],
      [4, "turns", 4, 8],
      [4, "costUsd", 0.06, 0.1],
    ];
    expect(warned).toEqual([expected[0], ...expected.slice(1)]);
    expect(
      ofType(events, "budget-threshold").map(({ turn, field, used, limit }) => [turn, field, used, limit]),
    ).toEqual(warned);
  });

  it("case 29: the part is four fifths where the author does not say, and a bound that was raised is warned of again, wherever that was [B2, B3]", async () => {
    const fields = async (budget: Budget, hook: Hook): Promise<unknown[]> => {
      const model = scripted([{ ...calling("look", "look", "look"), usage }, looking, looking, "Done."]);
      const { events } = await watch(
        agent({ name: "a", model, tools: [look()], budget, hooks: [hook] }).stream("go"),
      );
      return ofType(events, "budget-threshold").map(({ turn, field, limit }) => [turn, field, limit]);
    };
    expect(await fields({ turns: 5 }, {})).toEqual([[4, "turns", 5]]);
    expect(await fields({ turns: 2, toolCalls: 99 }, exceeded({ extend: 4 }).hook)).toEqual([
      [2, "turns", 2],
      [4, "turns", 4],
    ]);
    const inBatch = exceeded({ extend: 3 }, { extend: 5 });
    expect(await fields({ toolCalls: 2 }, inBatch.hook)).toEqual([
      [2, "toolCalls", 3],
      [3, "toolCalls", 5],
    ]);
    expect(inBatch.asked.map(({ turn, limit, used }) => [turn, limit, used])).toEqual([
      [1, 2, 2],
      [2, 3, 3],
    ]);
  });
});

describe("a bound that is met", () => {
  it("case 29: a larger bound continues, and is told; one that is not larger stops [B3]", async () => {
    for (const extend of [2, 1, 0, -3, 1.5]) {
      const { hook } = exceeded({ extend });
      const { result, events } = await watch(
        agent({
          name: "a",
          model: scripted(looks(2)),
          tools: [look()],
          budget: { turns: 2 },
          hooks: [hook],
        }).stream("go"),
      );
      expect(result.outcome).toMatchObject({ type: "exhausted", field: "turns", limit: 2 });
      expect(ofType(events, "budget-extended")).toEqual([]);
    }
    const { hook, asked } = exceeded({ extend: 3 });
    const model = scripted(looks(2));
    const { result, events } = await watch(
      agent({ name: "a", model, tools: [look()], budget: { turns: 2 }, hooks: [hook] }).stream("go"),
    );
    expect([result.text, result.turns]).toEqual(["Done.", 3]);
    expect(ofType(events, "budget-extended")).toMatchObject([{ field: "turns", from: 2, to: 3 }]);
    expect(asked).toMatchObject([
      { turn: 2, field: "turns", limit: 2, used: 2, message: "exceeded budget of 2 turns" },
    ]);
  });

  it("is raised to a number that JSON has: no bound at all is refused by its name, not by that of null", async () => {
    for (const extend of [Infinity, Number.NaN]) {
      const { hook } = exceeded({ extend });
      const budget = { turns: 2 };
      const raised = agent({ name: "a", model: scripted(looks(2)), tools: [look()], budget, hooks: [hook] });
      const { outcome } = await raised.run("go");
      expect(outcome).toMatchObject({
        code: "hook-failed",
        message: expect.stringContaining(`\`extend\` is not JSON: it is ${extend}`),
      });
    }
  });

  it("inside a batch: calls go on under the larger bound, one bound after another; a bound of a single call stays [B3, B-toolCalls, B-sameTool, B-argumentBytes]", async () => {
    const tools = [look()];
    const run = async (budget: Budget, answers: readonly object[]): Promise<[unknown, string[]]> => {
      const model = scripted([calling("look", ["look", { q: "é" }], "look", "look"), "Done."]);
      const { result, events } = await watch(
        agent({ name: "a", model, tools, budget, hooks: [exceeded(...answers).hook] }).stream("go"),
      );
      const raised = ofType(events, "budget-extended").map(({ field, from, to }) => `${field} ${from} ${to}`);
      const ends = resultsIn(result.transcript).map(({ status }) => status);
      return [
        result.outcome.type === "answered" ? "answered" : (result.outcome as { field?: string }).field,
        [...raised, ...ends],
      ];
    };
    expect(await run({ toolCalls: 2 }, [{ extend: 9 }])).toEqual([
      "answered",
      ["toolCalls 2 9", "ok", "ok", "ok", "ok"],
    ]);
    expect(await run({ toolCalls: 2 }, [{ extend: 3 }, {}])).toEqual([
      "toolCalls",
      ["toolCalls 2 3", "ok", "ok", "ok", "skipped"],
    ]);
    expect(await run({ toolCalls: 2, sameToolInARow: 2 }, [{ extend: 9 }])).toEqual([
      "answered",
      ["toolCalls 2 9", "sameToolInARow 2 9", "ok", "ok", "ok", "ok"],
    ]);
    expect(await run({ toolCalls: 2, sameToolInARow: 2 }, [{ extend: 9 }, { extend: 2 }])).toEqual([
      "sameToolInARow",
      ["toolCalls 2 9", "ok", "ok", "skipped", "skipped"],
    ]);
    expect(await run({ argumentBytes: 8 }, [{ extend: 900 }])).toEqual([
      "argumentBytes",
      ["ok", "skipped", "skipped", "skipped"],
    ]);
  });

  it("of tokens and of dollars continues too, and bounds what the model may write by what is left then [B3, B-tokens]", async () => {
    const model = scripted(looks(1));
    const { hook } = exceeded({ extend: 250 });
    const result = await agent({
      name: "a",
      model,
      tools: [look()],
      budget: { tokens: 100 },
      hooks: [hook],
    }).run("go");
    expect(result.text).toBe("Done.");
    expect(model.requests.map(({ settings }) => settings.maxOutputTokens)).toEqual([100, 150]);
    const dollars = agent({
      name: "a",
      model: scripted(looks(1)),
      tools: [look()],
      budget: { costUsd: 0.01, price: () => 0.02 },
      hooks: [exceeded({ extend: 0.05 }).hook],
    });
    expect(await dollars.run("go")).toMatchObject({ outcome: { type: "answered" } });
  });
});

const slow = (ms: number): ReturnType<typeof tool> =>
  tool({ name: "slow", description: "", inputSchema: z.object({}), execute: () => sleep(ms, "slept") });

describe("time that is over in the middle of a turn", () => {
  it("lets a failed request be made again in the time that was given then", async () => {
    let tries = 0;
    const model = async (): Promise<string> => {
      if ((tries += 1) > 1) return "Done.";
      await sleep(90);
      const about = { provider: "p", model: "m", reason: "busy" };
      throw new WritError("provider-failed", about, { retryable: true });
    };
    const { hook } = exceeded({ extend: 60_000 });
    const budget = { durationMs: 40 };
    const late = agent({ name: "a", model, hooks: [hook], budget, retry: { firstDelayMs: 1 } });
    expect((await late.run("go")).text).toBe("Done.");
  });

  it("case 29: a tool that runs goes on when there is more, and a replay, in which no time passes, tells the same [B3, B-duration]", async () => {
    const { hook, asked } = exceeded({ extend: 60_000 });
    const definition = { name: "a", tools: [slow(90)], budget: { durationMs: 40 } };
    const journal = memoryJournal();
    const first = await watch(
      agent({ ...definition, model: scripted([calling("slow"), "Done."]), hooks: [hook] }).stream("go", {
        journal,
        runId: "r",
      }),
    );
    expect(first.result.text).toBe("Done.");
    expect(asked).toMatchObject([{ field: "durationMs", limit: 40 }]);
    expect(ofType(first.events, "budget-extended")).toMatchObject([
      { field: "durationMs", from: 40, to: 60_000 },
    ]);
    const never: Hook = {
      name: "purser",
      onBudgetExceeded: () => {
        throw new Error("asked again");
      },
    };
    const again = await watch(
      agent({
        ...definition,
        model: scripted([
          () => {
            throw new Error("asked again");
          },
        ]),
        hooks: [never],
      }).stream("go", { journal: memoryJournal(journal.records), runId: "r" }),
    );
    expect(factsOf(again.events)).toEqual(factsOf(first.events));
  });

  it("is asked about once for each bound, though the next turn comes to it too", async () => {
    const { hook, asked } = exceeded({ extend: 60_000 }, {});
    const a = agent({
      name: "a",
      model: scripted([calling("slow"), calling("slow"), "Done."]),
      tools: [slow(40)],
      budget: { durationMs: 25 },
      hooks: [hook],
    });
    expect((await a.run("go")).text).toBe("Done.");
    expect(asked).toHaveLength(1);
  });

  it("ends as exhausted by the bound that held last; a hook that fails, fails the run", async () => {
    const twice = exceeded({ extend: 60 }, {});
    const definition = {
      name: "a",
      model: scripted([calling("slow")]),
      tools: [slow(5000)],
      budget: { durationMs: 25 },
    };
    const ended = await watch(agent({ ...definition, hooks: [twice.hook] }).stream("go"));
    expect(twice.asked.map(({ limit }) => limit)).toEqual([25, 60]);
    expect(ended.result.outcome).toMatchObject({
      type: "exhausted",
      field: "durationMs",
      limit: 60,
      message: "exceeded duration budget of 60 ms",
    });
    expect(resultsIn(ended.result.transcript)).toMatchObject([{ status: "cancelled" }]);
    const broken: Hook = {
      onBudgetExceeded: () => {
        throw new Error("no purse");
      },
    };
    const failed = await watch(agent({ ...definition, hooks: [broken] }).stream("go"));
    expect(failed.result.outcome).toMatchObject({ type: "failed", code: "hook-failed" });
    expect(resultsIn(failed.result.transcript)).toMatchObject([{ status: "cancelled" }]);
  });

  it("does not wait for ever for an author who says nothing", async () => {
    const host = {
      ...nodeHost,
      timer: (afterMs: number, fire: () => void) => nodeHost.timer(afterMs / 100, fire),
    };
    const hanging: Hook = { onBudgetExceeded: () => new Promise(() => undefined) };
    const definition = {
      name: "a",
      model: () => new Promise<string>(() => undefined),
      budget: { durationMs: 500 },
      hooks: [hanging],
    };
    const result = await makeAgent(definition, { host, resolveModel }).run("go");
    expect(result.outcome).toMatchObject({ type: "exhausted", field: "durationMs", limit: 500 });
  });

  it("is suspended with its calls settled, and goes on from there with more time [B3]", async () => {
    const definition = {
      name: "a",
      tools: [slow(5000)],
      budget: { durationMs: 30 },
      hooks: [exceeded({ checkpoint: true }).hook],
    };
    const { result } = await watch(agent({ ...definition, model: scripted([calling("slow")]) }).stream("go"));
    expect(result).toMatchObject({
      outcome: { type: "suspended", field: "durationMs" },
      error: { code: "run-suspended" },
    });
    const checkpoint = roundTrip(result.checkpoint);
    if (checkpoint === undefined) throw new Error("a suspended run has a checkpoint");
    const model = scripted(["Done."]);
    const resumed = await agent({ ...definition, model })
      .with({ budget: { durationMs: 60_000 } })
      .resume(checkpoint);
    expect(resumed.text).toBe("Done.");
    expect(resultsIn(resumed.transcript)).toMatchObject([{ status: "cancelled" }]);
    expect(model.requests[0]?.messages.at(-1)).toMatchObject({ role: "tool", status: "cancelled" });
  });
});

describe("a run that is suspended", () => {
  const definition = {
    name: "a",
    instructions: "Look.",
    tools: [look()],
    budget: { turns: 2, tokens: 5000 },
  };
  const suspend = async (hooks: readonly Hook[] = []): Promise<ReturnType<typeof Object>> => {
    const a = agent({
      ...definition,
      model: scripted(looks(3)),
      hooks: [...hooks, exceeded({ checkpoint: true }).hook],
    });
    const { result } = await watch(a.stream("go", { runId: "r" }));
    expect(result.outcome).toMatchObject({ type: "suspended", field: "turns", limit: 2 });
    expect(result.output).toBeUndefined();
    return result.checkpoint as never;
  };

  it("case 29: goes on from its checkpoint after a JSON round trip, in another agent value, with a larger budget, and counts on [B3, C23, O6]", async () => {
    const checkpoint = roundTrip(await suspend());
    const model = scripted(looks(1));
    const seen: string[] = [];
    const resumable = agent({
      ...definition,
      model,
      tools: [
        tool({
          name: "look",
          description: "",
          inputSchema: {},
          execute: (_args, { idempotencyKey }) => void seen.push(idempotencyKey),
        }),
      ],
    });
    const accept = { accept: ["tools"] } as const; // this value has another tool of the same name
    const again = await resumable.resume(checkpoint as never, accept);
    expect(again.outcome).toMatchObject({ type: "exhausted", field: "turns" });
    expect(model.requests).toEqual([]);
    const larger = resumable.with({ budget: { turns: 6 } });
    const result = await larger.resume(checkpoint as never, accept);
    expect(result).toMatchObject({
      runId: "r",
      text: "Done.",
      turns: 4,
      usage: { inputTokens: 240, outputTokens: 160 },
    });
    const key = createHash("sha256").update("r/turn/3/call/0").digest("hex"); // that of the run that was left
    expect(seen).toEqual([key]);
    expect(model.requests[0]?.settings.maxOutputTokens).toBe(4800);
    expectValid(result.transcript);
    expect(resultsIn(result.transcript)).toHaveLength(3);
  });

  it("throws when the agent is called as a function, and says how to go on", async () => {
    const a = agent({
      ...definition,
      model: scripted(looks(3)),
      hooks: [exceeded({ checkpoint: true }).hook],
    });
    await expect(a("go")).rejects.toMatchObject({
      code: "run-suspended",
      hint: expect.stringContaining("agent.resume"),
    });
  });

  it("in the middle of a batch has a result for every call, and the model may make the rest again", async () => {
    const steps = [calling("look", "look", "look"), "Done."];
    const a = agent({
      ...definition,
      budget: { toolCalls: 2 },
      model: scripted(steps),
      hooks: [exceeded({ checkpoint: true }).hook],
    });
    const { result } = await watch(a.stream("go"));
    expect(result.outcome).toMatchObject({ type: "suspended", field: "toolCalls" });
    expect(resultsIn(result.transcript).map(({ status }) => status)).toEqual(["ok", "ok", "skipped"]);
    const more = a.with({ budget: { toolCalls: 9 }, model: scripted([calling("look"), "Done."]) });
    expect(await more.resume(roundTrip(result.checkpoint) as never)).toMatchObject({
      text: "Done.",
      turns: 3,
    });
  });

  it("keeps what narrowed it, and the author's last word about its output", async () => {
    const other = fakeTool("other", "o");
    const hooks: Hook[] = [
      exceeded({ checkpoint: true }).hook,
      { afterRun: ({ output }) => ({ output: `${JSON.stringify(output)}!` }) },
    ];
    const a = agent({
      name: "a",
      tools: [look(), other],
      budget: { turns: 1 },
      model: scripted([calling("look")]),
      hooks,
    });
    const suspended = await a.run("go", { tools: ["look"] });
    const more = a.with({ budget: { turns: 9 }, model: scripted([calling("look", "other"), "Done."]) });
    const result = await more.resume(roundTrip(suspended.checkpoint) as never);
    expect(resultsIn(result.transcript).slice(1)).toMatchObject([
      { status: "ok" },
      { status: "denied", text: "Tool 'other' is not allowed for skill 'a'. Allowed: [look]" },
    ]);
    expect([result.output, other.calls]).toEqual(['"Done."!', []]);
  });

  it("keeps a price that nobody knows as one that nobody knows", async () => {
    const priceless = {
      ...definition,
      budget: { turns: 1, costUsd: 5, price: () => undefined },
      model: scripted(looks(1)),
      hooks: [exceeded({ checkpoint: true }).hook],
    };
    const { checkpoint } = await agent(priceless).run("go");
    const result = await agent({ ...priceless, hooks: [] })
      .with({ budget: { turns: 9 } })
      .resume(roundTrip(checkpoint) as never);
    expect(result.outcome).toMatchObject({
      type: "exhausted",
      field: "costUsd",
      message: expect.stringContaining("price is unknown"),
    });
  });

  it("is not resumed from what is none of its checkpoints", async () => {
    const checkpoint = roundTrip(await suspend()) as unknown as Record<string, unknown>;
    const a = agent({ ...definition, model: scripted(looks(3)) });
    const wrong: [unknown, string][] = [
      [undefined, "it must be an object, got "],
      [{}, "`runId` must be a string, got nothing"],
      [{ ...checkpoint, transcript: {} }, "`transcript.messages` must be a list, got nothing"],
      [
        { ...checkpoint, ledger: { turns: "many" } },
        "`ledger.tokens` must be a number from 0 on, got nothing",
      ],
      [{ ...checkpoint, elapsedMs: -1 }, "`elapsedMs` must be a number from 0 on, got -1"],
      [{ ...checkpoint, modes: [1] }, "`modes[0]` must be an object, got a number"],
      [{ ...checkpoint, agent: "b" }, 'it is of the agent "b"'],
      [{ ...checkpoint, skill: "cook" }, 'the agent has no skill "cook" that asks a model'],
    ];
    for (const [given, reason] of wrong)
      await expect(a.resume(given as never)).rejects.toMatchObject({
        code: "checkpoint-invalid",
        message: expect.stringContaining(reason),
      });
    const { messages } = checkpoint["transcript"] as { messages: object[] };
    const open = { ...checkpoint, transcript: { messages: messages.slice(0, 3) } };
    await expect(a.resume(open as never)).rejects.toMatchObject({ code: "checkpoint-invalid" });
    const orphan = { ...checkpoint, transcript: { messages: messages.slice(3) } };
    await expect(a.resume(orphan as never)).rejects.toMatchObject({ code: "transcript-invalid" });
  });
});
