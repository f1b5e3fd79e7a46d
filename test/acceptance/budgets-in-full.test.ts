import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { nodeHost } from "../../src/adapters/clock.ts";
import { resolveModel } from "../../src/adapters/model/resolve.ts";
import { makeAgent } from "../../src/agent/agent.ts";
import { agent, type Budget, fixed, type Hook, memoryJournal, tool } from "../../src/index.ts";
import type { HookInput } from "../../src/hook/hook.ts";
import { fakeTool, scripted, type ScriptStep } from "../../src/testing.ts";
import { calling, expectValid, factsOf, ofType, resultsIn, roundTrip, watch } from "./watching.ts";

const usage = { inputTokens: 60, outputTokens: 40 };
const look = (): ReturnType<typeof fakeTool> => fakeTool("look", "seen");
const looking = { ...calling("look"), usage };
const looks = (count: number): ScriptStep[] => [...Array.from({ length: count }, () => looking), { text: "Done.", usage }];

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
    const hook: Hook = { onBudgetThreshold: ({ field, used, limit, turn }) => void warned.push([turn, field, used, limit]) };
    const budget: Budget = { turns: 8, toolCalls: 3, tokens: 900, costUsd: 0.1, price: () => 0.02, warnAt: 0.5 };
    const a = agent({ name: "a", model: scripted(looks(3)), tools: [look()], budget, hooks: [hook] });
    const { events, result } = await watch(a.stream("go"));
    expect(result.text).toBe("Done.");
    const expected = [
      [3, "toolCalls", 2, 3],
      [4, "turns", 4, 8],
      [4, "costUsd", 0.06, 0.1],
    ];
    expect(warned).toEqual([expected[0], ...expected.slice(1)]);
    expect(ofType(events, "budget-threshold").map(({ turn, field, used, limit }) => [turn, field, used, limit])).toEqual(warned);
  });

  it("case 29: the part is four fifths where the author does not say, and a bound that was raised is warned of again, wherever that was [B2, B3]", async () => {
    const fields = async (budget: Budget, hook: Hook): Promise<unknown[]> => {
      const model = scripted([{ ...calling("look", "look", "look"), usage }, looking, looking, "Done."]);
      const { events } = await watch(agent({ name: "a", model, tools: [look()], budget, hooks: [hook] }).stream("go"));
      return ofType(events, "budget-threshold").map(({ turn, field, limit }) => [turn, field, limit]);
    };
    expect(await fields({ turns: 5 }, {})).toEqual([[4, "turns", 5]]);
    expect(await fields({ turns: 2, toolCalls: 99 }, exceeded({ extend: 4 }).hook)).toEqual([[2, "turns", 2], [4, "turns", 4]]);
    const inBatch = exceeded({ extend: 3 }, { extend: 5 });
    expect(await fields({ toolCalls: 2 }, inBatch.hook)).toEqual([[2, "toolCalls", 3], [3, "toolCalls", 5]]);
    expect(inBatch.asked.map(({ turn, limit, used }) => [turn, limit, used])).toEqual([[1, 2, 2], [2, 3, 3]]);
  });
});

describe("a bound that is met", () => {
  it("case 29: a larger bound continues, and is told; one that is not larger stops [B3]", async () => {
    for (const extend of [2, 1, 0, -3, 1.5]) {
      const { hook } = exceeded({ extend });
      const { result, events } = await watch(agent({ name: "a", model: scripted(looks(2)), tools: [look()], budget: { turns: 2 }, hooks: [hook] }).stream("go"));
      expect(result.outcome).toMatchObject({ type: "exhausted", field: "turns", limit: 2 });
      expect(ofType(events, "budget-extended")).toEqual([]);
    }
    const { hook, asked } = exceeded({ extend: 3 });
    const model = scripted(looks(2));
    const { result, events } = await watch(agent({ name: "a", model, tools: [look()], budget: { turns: 2 }, hooks: [hook] }).stream("go"));
    expect([result.text, result.turns]).toEqual(["Done.", 3]);
    expect(ofType(events, "budget-extended")).toMatchObject([{ field: "turns", from: 2, to: 3 }]);
    expect(asked).toMatchObject([{ turn: 2, field: "turns", limit: 2, used: 2, message: "exceeded budget of 2 turns" }]);
  });

  it("inside a batch: calls go on under the larger bound, one bound after another; a bound of a single call stays [B3, B-toolCalls, B-sameTool, B-argumentBytes]", async () => {
    const tools = [look()];
    const run = async (budget: Budget, answers: readonly object[]): Promise<[unknown, string[]]> => {
      const model = scripted([calling("look", ["look", { q: "é" }], "look", "look"), "Done."]);
      const { result, events } = await watch(agent({ name: "a", model, tools, budget, hooks: [exceeded(...answers).hook] }).stream("go"));
      const raised = ofType(events, "budget-extended").map(({ field, from, to }) => `${field} ${from} ${to}`);
      const ends = resultsIn(result.transcript).map(({ status }) => status);
      return [result.outcome.type === "answered" ? "answered" : (result.outcome as { field?: string }).field, [...raised, ...ends]];
    };
    expect(await run({ toolCalls: 2 }, [{ extend: 9 }])).toEqual(["answered", ["toolCalls 2 9", "ok", "ok", "ok", "ok"]]);
    expect(await run({ toolCalls: 2 }, [{ extend: 3 }, {}])).toEqual(["toolCalls", ["toolCalls 2 3", "ok", "ok", "ok", "skipped"]]);
    expect(await run({ toolCalls: 2, sameToolInARow: 2 }, [{ extend: 9 }])).toEqual(["answered", ["toolCalls 2 9", "sameToolInARow 2 9", "ok", "ok", "ok", "ok"]]);
    expect(await run({ toolCalls: 2, sameToolInARow: 2 }, [{ extend: 9 }, { extend: 2 }])).toEqual(["sameToolInARow", ["toolCalls 2 9", "ok", "ok", "skipped", "skipped"]]);
    expect(await run({ argumentBytes: 8 }, [{ extend: 900 }])).toEqual(["argumentBytes", ["ok", "skipped", "skipped", "skipped"]]);
  });

  it("of tokens and of dollars continues too, and bounds what the model may write by what is left then [B3, B-tokens]", async () => {
    const model = scripted(looks(1));
    const { hook } = exceeded({ extend: 250 });
    const result = await agent({ name: "a", model, tools: [look()], budget: { tokens: 100 }, hooks: [hook] }).run("go");
    expect(result.text).toBe("Done.");
    expect(model.requests.map(({ settings }) => settings.maxOutputTokens)).toEqual([100, 150]);
    const dollars = agent({ name: "a", model: scripted(looks(1)), tools: [look()], budget: { costUsd: 0.01, price: () => 0.02 }, hooks: [exceeded({ extend: 0.05 }).hook] });
    expect(await dollars.run("go")).toMatchObject({ outcome: { type: "answered" } });
  });
});

const slow = (ms: number): ReturnType<typeof tool> =>
  tool({ name: "slow", description: "", inputSchema: z.object({}), execute: () => sleep(ms, "slept") });

describe("time that is over in the middle of a turn", () => {
  it("case 29: a tool that runs goes on when there is more, and a replay, in which no time passes, tells the same [B3, B-duration]", async () => {
    const { hook, asked } = exceeded({ extend: 60_000 });
    const definition = { name: "a", tools: [slow(90)], budget: { durationMs: 40 } };
    const journal = memoryJournal();
    const first = await watch(agent({ ...definition, model: scripted([calling("slow"), "Done."]), hooks: [hook] }).stream("go", { journal, runId: "r" }));
    expect(first.result.text).toBe("Done.");
    expect(asked).toMatchObject([{ field: "durationMs", limit: 40 }]);
    expect(ofType(first.events, "budget-extended")).toMatchObject([{ field: "durationMs", from: 40, to: 60_000 }]);
    const never: Hook = { name: "purser", onBudgetExceeded: () => { throw new Error("asked again"); } };
    const again = await watch(
      agent({ ...definition, model: scripted([() => { throw new Error("asked again"); }]), hooks: [never] }).stream("go", { journal: memoryJournal(journal.records), runId: "r" }),
    );
    expect(factsOf(again.events)).toEqual(factsOf(first.events));
  });

  it("ends as exhausted by the bound that held last; a hook that fails, fails the run", async () => {
    const twice = exceeded({ extend: 60 }, {});
    const definition = { name: "a", model: scripted([calling("slow")]), tools: [slow(5000)], budget: { durationMs: 25 } };
    const ended = await watch(agent({ ...definition, hooks: [twice.hook] }).stream("go"));
    expect(twice.asked.map(({ limit }) => limit)).toEqual([25, 60]);
    expect(ended.result.outcome).toMatchObject({ type: "exhausted", field: "durationMs", limit: 60, message: "exceeded duration budget of 60 ms" });
    expect(resultsIn(ended.result.transcript)).toMatchObject([{ status: "cancelled" }]);
    const broken: Hook = { onBudgetExceeded: () => { throw new Error("no purse"); } };
    const failed = await watch(agent({ ...definition, hooks: [broken] }).stream("go"));
    expect(failed.result.outcome).toMatchObject({ type: "failed", code: "hook-failed" });
    expect(resultsIn(failed.result.transcript)).toMatchObject([{ status: "cancelled" }]);
  });

  it("does not wait for ever for an author who says nothing", async () => {
    const host = { ...nodeHost, timer: (afterMs: number, fire: () => void) => nodeHost.timer(afterMs / 100, fire) };
    const hanging: Hook = { onBudgetExceeded: () => new Promise(() => undefined) };
    const definition = { name: "a", model: () => new Promise<string>(() => undefined), budget: { durationMs: 500 }, hooks: [hanging] };
    const began = Date.now();
    const result = await makeAgent(definition, { host, resolveModel }).run("go" as never);
    expect(result.outcome).toMatchObject({ type: "exhausted", field: "durationMs", limit: 500 });
    expect(Date.now() - began).toBeLessThan(2000);
  });

  it("is suspended with its calls settled, and goes on from there with more time [B3]", async () => {
    const definition = { name: "a", tools: [slow(5000)], budget: { durationMs: 30 }, hooks: [exceeded({ checkpoint: true }).hook] };
    const { result } = await watch(agent({ ...definition, model: scripted([calling("slow")]) }).stream("go"));
    expect(result).toMatchObject({ outcome: { type: "suspended", field: "durationMs" }, error: { code: "run-suspended" } });
    const checkpoint = roundTrip(result.checkpoint);
    if (checkpoint === undefined) throw new Error("a suspended run has a checkpoint");
    const model = scripted(["Done."]);
    const resumed = await agent({ ...definition, model }).with({ budget: { durationMs: 60_000 } }).resume(checkpoint);
    expect(resumed.text).toBe("Done.");
    expect(resultsIn(resumed.transcript)).toMatchObject([{ status: "cancelled" }]);
    expect(model.requests[0]?.messages.at(-1)).toMatchObject({ role: "tool", status: "cancelled" });
  });
});

describe("a run that is suspended", () => {
  const definition = { name: "a", instructions: "Look.", tools: [look()], budget: { turns: 2, tokens: 5000 } };
  const suspend = async (hooks: readonly Hook[] = []): Promise<ReturnType<typeof Object>> => {
    const a = agent({ ...definition, model: scripted(looks(3)), hooks: [...hooks, exceeded({ checkpoint: true }).hook] });
    const { result } = await watch(a.stream("go", { runId: "r" }));
    expect(result.outcome).toMatchObject({ type: "suspended", field: "turns", limit: 2 });
    expect(result.output).toBeUndefined();
    return result.checkpoint as never;
  };

  it("case 29: goes on from its checkpoint after a JSON round trip, in another agent value, with a larger budget, and counts on [B3, C23, O6]", async () => {
    const checkpoint = roundTrip(await suspend());
    const model = scripted(looks(1));
    const seen: string[] = [];
    const resumable = agent({ ...definition, model, tools: [tool({ name: "look", description: "", inputSchema: {}, execute: (_args, { idempotencyKey }) => void seen.push(idempotencyKey) })] });
    const again = await resumable.resume(checkpoint as never);
    expect(again.outcome).toMatchObject({ type: "exhausted", field: "turns" });
    expect(model.requests).toEqual([]);
    const larger = resumable.with({ budget: { turns: 6 } });
    const result = await larger.resume(checkpoint as never);
    expect(result).toMatchObject({ runId: "r", text: "Done.", turns: 4, usage: { inputTokens: 240, outputTokens: 160 } });
    expect(seen).toEqual(["r/turn/3/call/0"]);
    expect(model.requests[0]?.settings.maxOutputTokens).toBe(4800);
    expectValid(result.transcript);
    expect(resultsIn(result.transcript)).toHaveLength(3);
  });

  it("throws when the agent is called as a function, and says how to go on", async () => {
    const a = agent({ ...definition, model: scripted(looks(3)), hooks: [exceeded({ checkpoint: true }).hook] });
    await expect(a("go")).rejects.toMatchObject({ code: "run-suspended", hint: expect.stringContaining("agent.resume") });
  });

  it("in the middle of a batch has a result for every call, and the model may make the rest again", async () => {
    const steps = [calling("look", "look", "look"), "Done."];
    const a = agent({ ...definition, budget: { toolCalls: 2 }, model: scripted(steps), hooks: [exceeded({ checkpoint: true }).hook] });
    const { result } = await watch(a.stream("go"));
    expect(result.outcome).toMatchObject({ type: "suspended", field: "toolCalls" });
    expect(resultsIn(result.transcript).map(({ status }) => status)).toEqual(["ok", "ok", "skipped"]);
    const more = a.with({ budget: { toolCalls: 9 }, model: scripted([calling("look"), "Done."]) });
    expect(await more.resume(roundTrip(result.checkpoint) as never)).toMatchObject({ text: "Done.", turns: 3 });
  });

  it("keeps what narrowed it, and the author's last word about its output", async () => {
    const other = fakeTool("other", "o");
    const hooks: Hook[] = [exceeded({ checkpoint: true }).hook, { afterRun: ({ output }) => ({ output: `${String(output)}!` }) }];
    const a = agent({ name: "a", tools: [look(), other], budget: { turns: 1 }, model: scripted([calling("look")]), hooks });
    const suspended = await a.run("go", { tools: ["look"] });
    const more = a.with({ budget: { turns: 9 }, model: scripted([calling("look", "other"), "Done."]) });
    const result = await more.resume(roundTrip(suspended.checkpoint) as never);
    expect(resultsIn(result.transcript).slice(1)).toMatchObject([{ status: "ok" }, { status: "denied", text: "Tool 'other' is not allowed for skill 'a'. Allowed: [look]" }]);
    expect([result.output, other.calls]).toEqual(["Done.!", []]);
  });

  it("keeps a price that nobody knows as one that nobody knows", async () => {
    const priceless = { ...definition, budget: { turns: 1, costUsd: 5, price: () => undefined }, model: scripted(looks(1)), hooks: [exceeded({ checkpoint: true }).hook] };
    const { checkpoint } = await agent(priceless).run("go");
    const result = await agent({ ...priceless, hooks: [] }).with({ budget: { turns: 9 } }).resume(roundTrip(checkpoint) as never);
    expect(result.outcome).toMatchObject({ type: "exhausted", field: "costUsd", message: expect.stringContaining("price is unknown") });
  });

  it("is not resumed from what is none of its checkpoints", async () => {
    const checkpoint = roundTrip(await suspend()) as unknown as Record<string, unknown>;
    const a = agent({ ...definition, model: scripted(looks(3)) });
    const wrong: [unknown, string][] = [
      [undefined, "it is no object"],
      [{}, "its `runId` cannot be read"],
      [{ ...checkpoint, transcript: {} }, "its `transcript` cannot be read"],
      [{ ...checkpoint, ledger: { turns: "many" } }, "its `ledger` cannot be read"],
      [{ ...checkpoint, elapsedMs: -1 }, "its `elapsedMs` cannot be read"],
      [{ ...checkpoint, modes: [1] }, "its `modes` cannot be read"],
      [{ ...checkpoint, agent: "b" }, 'it is of the agent "b"'],
      [{ ...checkpoint, skill: "cook" }, 'the agent has no skill "cook" that asks a model'],
    ];
    for (const [given, reason] of wrong)
      await expect(a.resume(given as never)).rejects.toMatchObject({ code: "checkpoint-invalid", message: expect.stringContaining(reason) });
    const { messages } = checkpoint["transcript"] as { messages: object[] };
    const open = { ...checkpoint, transcript: { messages: messages.slice(0, 3) } };
    await expect(a.resume(open as never)).rejects.toMatchObject({ code: "checkpoint-invalid" });
    const orphan = { ...checkpoint, transcript: { messages: messages.slice(3) } };
    await expect(a.resume(orphan as never)).rejects.toMatchObject({ code: "transcript-invalid" });
  });
});

describe("guards", () => {
  it("case 33: steps, tokens, dollars and time stop the run; of several met at once the first by priority is named [C28, C29, C31]", async () => {
    const everything: Budget = { turns: 2, tokens: 200, costUsd: 0.04, price: () => 0.02 };
    const ended = async (budget: Budget): Promise<unknown> => {
      const model = scripted([looking, looking, "never"]);
      const { result } = await watch(agent({ name: "a", model, tools: [look()], budget }).stream("go"));
      return (result.outcome as { field?: string }).field;
    };
    const { turns: _turns, ...noTurns } = everything;
    const { tokens: _tokens, ...noTokens } = noTurns;
    expect([await ended(everything), await ended(noTurns), await ended(noTokens)]).toEqual(["turns", "tokens", "costUsd"]);
    const late = agent({ name: "a", model: scripted([looking]), tools: [slow(30)], budget: { durationMs: 20, turns: 1 } });
    expect((await watch(late.with({ model: scripted([calling("slow")]) }).stream("go"))).result.outcome).toMatchObject({ field: "durationMs", limit: 20 });
    const messages = async (budget: Budget): Promise<string> => {
      const { result } = await watch(agent({ name: "a", model: scripted([looking]), tools: [look()], budget }).stream("go"));
      return result.error?.message ?? "";
    };
    expect(await messages({ turns: 1 })).toBe("Agent 'a' exceeded budget of 1 turns");
    expect(await messages({ tokens: 100 })).toBe("Agent 'a' exceeded token budget of 100 (100 used)");
  });

  it("case 33: a finish reason ends the run, whatever the reply was, but not a whole answer; its calls do not run [C28, C29]", async () => {
    const tools = [look()];
    const ended = async (step: ScriptStep, stopOn: readonly ("stop" | "length" | "content-filter" | "tool-calls")[]): Promise<object> => {
      const { result } = await watch(agent({ name: "a", model: scripted([step, "Done."]), tools, stopOn }).stream("go"));
      return result.outcome;
    };
    const reason = 'Finish reason "length" matched stop condition';
    expect(await ended({ text: "half an ans", finishReason: "length" }, ["length"])).toEqual({ type: "cancelled", reason });
    expect(await ended({ ...looking, finishReason: "length" }, ["length"])).toEqual({ type: "cancelled", reason });
    expect(await ended({ text: "", finishReason: "content-filter" }, ["content-filter"])).toMatchObject({ type: "cancelled" });
    expect(await ended(looking, ["tool-calls"])).toMatchObject({ type: "cancelled" });
    expect(await ended("A whole answer.", ["stop", "length"])).toMatchObject({ type: "answered" });
    expect(await ended({ text: "half an ans", finishReason: "length" }, [])).toMatchObject({ type: "answered" });
    const read = tool({ name: "look", description: "", inputSchema: z.object({}), effect: "read", execute: () => { throw new Error("it ran"); } });
    const early = await watch(agent({ name: "a", model: scripted([looking]), tools: [read], stopOn: ["tool-calls"] }).stream("go"));
    expect(resultsIn(early.result.transcript)).toMatchObject([{ status: "skipped" }]);
    expect(tools[0]?.calls).toEqual([]);
  });

  it("case 33: a hook may say that the run goes on, after an answer and after a stop of the author's, never past a bound [C24, C29]", async () => {
    const goOn = (times: number): Hook => {
      let asked = 0;
      return { onStop: () => ((asked += 1) <= times ? { continue: "Look again." } : {}) };
    };
    const answers = await watch(agent({ name: "a", model: scripted(["One.", "Two.", "Three."]), hooks: [goOn(2)] }).stream("go"));
    expect([answers.result.text, answers.result.turns]).toEqual(["Three.", 3]);
    const stopping: Hook = { afterTurn: () => ({ stop: "enough" }) };
    const stopped = await watch(agent({ name: "a", model: scripted(looks(2)), tools: [look()], hooks: [stopping, goOn(1)] }).stream("go"));
    expect(stopped.result).toMatchObject({ outcome: { type: "cancelled", reason: "enough" }, turns: 2 });
    const filtered = await watch(agent({ name: "a", model: scripted([{ ...looking, finishReason: "length" }, "Done."]), tools: [look()], stopOn: ["length"], hooks: [goOn(1)] }).stream("go"));
    expect(filtered.result.text).toBe("Done.");
    const bounded = await watch(agent({ name: "a", model: scripted(["One."]), budget: { turns: 2 }, hooks: [goOn(99)] }).stream("go"));
    expect(bounded.result.outcome).toMatchObject({ type: "exhausted", field: "turns" });
  });

  it("case 33: a run is cancelled before its first step and in the middle of whatever is under way [C30]", async () => {
    const asked: unknown[] = [];
    const before = agent({ name: "a", model: (request) => (asked.push(request), "hi") });
    expect(await before.run("go", { signal: AbortSignal.abort(new Error("no")) })).toMatchObject({ outcome: { type: "cancelled", reason: "no" }, turns: 0 });
    expect(asked).toEqual([]);
    const never = (): Promise<never> => new Promise(() => undefined);
    const ask = { policy: () => ({ verdict: "ask", rule: "r", reason: "r" }) as const };
    for (const [definition, calls] of [
      [{ model: never }, 0],
      [{ model: scripted([calling("look")]), tools: [fakeTool("look", never)] }, 1],
      [{ model: scripted([calling("look")]), tools: [look()], ...ask }, 1],
    ] as const) {
      const signal = AbortSignal.timeout(25);
      const { result, events } = await watch(agent({ name: "a", ...definition }).stream("go", { signal, approve: never }));
      expect(result.outcome.type).toBe("cancelled");
      expect(resultsIn(result.transcript).map(({ status }) => status)).toEqual(calls === 0 ? [] : ["cancelled"]);
      expect(ofType(events, "turn-end")).toHaveLength(1);
    }
  });

  it("case 30: the budget error of a nested agent called inside execute ends the outer run, through whatever wraps it, and no recovery sees it [T12, E3]", async () => {
    let asked = 0;
    const recover = { executionFailed: () => ((asked += 1), fixed("swallowed")) };
    const inner = agent({ name: "inner", model: scripted([looking]), tools: [look()], budget: { turns: 1 } });
    const nested = tool({
      name: "nested",
      description: "",
      inputSchema: z.object({}),
      recover,
      execute: async () => {
        try {
          return await inner("go");
        } catch (error) {
          throw new Error("the research failed", { cause: error });
        }
      },
    });
    const model = scripted([calling("nested", "nested"), "never"]);
    const { result } = await watch(agent({ name: "outer", model, tools: [nested], recover: { default: recover } }).stream("go"));
    expect(result.outcome).toMatchObject({ type: "exhausted", field: "turns", limit: 1 });
    expect([asked, model.requests.length]).toEqual([0, 1]);
    expect(resultsIn(result.transcript)).toHaveLength(2);
  });
});

describe("circles", () => {
  const run = async (names: readonly string[], budget: Budget, result: (name: string, time: number) => unknown = (name) => name) => {
    const ran: string[] = [];
    const tools = ["a", "b", "c"].map((name) => fakeTool(name, () => (ran.push(name), result(name, ran.length))));
    const model = scripted([...names.map((name) => calling(...name)), "Done."]);
    const { result: end } = await watch(agent({ name: "x", model, tools, budget: { turns: 30, ...budget } }).stream("go"));
    const statuses = resultsIn(end.transcript).map(({ status, text }) => (text.includes("had the same results") ? "nudged" : status));
    return { end, ran: ran.join(""), statuses };
  };

  it("the same call with the same result: the model is told at that number, refused at the next, then the run ends", async () => {
    const { end, ran, statuses } = await run(["a", "a", "a", "a", "a", "a"], { repeats: 3 });
    expect([ran, statuses]).toEqual(["aaa", ["ok", "ok", "nudged", "denied", "skipped"]]);
    expect(end).toMatchObject({ outcome: { type: "exhausted", field: "repeats", limit: 3, used: 5 }, error: { code: "budget-exhausted" } });
    expect(resultsIn(end.transcript)[3]?.text).toContain("the same calls brought the same results 3 times");
  });

  it("two and three in turn are circles too, also when a reply makes several calls", async () => {
    const two = await run(["a", "b", "a", "b", "a", "b", "a", "b"], { repeats: 2 });
    expect([two.ran, two.statuses]).toEqual(["abab", ["ok", "ok", "ok", "nudged", "denied", "denied", "skipped"]]);
    expect(two.end.outcome).toMatchObject({ field: "repeats" });
    const three = await run(["ab", "b", "c", "ab", "b", "c", "ab", "b", "c", "ab"], { repeats: 2 });
    expect(three.ran).toBe("abbcabbc");
    expect(three.end.outcome).toMatchObject({ type: "exhausted", field: "repeats", used: 4 });
  });

  it("results that change, other arguments and a way out are none; a model that listens goes on", async () => {
    const polling = await run(["a", "a", "a", "a", "a", "a", "a"], { repeats: 2 }, (_name, time) => `state ${time}`);
    expect([polling.end.text, polling.ran]).toEqual(["Done.", "aaaaaaa"]);
    const leaving = await run(["a", "a", "a", "b", "a", "a", "c"], { repeats: 2 });
    expect([leaving.end.text, leaving.ran]).toEqual(["Done.", "aabaac"]);
    const model = scripted([...Array.from({ length: 6 }, (_, q) => calling(["a", { q }])), "Done."]);
    expect((await agent({ name: "x", model, tools: [fakeTool("a", "same")], budget: { repeats: 2 } }).run("go")).text).toBe("Done.");
  });

  it("are not looked for where the author does not say so; once is refused at the second call, without a word before", async () => {
    expect((await run(["a", "a", "a", "a", "a", "a", "a"], {})).ran).toBe("aaaaaaa");
    const once = await run(["a", "a", "a"], { repeats: 1 });
    expect(once.statuses).toEqual(["ok", "denied", "skipped"]);
  });

  it("do not run early what is refused, and are found again at a replay", async () => {
    let ran = 0;
    const read = tool({ name: "read", description: "", inputSchema: z.object({}), effect: "read", execute: () => ((ran += 1), "same") });
    const definition = { name: "x", tools: [read], budget: { repeats: 2 } };
    const journal = memoryJournal();
    const model = scripted([calling("read")]);
    const first = await watch(agent({ ...definition, model }).stream("go", { journal, runId: "r" }));
    expect([ran, model.requests.length]).toEqual([2, 4]);
    const again = await watch(agent({ ...definition, model: scripted([() => { throw new Error("asked again"); }]) }).stream("go", { journal: memoryJournal(journal.records), runId: "r" }));
    expect(factsOf(again.events)).toEqual(factsOf(first.events));
    expect(ran).toBe(2);
  });
});
