import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, type Budget, type Hook, memoryJournal, tool } from "../../src/index.ts";
import type { Delta } from "../../src/models.ts";
import { fixed } from "../../src/tools.ts";
import { fakeTool, scripted, type ScriptStep } from "../../src/testing.ts";
import { calling, factsOf, ofType, resultsIn, watch } from "./watching.ts";

const usage = { inputTokens: 60, outputTokens: 40 };
const look = (): ReturnType<typeof fakeTool> => fakeTool("look", "seen");
const looking = { ...calling("look"), usage };
const looks = (count: number): ScriptStep[] => [
  ...Array.from({ length: count }, () => looking),
  { text: "Done.", usage },
];

const slow = (ms: number): ReturnType<typeof tool> =>
  tool({ name: "slow", description: "", inputSchema: z.object({}), execute: () => sleep(ms, "slept") });

/** Lets everything happen that waits for nobody outside. */
async function turnsOfTheLoop(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
}

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
    expect([await ended(everything), await ended(noTurns), await ended(noTokens)]).toEqual([
      "turns",
      "tokens",
      "costUsd",
    ]);
    const late = agent({
      name: "a",
      model: scripted([looking]),
      tools: [slow(30)],
      budget: { durationMs: 20, turns: 1 },
    });
    expect(
      (await watch(late.with({ model: scripted([calling("slow")]) }).stream("go"))).result.outcome,
    ).toMatchObject({ field: "durationMs", limit: 20 });
    const messages = async (budget: Budget): Promise<string> => {
      const { result } = await watch(
        agent({ name: "a", model: scripted([looking]), tools: [look()], budget }).stream("go"),
      );
      return result.error?.message ?? "";
    };
    expect(await messages({ turns: 1 })).toBe("Agent 'a' exceeded budget of 1 turns");
    expect(await messages({ tokens: 100 })).toBe("Agent 'a' exceeded token budget of 100 (100 used)");
  });

  it("case 33: a finish reason ends the run, whatever the reply was, but not a whole answer; its calls do not run [C28, C29]", async () => {
    const tools = [look()];
    const ended = async (
      step: ScriptStep,
      endOn: readonly ("stop" | "length" | "content-filter" | "tool-calls")[],
    ): Promise<object> => {
      const { result } = await watch(
        agent({ name: "a", model: scripted([step, "Done."]), tools, endOn }).stream("go"),
      );
      return result.outcome;
    };
    const reason = 'Finish reason "length" matched stop condition';
    expect(await ended({ text: "half an ans", finishReason: "length" }, ["length"])).toEqual({
      type: "cancelled",
      reason,
    });
    expect(await ended({ ...looking, finishReason: "length" }, ["length"])).toEqual({
      type: "cancelled",
      reason,
    });
    expect(await ended({ text: "", finishReason: "content-filter" }, ["content-filter"])).toMatchObject({
      type: "cancelled",
    });
    expect(await ended(looking, ["tool-calls"])).toMatchObject({ type: "cancelled" });
    expect(await ended("A whole answer.", ["stop", "length"])).toMatchObject({ type: "answered" });
    expect(await ended({ text: "half an ans", finishReason: "length" }, [])).toMatchObject({
      type: "answered",
    });
    const read = tool({
      name: "look",
      description: "",
      inputSchema: z.object({}),
      effect: "read",
      execute: () => {
        throw new Error("it ran");
      },
    });
    const early = await watch(
      agent({ name: "a", model: scripted([looking]), tools: [read], endOn: ["tool-calls"] }).stream("go"),
    );
    expect(resultsIn(early.result.transcript)).toMatchObject([{ status: "skipped" }]);
    expect(tools[0]?.calls).toEqual([]);
  });

  it("case 33: a hook may say that the run goes on, after an answer and after a stop of the author's, never past a bound [C24, C29]", async () => {
    const goOn = (times: number): Hook => {
      let asked = 0;
      return { onStop: () => ((asked += 1) <= times ? { continue: "Look again." } : {}) };
    };
    const answers = await watch(
      agent({ name: "a", model: scripted(["One.", "Two.", "Three."]), hooks: [goOn(2)] }).stream("go"),
    );
    expect([answers.result.text, answers.result.turns]).toEqual(["Three.", 3]);
    const stopping: Hook = { afterTurn: () => ({ stop: "enough" }) };
    const stopped = await watch(
      agent({ name: "a", model: scripted(looks(2)), tools: [look()], hooks: [stopping, goOn(1)] }).stream(
        "go",
      ),
    );
    expect(stopped.result).toMatchObject({ outcome: { type: "cancelled", reason: "enough" }, turns: 2 });
    const filtered = await watch(
      agent({
        name: "a",
        model: scripted([{ ...looking, finishReason: "length" }, "Done."]),
        tools: [look()],
        endOn: ["length"],
        hooks: [goOn(1)],
      }).stream("go"),
    );
    expect(filtered.result.text).toBe("Done.");
    const bounded = await watch(
      agent({ name: "a", model: scripted(["One."]), budget: { turns: 2 }, hooks: [goOn(99)] }).stream("go"),
    );
    expect(bounded.result.outcome).toMatchObject({ type: "exhausted", field: "turns" });
  });

  it("case 33: a run is cancelled before its first step and in the middle of whatever is under way [C30]", async () => {
    const asked: unknown[] = [];
    const before = agent({ name: "a", model: (request) => (asked.push(request), "hi") });
    expect(await before.run("go", { signal: AbortSignal.abort(new Error("no")) })).toMatchObject({
      outcome: { type: "cancelled", reason: "no" },
      turns: 0,
    });
    expect(asked).toEqual([]);
    const never = (): Promise<never> => new Promise(() => undefined);
    const ask = { policy: () => ({ verdict: "ask", rule: "r", reason: "r" }) as const };
    for (const [definition, calls] of [
      [{ model: never }, 0],
      [{ model: scripted([calling("look")]), tools: [fakeTool("look", never)] }, 1],
      [{ model: scripted([calling("look")]), tools: [look()], ...ask }, 1],
    ] as const) {
      const signal = AbortSignal.timeout(25);
      const { result, events } = await watch(
        agent({ name: "a", ...definition }).stream("go", { signal, approve: never }),
      );
      expect(result.outcome.type).toBe("cancelled");
      expect(resultsIn(result.transcript).map(({ status }) => status)).toEqual(
        calls === 0 ? [] : ["cancelled"],
      );
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
    const { result } = await watch(
      agent({ name: "outer", model, tools: [nested], recover: { default: recover } }).stream("go"),
    );
    expect(result.outcome).toMatchObject({ type: "exhausted", field: "turns", limit: 1 });
    expect([asked, model.requests.length]).toEqual([0, 1]);
    expect(resultsIn(result.transcript)).toHaveLength(2);
  });
});

describe("circles", () => {
  const run = async (
    names: readonly string[],
    budget: Budget,
    result: (name: string, time: number) => unknown = (name) => name,
  ) => {
    const ran: string[] = [];
    const tools = ["a", "b", "c"].map((name) =>
      fakeTool(name, () => (ran.push(name), result(name, ran.length))),
    );
    const model = scripted([...names.map((name) => calling(...name.split(""))), "Done."]);
    const { result: end } = await watch(
      agent({ name: "x", model, tools, budget: { turns: 30, ...budget } }).stream("go"),
    );
    const statuses = resultsIn(end.transcript).map(({ status, text }) =>
      text.includes("had the same results") ? "nudged" : status,
    );
    return { end, ran: ran.join(""), statuses };
  };

  it("the same call with the same result: the model is told at that number, refused at the next, then the run ends", async () => {
    const { end, ran, statuses } = await run(["a", "a", "a", "a", "a", "a"], { repeats: 3 });
    expect([ran, statuses]).toEqual(["aaa", ["ok", "ok", "nudged", "denied", "skipped"]]);
    expect(end).toMatchObject({
      outcome: { type: "exhausted", field: "repeats", limit: 3, used: 5 },
      error: { code: "budget-exhausted" },
    });
    expect(resultsIn(end.transcript)[3]?.text).toContain("the same calls brought the same results 3 times");
  });

  it("two and three in turn are circles too, also when a reply makes several calls", async () => {
    const two = await run(["a", "b", "a", "b", "a", "b", "a", "b"], { repeats: 2 });
    expect([two.ran, two.statuses]).toEqual([
      "abab",
      ["ok", "ok", "ok", "nudged", "denied", "denied", "skipped"],
    ]);
    expect(two.end.outcome).toMatchObject({ field: "repeats" });
    const three = await run(["ab", "b", "c", "ab", "b", "c", "ab", "b", "c", "ab"], { repeats: 2 });
    expect(three.ran).toBe("abbcabbc");
    expect(three.end.outcome).toMatchObject({ type: "exhausted", field: "repeats", used: 4 });
  });

  it("results that change, other arguments and a way out are none; a model that listens goes on", async () => {
    const polling = await run(
      ["a", "a", "a", "a", "a", "a", "a"],
      { repeats: 2 },
      (_name, time) => `state ${time}`,
    );
    expect([polling.end.text, polling.ran]).toEqual(["Done.", "aaaaaaa"]);
    const leaving = await run(["a", "a", "a", "b", "a", "a", "c"], { repeats: 2 });
    expect([leaving.end.text, leaving.ran]).toEqual(["Done.", "aabaac"]);
    const model = scripted([...Array.from({ length: 6 }, (_, q) => calling(["a", { q }])), "Done."]);
    expect(
      (await agent({ name: "x", model, tools: [fakeTool("a", "same")], budget: { repeats: 2 } }).run("go"))
        .text,
    ).toBe("Done.");
  });

  it("end a run by default at three, and never with Infinity; once is refused at the second call, without a word before", async () => {
    const same = ["a", "a", "a", "a", "a", "a", "a"];
    const runaway = await run(same, {});
    expect([runaway.ran, runaway.statuses]).toEqual(["aaa", ["ok", "ok", "nudged", "denied", "skipped"]]);
    expect(runaway.end.outcome).toMatchObject({ type: "exhausted", field: "repeats", limit: 3 });
    expect((await run(same, {}, (_name, time) => `state ${time}`)).ran).toBe("aaaaaaa");
    expect((await run(same, { repeats: Infinity })).ran).toBe("aaaaaaa");
    const once = await run(["a", "a", "a"], { repeats: 1 });
    expect(once.statuses).toEqual(["ok", "denied", "skipped"]);
  });

  it("let a call that only looks begin while the model still writes, by default, unless they could refuse it", async () => {
    const began: boolean[] = [];
    let start: (() => void) | undefined;
    const read = tool({
      name: "read",
      description: "",
      inputSchema: { type: "object" },
      effect: "read",
      execute: () => {
        start?.();
        return "same";
      },
    });
    async function* reading(): AsyncGenerator<Delta> {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      start = () => resolve(true);
      yield { type: "call-start", id: `c${began.length}`, name: "read" };
      yield { type: "call-end", id: `c${began.length}`, arguments: {} };
      void turnsOfTheLoop(200).then(() => resolve(false)); // a call that begins early needs fewer
      began.push(await promise);
      yield { type: "end", finishReason: "tool-calls" };
    }
    await agent({ name: "x", model: reading, tools: [read] }).run("go");
    expect(began).toEqual([true, true, true, false, false]);
  });

  it("do not run early what is refused, and are found again at a replay", async () => {
    let ran = 0;
    const read = tool({
      name: "read",
      description: "",
      inputSchema: z.object({}),
      effect: "read",
      execute: () => ((ran += 1), "same"),
    });
    const definition = { name: "x", tools: [read], budget: { repeats: 2 } };
    const journal = memoryJournal();
    const model = scripted([calling("read")]);
    const first = await watch(agent({ ...definition, model }).stream("go", { journal, runId: "r" }));
    expect([ran, model.requests.length]).toEqual([2, 4]);
    const again = await watch(
      agent({
        ...definition,
        model: scripted([
          () => {
            throw new Error("asked again");
          },
        ]),
      }).stream("go", { journal: memoryJournal(journal.records), runId: "r" }),
    );
    expect(factsOf(again.events)).toEqual(factsOf(first.events));
    expect(ran).toBe(2);
  });
});
