import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, memoryJournal, type Message, type Policy, tool } from "../../src/index.ts";
import { fix, fixed } from "../../src/tools.ts";
import { fakeTool, scripted, type ScriptedModel, type ScriptStep } from "../../src/testing.ts";
import type { CallScope } from "../../src/tool/call-scope.ts";
import {
  type Called,
  calling,
  expectValid,
  factsOf,
  ofType,
  resultsIn,
  roundTrip,
  watch,
  type TextAgent,
} from "./watching.ts";

const usage = { inputTokens: 60, outputTokens: 40 };
const said = (text: string): ScriptStep => ({ text, usage });
const called = (...names: readonly Called[]): ScriptStep => ({ ...calling(...names), usage });

/** A tool that runs whatever it is given inside the run that calls it. */
const inside = (name: string, run: (parent: CallScope) => unknown): ReturnType<typeof tool> =>
  tool({ name, description: "", inputSchema: z.object({}), execute: (_args, context) => run(context.run) });

const never = (): never => {
  throw new Error("asked again");
};

describe("an agent as a tool", () => {
  const tools = ["read", "write", "erase"].map((name) => fakeTool(name, name));
  const worker = (model: ScriptedModel): TextAgent =>
    agent({ name: "worker", description: "Works", model, tools });

  it("case 38: may call what `allow` names without what `deny` names, and its prompt lists no more; unknown names are found at once [C39, T12]", async () => {
    const everything = calling("read", "write", "erase");
    for (const [options, statuses] of [
      [{}, ["ok", "ok", "ok"]],
      [{ allow: ["read", "write"] }, ["ok", "ok", "denied"]],
      [{ deny: ["erase"] }, ["ok", "ok", "denied"]],
      [{ allow: ["read", "erase"], deny: ["erase"] }, ["ok", "denied", "denied"]],
      [{ allow: [] }, ["denied", "denied", "denied"]],
    ] as const) {
      const model = scripted([everything, "Worked."]);
      const outer = agent({
        name: "outer",
        model: scripted([calling(["worker", { input: "work" }]), "Done."]),
        tools: [worker(model).asTool(options)],
      });
      expect(await outer("go")).toBe("Done.");
      const results = model.requests[1]?.messages.filter(({ role }) => role === "tool");
      expect(results).toMatchObject(statuses.map((status) => ({ status })));
      const allowed = statuses.flatMap((status, index) => (status === "ok" ? [tools[index]?.name] : []));
      expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(allowed);
    }
    const misspelt = () => worker(scripted([])).asTool({ deny: ["delete"] });
    expect(misspelt).toThrow(
      expect.objectContaining({ code: "tool-unknown", message: expect.stringContaining('"delete"') }),
    );
  });

  it("case 38: has a conversation of its own; the parent's has the call and the answer alone [C39]", async () => {
    const inner = scripted([calling("read"), "The secret is 7."]);
    const model = scripted([calling(["worker", { input: "find it" }]), "Done."]);
    const outer = agent({ name: "outer", instructions: "Delegate.", model, tools: [worker(inner).asTool()] });
    const { result } = await watch(outer.stream("go"));
    expect(result.transcript.messages.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "assistant",
    ]);
    expect(resultsIn(result.transcript)).toEqual([
      { name: "worker", status: "ok", text: "The secret is 7." },
    ]);
    expect(inner.requests[0]?.messages).toMatchObject([
      { role: "system", text: expect.not.stringContaining("Delegate") },
      { role: "user", parts: [{ text: "find it" }] },
    ]);
    expect(model.requests[0]?.tools).toMatchObject([
      { name: "worker", description: "Works", inputSchema: { required: ["input"] } },
    ]);
  });

  it("takes what its input schema takes, gives what its output schema gives, and answers to another name", async () => {
    const typed = agent({
      name: "adder",
      description: "Adds",
      model: () => '{"sum":3}',
      input: z.object({ a: z.number(), b: z.number() }),
      output: z.object({ sum: z.number() }),
    });
    const model = scripted([calling(["plus", { a: 1, b: 2 }], ["plus", { a: "one" }]), "Done."]);
    const result = await agent({
      name: "outer",
      model,
      tools: [typed.asTool({ name: "plus", description: "Sum", effect: "none" })],
    }).run("go");
    expect(resultsIn(result.transcript)).toMatchObject([
      { status: "ok", text: '{"sum":3}' },
      { status: "invalid" },
    ]);
    expect(() => typed.asTool({ name: "1 + 1" })).toThrow(expect.objectContaining({ code: "name-invalid" }));
  });

  it("that does not answer is a failed call, whatever became of it, and its budget is no question for a recovery [T12, B3]", async () => {
    const seen: unknown[] = [];
    const recover = {
      executionFailed: (error: unknown) => (seen.push((error as Error).message), fixed("mended")),
    };
    const ends: [Parameters<typeof agent>[0], string, string][] = [
      [
        { name: "w", model: scripted([calling("x")]), tools: [fakeTool("x", 1)], budget: { turns: 1 } },
        "error",
        "ran out of its budget",
      ],
      [{ name: "w", model: () => "hi", hooks: [{ beforeTurn: () => ({ deny: "closed" }) }] }, "ok", "mended"],
      [{ name: "w", model: () => Promise.reject(new Error("down")) }, "ok", "mended"],
      [
        {
          name: "w",
          model: scripted([calling("x")]),
          tools: [fakeTool("x", 1)],
          budget: { turns: 1 },
          hooks: [{ onBudgetExceeded: () => ({ checkpoint: true }) }],
        },
        "ok",
        "mended",
      ],
    ];
    for (const [definition, status, text] of ends) {
      const outer = agent({
        name: "outer",
        model: scripted([calling(["w", { input: "x" }]), "Told."]),
        tools: [agent(definition).asTool()],
        recover: { default: recover },
      });
      const { result } = await watch(outer.stream("go"));
      expect(resultsIn(result.transcript)).toMatchObject([{ status, text: expect.stringContaining(text) }]);
      expect(result.text).toBe("Told.");
    }
    expect(seen).toHaveLength(3);
    expect(seen[0]).toContain("closed");
  });
});

const lastResult = (messages: readonly Message[]): string => {
  const last = messages.at(-1);
  return last?.role === "tool" ? last.text : "no result";
};

describe("depth", () => {
  /** Each level calls the next one, as deep as the runtime allows. */
  const nesting = (depth?: number): { levels: () => number[]; outer: TextAgent; asked: unknown[] } => {
    const levels: number[] = [];
    const asked: unknown[] = [];
    const dig = tool({
      name: "dig",
      description: "",
      inputSchema: z.object({}),
      recover: { executionFailed: (error) => (asked.push(error), fixed("swallowed")) },
      execute: (_args, { run }) => {
        levels.push(run.depth);
        return digger()
          .run("dig", { parent: run })
          .then(({ text }) => text);
      },
    });
    const digger = (): TextAgent =>
      agent({
        name: "digger",
        model: scripted([calling("dig"), ({ messages }) => lastResult(messages)]),
        tools: [dig],
        markResults: false,
        ...(depth === undefined ? {} : { budget: { depth } }),
      });
    return { levels: () => levels, outer: digger(), asked };
  };

  it("case 38: three levels of agents inside an agent are allowed; the fourth is a failed call that no recovery swallows [C39, B-depth, T12]", async () => {
    const { outer, levels, asked } = nesting();
    const { result, events } = await watch(outer.stream("dig"));
    expect(levels()).toEqual([0, 1, 2, 3]);
    expect(result.text).toContain('The agent "digger" would run 4 levels deep');
    expect(asked).toEqual([]);
    expect(ofType(events, "delegation-start").map(({ delegation }) => delegation.depth)).toEqual([1, 2, 3]);
    expect(ofType(events, "delegation-end").map(({ delegation }) => delegation.depth)).toEqual([3, 2, 1]);
  });

  it("is bounded by the outermost agent, and an inner one can only be stricter [B-depth]", async () => {
    const one = nesting(1);
    expect((await one.outer.run("dig")).outcome.type).toBe("answered");
    expect(one.levels()).toEqual([0, 1]);
    const deep: number[] = [];
    const inner = (level: number): TextAgent =>
      agent({
        name: "inner",
        model: scripted([calling("down"), "up"]),
        budget: { depth: 50 },
        tools: [inside("down", (run) => (deep.push(run.depth), inner(level + 1)("x", { parent: run })))],
      });
    await agent({
      name: "outer",
      model: scripted([calling("down"), "up"]),
      budget: { depth: 2 },
      tools: [inside("down", (run) => inner(1)("x", { parent: run }))],
    }).run("go");
    expect(deep).toEqual([1, 2]);
  });

  it("needs the context of a call", async () => {
    const a = agent({ name: "a", model: () => "hi" });
    await expect(a.run("x", { parent: { runId: "r" } as never })).rejects.toMatchObject({
      code: "definition-invalid",
      message: expect.stringContaining("`parent`"),
    });
  });
});

describe("what is told of runs inside runs", () => {
  it("case 38: a beginning and an end with depth, and the child's own events between, under its own run id [C39]", async () => {
    const child = agent({
      name: "child",
      model: scripted([called("look"), said("Seen.")]),
      tools: [fakeTool("look", "x")],
    });
    const outer = agent({
      name: "outer",
      model: scripted([called(["child", { input: "see" }]), said("Done.")]),
      tools: [child.asTool()],
    });
    const { events, result } = await watch(outer.stream("go", { runId: "r" }));
    const own = events.find(({ runId }) => runId !== "r")?.runId ?? "";
    expect(own).toMatch(/^r\/turn\/1\/call\/0\/child~\w+\/1$/);
    const start = events.findIndex(({ type }) => type === "delegation-start");
    const end = events.findIndex(({ type }) => type === "delegation-end");
    expect(events[start]).toMatchObject({
      type: "delegation-start",
      runId: "r",
      turn: 1,
      callId: expect.any(String),
      delegation: { agent: "child", runId: own, depth: 1 },
    });
    expect(ofType(events, "delegation-end")).toMatchObject([
      {
        runId: "r",
        turn: 1,
        delegation: {
          agent: "child",
          runId: own,
          depth: 1,
          outcome: "answered",
          usage: { inputTokens: 120, outputTokens: 80 },
        },
      },
    ]);
    const inner = events.filter(({ runId }) => runId === own);
    expect(inner.every(({ parentRunId }) => parentRunId === "r")).toBe(true);
    expect([inner[0]?.type, inner.at(-1)?.type]).toEqual(["run-start", "run-end"]);
    expect(events.slice(start, end).filter(({ runId }) => runId === own)).toEqual(inner);
    const seqs = inner
      .filter((event) => !["message-start", "text-delta"].includes(event.type))
      .map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(result.usage).toEqual({ inputTokens: 240, outputTokens: 160 });
  });

  it("is told too when the child fails, when its call times out, and when it mends arguments", async () => {
    const hang = agent({ name: "hang", model: () => new Promise<string>(() => undefined) });
    const fails = agent({ name: "fails", model: () => Promise.reject(new Error("down")) });
    const mender = agent({ name: "mender", model: scripted([said('{"n":1}')]) });
    const add = tool({
      name: "add",
      description: "",
      inputSchema: z.object({ n: z.number() }),
      recover: { invalidArguments: () => fix(mender) },
      execute: ({ n }) => n,
    });
    const model = scripted([
      calling(["hang", { input: "x" }], ["fails", { input: "x" }], ["add", {}]),
      "Done.",
    ]);
    const outer = agent({
      name: "outer",
      model,
      tools: [hang.asTool({ timeoutMs: 30 }), fails.asTool(), add],
    });
    const { events, result } = await watch(outer.stream("go"));
    expect(resultsIn(result.transcript).map(({ status }) => status)).toEqual(["timeout", "error", "ok"]);
    const ended = ofType(events, "delegation-end").map(({ delegation }) => [
      delegation.agent,
      delegation.outcome,
    ]);
    expect(ended).toEqual([
      ["hang", "cancelled"],
      ["fails", "failed"],
      ["mender", "answered"],
    ]);
    expect(ofType(events, "delegation-start")).toHaveLength(3);
    expect(result.usage).toMatchObject({ inputTokens: expect.any(Number) });
    expect(result.usage.outputTokens).toBeGreaterThanOrEqual(40);
  });
});

describe("what a child may not do", () => {
  const denying: Policy = (call) => ({
    verdict: call.tool === "erase" ? "deny" : "allow",
    rule: "outer",
    reason: "nothing is erased",
  });
  const asking: Policy = () => ({ verdict: "ask", rule: "outer", reason: "a person decides" });
  const eraser = (
    policy?: Policy,
    model = scripted([calling("erase", "look"), "Done."]),
  ): [TextAgent, ReturnType<typeof fakeTool>] => {
    const erase = fakeTool("erase", "gone");
    return [
      agent({
        name: "eraser",
        model,
        tools: [erase, fakeTool("look", "x")],
        ...(policy === undefined ? {} : { policy }),
      }),
      erase,
    ];
  };

  it("case 38: its policy can only be stricter than its parent's, at any depth [C39]", async () => {
    const allowing: Policy = () => ({ verdict: "allow", rule: "inner", reason: "why not" });
    for (const policy of [undefined, allowing]) {
      const [child, erase] = eraser(policy);
      const middle = agent({
        name: "middle",
        model: scripted([calling(["eraser", { input: "x" }]), "ok"]),
        tools: [child.asTool()],
        policy: allowing,
      });
      const outer = agent({
        name: "outer",
        model: scripted([calling(["middle", { input: "x" }]), "ok"]),
        tools: [middle.asTool()],
        policy: denying,
      });
      const { events } = await watch(outer.stream("go"));
      expect(erase.calls).toEqual([]);
      const decided = ofType(events, "call-decided").filter(
        ({ name }) => name === "erase" || name === "look",
      );
      expect(decided).toMatchObject([
        { decision: { verdict: "deny", rule: "outer" } },
        { decision: { verdict: "allow" } },
      ]);
    }
    const [strict, erase] = eraser(denying);
    await agent({
      name: "outer",
      model: scripted([calling(["eraser", { input: "x" }]), "ok"]),
      tools: [strict.asTool()],
      policy: allowing,
    }).run("go");
    expect(erase.calls).toEqual([]);
  });

  it("case 38: people are asked where the parent asks them, about the child's call as the child makes it", async () => {
    const asked: unknown[] = [];
    const [child, erase] = eraser();
    const outer = agent({
      name: "outer",
      model: scripted([calling(["eraser", { input: "x" }]), "ok"]),
      tools: [child.asTool()],
      policy: asking,
    });
    await outer.run("go", { approve: (call) => (asked.push([call.agent, call.tool]), call.tool !== "look") });
    expect(asked).toEqual([
      ["outer", "eraser"],
      ["eraser", "erase"],
      ["eraser", "look"],
    ]);
    expect(erase.calls).toHaveLength(1);
    const [other, untouched] = eraser();
    const nobody = await watch(
      agent({
        name: "outer",
        model: scripted([calling("run"), "ok"]),
        tools: [inside("run", (run) => other("x", { parent: run }))],
        policy: (call) => (call.tool === "run" ? { verdict: "allow", rule: "r", reason: "r" } : asking(call)),
      }).stream("go"),
    );
    expect(untouched.calls).toEqual([]);
    expect(nobody.result.text).toBe("ok");
  });

  it("case 38: it ends with its parent, however that ends, and says why [C30]", async () => {
    const ends: unknown[] = [];
    const hang = agent({ name: "hang", model: () => new Promise<string>(() => undefined) });
    const mine = inside(
      "mine",
      async (run) =>
        void ends.push((await hang.run("x", { parent: run, signal: new AbortController().signal })).outcome),
    );
    const outer = agent({
      name: "outer",
      model: scripted([calling("mine", ["hang", { input: "x" }])]),
      tools: [mine, hang.asTool()],
    });
    const { result, events } = await watch(outer.stream("go", { signal: AbortSignal.timeout(30) }));
    expect(result.outcome).toMatchObject({ type: "cancelled" });
    const late = await watch(outer.with({ budget: { durationMs: 30 } }).stream("go"));
    expect(late.result.outcome).toMatchObject({ type: "exhausted", field: "durationMs" });
    await sleep(5);
    expect(ends).toEqual([
      { type: "cancelled", reason: expect.stringContaining("timeout") },
      { type: "cancelled", reason: "the time of the run around it was over" },
    ]);
    const inner = ofType(events, "run-end").filter(({ parentRunId }) => parentRunId !== undefined);
    expect(inner.map(({ outcome }) => outcome)).toEqual(ends.slice(0, 1).flatMap((end) => [end, end]));
    expect(ofType(events, "delegation-end")).toHaveLength(2);
  });

  it("nor may what is left of it go on after its call", async () => {
    let child: Promise<unknown> | undefined;
    const hang = agent({ name: "hang", model: () => new Promise<string>(() => undefined) });
    const forget = inside("forget", (run) => {
      child = hang.run("x", { parent: run });
      return "begun";
    });
    let kept: CallScope | undefined;
    const keep = inside("keep", (run) => void (kept = run));
    const outer = agent({
      name: "outer",
      model: scripted([calling("forget", "keep"), "Done."]),
      tools: [forget, keep],
    });
    expect((await outer.run("go")).text).toBe("Done.");
    expect(await child).toMatchObject({
      outcome: { type: "cancelled", reason: "the call that it was part of has ended" },
    });
    const late = agent({ name: "late", model: never });
    expect(await late.run("x", { parent: kept as CallScope })).toMatchObject({
      outcome: { type: "cancelled" },
      turns: 0,
    });
  });
});

describe("a replay of a run with runs inside", () => {
  const tools = (steps: readonly ScriptStep[]): ReturnType<typeof tool>[] => {
    const model = scripted(steps);
    const child = (name: string): TextAgent => agent({ name, model, tools: [fakeTool("look", "x")] });
    const both = inside("both", async (run) => {
      const [left, right] = await Promise.all([
        child("left").run("left", { parent: run }),
        child("right").run("right", { parent: run }),
      ]);
      const third = await child("third").run("third", { parent: run });
      return [left.text, right.text, third.text];
    });
    return [both, child("single").asTool()];
  };

  it("case 38: runs no child again and tells the same facts; several runs in one call do not share their records [C39]", async () => {
    const steps = [said("one"), said("two"), said("three"), called("look"), said("four")];
    const definition = { name: "outer" };
    const script = [called("both"), called(["single", { input: "x" }]), said("Done.")];
    const journal = memoryJournal();
    const first = await watch(
      agent({ ...definition, model: scripted(script), tools: tools(steps) }).stream("go", {
        journal,
        runId: "r",
      }),
    );
    expect(resultsIn(first.result.transcript)).toMatchObject([
      { text: '["one","two","three"]' },
      { text: "four" },
    ]);
    expect(first.result.usage.inputTokens).toBe(60 * 8);
    const again = await watch(
      agent({ ...definition, model: scripted([never]), tools: tools([never]) }).stream("go", {
        journal: memoryJournal(roundTrip(journal.records)),
        runId: "r",
      }),
    );
    expect(factsOf(again.events)).toEqual(factsOf(first.events));
    expect(ofType(again.events, "run-start")).toHaveLength(1);
    expect(again.result.usage).toEqual(first.result.usage);
  });

  it("goes on in the middle of a child: what it did is not done again", async () => {
    const journal = memoryJournal();
    const steps = [called("look"), said("four")];
    const script = [called(["single", { input: "x" }]), said("Done.")];
    const run = { runId: "r" };
    const first = await agent({ name: "outer", model: scripted(script), tools: tools(steps) }).run("go", {
      ...run,
      journal,
    });
    const inside = /^turn\/1\/call\/0\/single~\w+\/1\//;
    const inChild = journal.records.filter(({ key }) => inside.test(key));
    expect(inChild.map(({ key }) => key.replace(inside, ""))).toEqual([
      "start",
      "turn/1/model",
      "turn/1/call/0",
      "turn/2/model",
    ]);
    const died = journal.records.slice(
      0,
      journal.records.findIndex(({ key }) => key.endsWith("/1/turn/2/model")),
    );
    const rest = [said("four")];
    const again = await agent({ name: "outer", model: scripted(script.slice(1)), tools: tools(rest) }).run(
      "go",
      { ...run, journal: memoryJournal(died) },
    );
    expect(roundTrip(again.transcript)).toEqual(roundTrip(first.transcript));
    expect(again.usage).toEqual(first.usage);
    expectValid(again.transcript);
  });
});
