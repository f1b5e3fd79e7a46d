import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { bestOf, majorityVote, weighted } from "../../../src/agent/compose/aggregate.ts";
import { branch } from "../../../src/agent/compose/branch.ts";
import { forum } from "../../../src/agent/compose/forum.ts";
import { parallel } from "../../../src/agent/compose/parallel.ts";
import { pipe } from "../../../src/agent/compose/pipe.ts";
import { race } from "../../../src/agent/compose/race.ts";
import { repeat } from "../../../src/agent/compose/repeat.ts";
import { wrap } from "../../../src/agent/compose/wrap.ts";
import {
  agent,
  type Agent,
  type AgentEvent,
  inMemorySessions,
  memoryJournal,
  type Policy,
  type Runnable,
  session,
  skill,
} from "../../../src/index.ts";
import { WritError } from "../../../src/error/writ-error.ts";
import type { SchemaSource } from "../../../src/tools.ts";
import { fakeTool, scripted, type ScriptStep } from "../../../src/testing.ts";
import type { JsonObject } from "../../../src/util/json.ts";
import { calling, factsOf, ofType, resultsIn, watch } from "../../acceptance/watching.ts";

type TextAgent = Agent<string | JsonObject, string>;

const says = (name: string, ...steps: readonly ScriptStep[]): TextAgent =>
  agent({ name, model: scripted(steps) });
const a = says("a", "A");
const b = says("b", "B");

/** An agent that uses so many tokens in its one reply. */
const spends = (name: string, tokens: number): TextAgent =>
  says(name, { text: name, usage: { inputTokens: tokens, outputTokens: 1 } });

describe("the definition of a composition", () => {
  it("says what is wrong with it", () => {
    const stranger = (() => Promise.resolve("x")) as unknown as Runnable<string, string>;
    const wrong: [string, () => unknown][] = [
      ["pipe(): a function is not an agent", () => pipe(a, stranger)],
      [
        "pipe(): the number of agents after the first must be",
        () => (pipe as unknown as (one: TextAgent) => unknown)(a),
      ],
      ["parallel(): it has no agents", () => parallel([] as never)],
      ["parallel(): undefined is not an agent", () => parallel([undefined] as never)],
      [
        "parallel(): `concurrency` must be a whole number of at least 1, or Infinity, got 0",
        () => parallel([a], { concurrency: 0 }),
      ],
      ["race(): it has no agents", () => race([] as never)],
      [
        "race(): `concurrency` must be a whole number of at least 1, or Infinity, got 1.5",
        () => race([a], { concurrency: 1.5 }),
      ],
      ['race(): it has the unknown field "max"', () => race([a], { max: 1 } as never)],
      [
        "repeat(): `max` must be a whole number of at least 1, and is 0",
        () => repeat(a, { until: () => true, max: 0 }),
      ],
      ["repeat(): `max` must be a whole number", () => repeat(a, { until: () => true, max: 1.5 })],
      ["forum(): `rounds` must be", () => forum({ participants: [a], captain: b, rounds: 0 })],
      ["branch(): it has no agents", () => branch({ on: (text: string): string => text, cases: {} })],
      ["branch(): `on` must be an agent or a function", () => branch({ on: "x", cases: { a } } as never)],
      ["branch(): `cases` must be an object", () => branch({ on: (): string => "x" } as never)],
      [
        'branch(): it has the unknown field "otherwize"; did you mean "otherwise"?',
        () => branch({ on: (): string => "x", cases: { a }, otherwize: b } as never),
      ],
      [
        'forum(): it has the unknown field "round"',
        () => forum({ participants: [a], captain: b, round: 2 } as never),
      ],
      ["parallel(): `aggregate` must be", () => parallel([a, b], { aggregate: "majority" } as never)],
      ['weighted(): the weight of "a" must be a number from 0 on, and is -1', () => weighted({ a: -1 })],
      ['weighted(): the weight of "a" must be', () => weighted({ a: Number.NaN })],
      [
        'with() of "pipe(a, b)", which is a composition of agents: it has the unknown field "model"',
        () => pipe(a, b).with({ model: () => "x" } as never),
      ],
      ['A composition has the name "a b", which cannot be called', () => pipe(a, b).with({ name: "a b" })],
      ['The budget of "pipe(a, b)" has tokens = -1', () => pipe(a, b).with({ budget: { tokens: -1 } })],
      ['The budget of "pipe(a, b)" has turns = ', () => pipe(a, b).with({ budget: { turns: 1 } as never })],
    ];
    for (const [message, define] of wrong) expect(define, message).toThrow(message);
    const plain = agent({
      name: "plain",
      skills: [skill({ name: "s", description: "", execute: () => "x" })],
    });
    expect(() => wrap(a, plain)).toThrow('the student "plain" asks no model');
  });

  it("knows what an agent can say from its schema, whatever library it comes from", () => {
    const on = (output: Parameters<typeof agent>[0]["output"]): Runnable<string, never> =>
      agent({ name: "on", model: () => "x", output }) as unknown as Runnable<string, never>;
    const schemas: SchemaSource[] = [
      z.union([z.literal("x"), z.literal("y")]),
      { enum: ["x", "y"] },
      { oneOf: [{ const: "x" }, { const: "y" }] },
      { anyOf: [{ enum: ["x"] }, { const: "y" }] },
    ];
    for (const schema of schemas)
      expect(() => branch({ on: on(schema), cases: { x: a } as never })).toThrow("can also say y");
    expect(() => branch({ on: on(z.boolean()), cases: { true: a } as never })).toThrow("can also say false");
    expect(() => branch({ on: on(z.enum(["x"]).nullable()), cases: { x: a } as never })).toThrow(
      "also say null",
    );
    for (const open of [z.string(), { type: "number" }, z.union([z.literal("x"), z.string()])])
      expect(() => branch({ on: on(open), cases: { x: a } as never })).not.toThrow();
    const nested = pipe(a, race([on(z.literal("x")), on(z.literal("y"))]));
    expect(() => branch({ on: nested, cases: { x: a } as never })).toThrow("can also say y");
  });

  it("gives it another name, description and budget, and leaves the first as it was", async () => {
    const first = pipe(a, b);
    const second = first.with({ name: "report", description: "Writes" }).with({ budget: { tokens: 9 } });
    expect([first.name, first.description]).toEqual(["pipe(a, b)", ""]);
    expect([a.name, a.with({ name: "c" }).name, String(a)]).toEqual(["a", "c", 'agent "a" (scripted)']);
    expect([second.name, second.description]).toEqual(["report", "Writes"]);
    const { events } = await watch(second.stream("x"));
    expect(events[0]).toMatchObject({ type: "run-start", agent: "report" });
  });
});

describe("a composition that goes wrong", () => {
  it("throws what the world did, after its end was told, and says nothing else of it", async () => {
    const down = says("down", new Error("no line"));
    const ends: [Runnable<string>, string[]][] = [
      [pipe(a, down), ["a answered", "down failed"]],
      [parallel([a, down]), ["a answered", "down failed"]],
      [race([down, down]), ["down failed", "down failed"]],
      [wrap(a, down), ["a answered", "down failed"]],
    ];
    for (const [composition, expected] of ends) {
      const told: AgentEvent[] = [];
      const read = async (): Promise<void> => {
        for await (const event of composition.stream("go", { runId: "r" })) told.push(event);
      };
      await expect(read(), composition.name).rejects.toMatchObject({ code: "provider-failed" });
      expect(told.at(-1)).toMatchObject({ type: "run-end", runId: "r", outcome: { type: "failed" } });
      const inner = ofType(told, "delegation-end").map(({ delegation }) => delegation);
      expect(inner.map(({ agent: name, outcome }) => `${name} ${outcome}`)).toEqual(expected);
    }
  });

  it("refuses an input that the first agent does not take", async () => {
    const typed = agent({ name: "typed", model: () => "x", input: z.object({ city: z.string() }) });
    await expect(pipe(typed, a)({} as never)).rejects.toMatchObject({
      code: "input-invalid",
      data: { name: "typed" },
    });
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    await expect(pipe(a, b).run(circle as never)).rejects.toMatchObject({ code: "input-invalid" });
  });

  it("names the author's function that fails, and is no failure of the world", async () => {
    const fails = (): never => {
      throw new Error("slip");
    };
    const broken: Record<string, Runnable<string>> = {
      until: repeat(a, { until: fails }),
      next: repeat(a, { until: () => false, next: fails }),
      on: branch({ on: (_text: string): "x" => fails(), cases: { x: a } }),
      aggregate: parallel([a, b], { aggregate: bestOf(fails) }),
    };
    for (const [place, composition] of Object.entries(broken)) {
      const { outcome, error } = await composition.run("go");
      expect(outcome).toMatchObject({ type: "failed", code: "function-failed" });
      expect(error).toMatchObject({ data: { function: place, reason: "slip" }, cause: { message: "slip" } });
    }
    const cyclic: Record<string, unknown> = {};
    cyclic["self"] = cyclic;
    const odd = await parallel([a], { aggregate: () => cyclic }).run("go");
    expect(odd.outcome).toMatchObject({ type: "failed", code: "function-failed" });
  });

  it("does not wait for an author's function when it is cancelled", async () => {
    const never = (): Promise<never> => new Promise(() => undefined);
    const controller = new AbortController();
    const running = repeat(a, { until: never }).run("go", { signal: controller.signal });
    await sleep(10);
    controller.abort(new Error("enough"));
    expect((await running).outcome).toEqual({ type: "cancelled", reason: "enough" });
  });

  it("starts nothing when it is cancelled before it begins", async () => {
    const model = scripted(["x"]);
    const one = agent({ name: "one", model });
    for (const composition of [
      pipe(one, one),
      parallel([one]),
      race([one, one]),
      repeat(one, { until: () => true }),
    ]) {
      const { outcome } = await composition.run("go", { signal: AbortSignal.abort(new Error("no")) });
      expect(outcome).toEqual({ type: "cancelled", reason: "no" });
    }
    expect(model.requests).toEqual([]);
  });

  it("ends as exhausted where a member would wait to be resumed", async () => {
    const waits = agent({
      name: "waits",
      model: scripted([calling("look")]),
      tools: [fakeTool("look", 1)],
      budget: { turns: 1 },
      hooks: [{ onBudgetExceeded: () => ({ checkpoint: true }) }],
    });
    const result = await pipe(waits, a).run("go");
    expect(result.outcome).toMatchObject({ type: "exhausted", field: "turns" });
    expect(result.error).toMatchObject({ code: "stage-failed", cause: { code: "run-suspended" } });
    expect(result.checkpoint).toBeUndefined();
  });

  it("refuses the options that belong to one agent", async () => {
    const kept = session(inMemorySessions(), "s");
    await expect(pipe(a, b).run("x", { session: kept })).rejects.toMatchObject({
      code: "run-option-unusable",
    });
    await expect(pipe(a, b)("x", { skill: "a" })).rejects.toMatchObject({ data: { option: "skill" } });
  });
});

describe("the bounds of a composition", () => {
  it("are shared by all runs in it, also beside each other, and are its own", async () => {
    const budget = { tokens: 100 };
    const sequence = pipe(spends("one", 60), spends("two", 60), spends("three", 60)).with({ budget });
    const { outcome, usage, turns } = await sequence.run("go");
    expect(outcome).toMatchObject({ type: "exhausted", field: "tokens", limit: 100, used: 122 });
    expect([usage.inputTokens, turns]).toEqual([120, 0]);
    const inTime = await pipe(
      a,
      says("slow", async () => (await sleep(2000), "late")),
    )
      .with({ budget: { durationMs: 30 } })
      .run("go");
    expect(inTime.outcome).toMatchObject({ type: "exhausted", field: "durationMs", limit: 30 });
    const look = fakeTool("look", 1);
    const looks = (name: string): TextAgent =>
      agent({ name, model: scripted([calling("look", "look"), "done"]), tools: [look] });
    const calls = await parallel([looks("x"), looks("y")], { concurrency: 1 })
      .with({ budget: { toolCalls: 3 } })
      .run("go");
    expect(calls.outcome).toMatchObject({ type: "exhausted", field: "toolCalls", limit: 3 });
    expect(look.calls).toHaveLength(3);
  });

  it("are those of the run around it too, and so are its policy and its depth", async () => {
    const team = pipe(spends("one", 60), spends("two", 60), spends("three", 60)).with({ name: "team" });
    const lead = agent({
      name: "lead",
      model: scripted([calling(["team", { input: "go" }]), "done"]),
      tools: [team.asTool()],
      budget: { tokens: 100 },
    });
    const { outcome, transcript } = await lead.run("go");
    expect(outcome).toMatchObject({ type: "exhausted", field: "tokens" });
    expect(resultsIn(transcript)).toMatchObject([
      { name: "team", status: "error", text: expect.stringContaining("tokens budget of 100") as string },
    ]);

    const erase = fakeTool("erase", "erased");
    const cleaner = agent({ name: "cleaner", model: scripted([calling("erase"), "tried"]), tools: [erase] });
    const careful: Policy = ({ tool: name }) =>
      name === "erase"
        ? { verdict: "deny", rule: "r", reason: "never" }
        : { verdict: "allow", rule: "r", reason: "" };
    const outer = agent({
      name: "outer",
      model: scripted([calling(["team", { input: "go" }]), "done"]),
      tools: [parallel([pipe(a, cleaner)]).asTool({ name: "team" })],
      policy: careful,
    });
    expect((await outer.run("go")).text).toBe("done");
    expect(erase.calls).toEqual([]);

    const deep = agent({
      name: "deep",
      model: scripted([calling(["team", { input: "go" }]), "done"]),
      tools: [pipe(a, race([parallel([b])])).asTool({ name: "team" })],
    });
    const tooDeep = await deep.run("go");
    expect(resultsIn(tooDeep.transcript)[0]).toMatchObject({
      status: "error",
      text: expect.stringContaining("4 levels deep") as string,
    });
    expect(
      (
        await deep
          .with({ budget: { depth: 4 }, model: scripted([calling(["team", { input: "go" }]), "done"]) })
          .run("go")
      ).transcript.messages,
    ).toContainEqual(expect.objectContaining({ role: "tool", status: "ok", text: '["B"]' }));
  });

  it("tell of a value that can be no case, whatever a function gives", async () => {
    for (const [value, shown] of [
      [undefined, "nothing"],
      [1n, '"1"'],
      [new Map(), "{}"],
    ] as const) {
      const { error } = await branch({ on: () => value as never, cases: { a } as never }).run("go");
      expect(error?.code).toBe("case-missing");
      expect(error?.message).toContain(`has no case for ${shown}.`);
    }
  });

  it("hand the pace of asking a model again on to the runs inside", async () => {
    let asked = 0;
    const busy = says("busy", () => {
      asked += 1;
      throw new WritError("provider-unreachable", { provider: "busy", url: "", reason: "", advice: "" });
    });
    await expect(pipe(busy, a).run("go", { retry: false })).rejects.toThrow();
    expect(asked).toBe(1);
  });

  it("let agents in a tool of another call no more than the tool allows", async () => {
    const look = fakeTool("look", 1);
    const erase = fakeTool("erase", 1);
    const both = agent({
      name: "both",
      model: scripted([calling("look", "erase"), "done"]),
      tools: [look, erase],
    });
    const team = pipe(a, both).asTool({ name: "team", deny: ["erase"] });
    await agent({
      name: "lead",
      model: scripted([calling(["team", { input: "go" }]), "x"]),
      tools: [team],
    }).run("go");
    expect([look.calls.length, erase.calls.length]).toEqual([1, 0]);
    expect(() => pipe(a, both).asTool({ name: "team", deny: ["earse"] })).toThrow('lists the tool "earse"');
  });

  it("hold for how many run at a time", async () => {
    let running = 0;
    let most = 0;
    const busy = (name: string): TextAgent =>
      says(name, async () => {
        running += 1;
        most = Math.max(most, running);
        await sleep(5);
        running -= 1;
        return name;
      });
    const names = ["a", "b", "c", "d"] as const;
    const many = Object.fromEntries(names.map((name) => [name, busy(name)]));
    expect(await parallel(many, { concurrency: 2 })("go")).toEqual({ a: "a", b: "b", c: "c", d: "d" });
    expect(most).toBe(2);
  });
});

describe("a composition as a tool", () => {
  it("takes what its agents take, when they take the same", async () => {
    const city = z.object({ city: z.string() });
    const typed = (name: string): Agent<{ city: string }, string> =>
      agent({ name, model: (request) => JSON.stringify(request.messages.at(-1)), input: city });
    const made = parallel([typed("x"), typed("y")])
      .with({ name: "both", description: "Asks both" })
      .asTool();
    expect(made).toMatchObject({
      name: "both",
      description: "Asks both",
      input: { jsonSchema: { required: ["city"] } },
    });
    const lead = agent({
      name: "lead",
      model: scripted([calling(["both", { city: "Lima" }]), "x"]),
      tools: [made],
    });
    expect(resultsIn((await lead.run("go")).transcript)[0]).toMatchObject({
      status: "ok",
      text: expect.stringContaining("Lima") as string,
    });
    expect(() => parallel([typed("x"), a]).asTool({ name: "t" })).toThrow("its agents take different things");
    expect(() => pipe(parallel([typed("x"), a]), b).asTool({ name: "t" })).toThrow(
      "its agents take different things",
    );
    expect(() => pipe(a, b).asTool()).toThrow('A tool has the name "pipe(a, b)"');
  });

  it("is recorded with what was spent in it, and a replay of the run around it asks nobody", async () => {
    const team = race([spends("one", 60), spends("two", 70)]).asTool({ name: "team" });
    const steps = [calling(["team", { input: "go" }]), "done"];
    const define = (model: Parameters<typeof agent>[0]["model"]): Agent<string | JsonObject, string> =>
      agent({ name: "lead", model, tools: [team] });
    const journal = memoryJournal();
    const first = await watch(define(scripted(steps)).stream("go", { journal, runId: "r" }));
    const nobody = scripted([], { whenDone: "throw" });
    const again = await watch(
      define(nobody).stream("go", { journal: memoryJournal(journal.records), runId: "r" }),
    );
    expect(factsOf(again.events)).toEqual(factsOf(first.events));
    expect(first.result.usage.inputTokens).toBeGreaterThanOrEqual(60);
    expect(again.result.usage).toEqual(first.result.usage);
    expect(
      ofType(first.events, "delegation-end").some(({ delegation }) => delegation.agent === "race(one, two)"),
    ).toBe(true);
  });
});

describe("a race", () => {
  it("counts what losers spent before a replay too: what comes after has no more left than it had", async () => {
    const tree = (isReplay: boolean): Runnable<string, string> => {
      const never = (): Promise<never> => Promise.reject(new Error("asked at a replay"));
      const loser = agent({
        name: "loser",
        model: scripted(
          isReplay
            ? [never]
            : [
                { ...calling("look"), usage: { inputTokens: 80, outputTokens: 1 } },
                async () => (await sleep(50), "late"),
              ],
        ),
        tools: [fakeTool("look", 1)],
      });
      const winner = says(
        "winner",
        isReplay
          ? never
          : async () => (await sleep(15), { text: "won", usage: { inputTokens: 30, outputTokens: 1 } }),
      );
      return pipe(race([loser, winner]), isReplay ? says("after", never) : spends("after", 10)).with({
        budget: { tokens: 100 },
      });
    };
    const journal = memoryJournal();
    const first = await watch(tree(false).stream("go", { journal, runId: "r" }));
    expect(first.result.outcome).toMatchObject({ type: "exhausted", field: "tokens", used: 112 });
    const again = await watch(
      tree(true).stream("go", { journal: memoryJournal(journal.records), runId: "r" }),
    );
    expect(again.result.outcome).toEqual(first.result.outcome);
    expect(factsOf(again.events)).toEqual(factsOf(first.events));
  });

  it("is not decided by being cancelled: the journal can go on from there", async () => {
    const late = (name: string): TextAgent => says(name, async () => (await sleep(20), name));
    const makers = [(first: TextAgent) => parallel([first, late("x")]), () => race([late("x"), late("y")])];
    const outputs: unknown[] = [];
    for (const make of makers) {
      const journal = memoryJournal();
      const controller = new AbortController();
      const running = make(a).run("go", { journal, runId: "r", signal: controller.signal });
      await sleep(5);
      controller.abort(new Error("enough"));
      expect((await running).outcome.type).toBe("cancelled");
      const died = memoryJournal(journal.records.filter(({ key }) => key !== "end")); // before the cancel was kept
      const again = await make(says("a", new Error("asked again"))).run("go", { journal: died, runId: "r" });
      outputs.push(again.output);
    }
    expect(outputs).toEqual([["A", "x"], "x"]);
  });

  it("notices records of another composition", async () => {
    const journal = memoryJournal();
    await race([a, b]).run("go", { journal, runId: "r" });
    const other = race([a, says("c", "C")]).run("go", {
      journal: memoryJournal(journal.records),
      runId: "r",
    });
    await expect(other).rejects.toMatchObject({ code: "journal-mismatch" });
  });
});

describe("instructions for one run", () => {
  it("reach every model in it, after the agent's own, and no other run", async () => {
    const model = scripted(["x"]);
    const told = agent({ name: "told", instructions: "Own.", model });
    const plain = agent({ name: "plain", model });
    await told.run("go", { instructions: "Be brief." });
    await pipe(told, plain).run("go", { instructions: "Be kind." });
    await wrap(says("teacher", "Hint."), pipe(told, plain)).run("go", { instructions: "Outer." });
    await told("go");
    const systems = model.requests.map(({ messages: [first] }) =>
      first?.role === "system" ? first.text : "",
    );
    expect(systems).toEqual([
      "Own.\n\nBe brief.",
      "Own.\n\nBe kind.",
      "Be kind.",
      "Own.\n\nOuter.\n\nHint.",
      "Outer.\n\nHint.",
      "Own.",
    ]);
  });
});

describe("an author's function", () => {
  it("can run agents inside the composition, whose bounds they share", async () => {
    const judge = spends("judge", 50);
    const judged = repeat(a, {
      until: async (_output, round) => (await judge("good?", round)) === "never",
      next: () => "again",
    });
    const { outcome, error, usage } = await judged.with({ budget: { tokens: 100 } }).run("go");
    expect(outcome).toMatchObject({ type: "exhausted", field: "tokens" });
    expect(error).toMatchObject({ code: "stage-failed" });
    expect(usage.inputTokens).toBeGreaterThan(100);
    const poor = repeat(a, {
      until: async (_output, round) =>
        (await agent({
          name: "poor",
          model: scripted([calling("look")]),
          tools: [fakeTool("look", 1)],
          budget: { turns: 1 },
        })("?", round)) === "x",
    });
    expect((await poor.run("go")).outcome).toMatchObject({ type: "exhausted", field: "turns" });
  });
});

describe("a vote", () => {
  it("takes answers for the same whose JSON is, in whatever order its fields are", async () => {
    const gives = (name: string, json: string): Agent<string | JsonObject, { x: number; y: number }> =>
      agent({ name, model: () => json, output: z.object({ x: z.number(), y: z.number() }) });
    const jury = parallel(
      [gives("p", '{"x":9,"y":9}'), gives("q", '{"x":1,"y":2}'), gives("r", '{"y":2,"x":1}')],
      { aggregate: majorityVote() },
    );
    expect(await jury("?")).toEqual({ x: 1, y: 2 });
  });
});
