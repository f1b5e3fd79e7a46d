import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { nodeHost } from "../../src/adapters/clock.ts";
import { resolveModel } from "../../src/adapters/model/resolve.ts";
import { makeAgent } from "../../src/agent/agent.ts";
import {
  agent,
  type Checkpoint,
  type Hook,
  inMemorySessions,
  memoryJournal,
  type RunResult,
  session,
  skill,
  tool,
} from "../../src/index.ts";
import { fakeTool, scripted, type ScriptStep } from "../../src/testing.ts";
import { calling, expectValid, resultsIn, roundTrip, type TextAgent } from "./watching.ts";

const usage = { inputTokens: 10, outputTokens: 5 };
const steps: ScriptStep[] = [
  { ...calling(["look", { q: 1 }]), usage },
  { ...calling(["look", { q: 2 }], ["look", { q: 3 }]), usage },
  { text: "Done.", usage },
];
const define = (
  script = steps,
): { model: ReturnType<typeof scripted>; a: TextAgent; look: ReturnType<typeof fakeTool> } => {
  const model = scripted(script);
  const look = fakeTool("look", "seen");
  return { model, look, a: agent({ name: "a", instructions: "Look.", model, tools: [look] }) };
};

async function walk(
  turns: AsyncGenerator<Checkpoint, RunResult<unknown>>,
): Promise<{ states: Checkpoint[]; result: RunResult<unknown> }> {
  const states: Checkpoint[] = [];
  let next = await turns.next();
  while (next.done !== true) {
    states.push(next.value);
    next = await turns.next();
  }
  expectValid(next.value.transcript);
  return { states, result: next.value };
}

describe("a run turn by turn", () => {
  it("case 34: gives one state a turn and then what `run` gives; the last state says how it ended [C22]", async () => {
    const { a } = define();
    const { states, result } = await walk(a.turns("go"));
    expect(states.map(({ status, ledger }) => [ledger.turns, status])).toEqual([
      [1, "running"],
      [2, "running"],
      [3, "answered"],
    ]);
    expect(states.map(({ transcript }) => transcript.messages.length)).toEqual([4, 7, 8]);
    expect(states.map((state) => state.usage.inputTokens)).toEqual([10, 20, 30]);
    const { runId: _first, ...plain } = await define().a.run("go");
    const { runId: _second, ...walked } = result;
    expect(roundTrip(walked)).toEqual(roundTrip(plain));
  });

  it("case 34: its statuses tell answered, exhausted, refused, cancelled, failed and suspended apart [C22, C24]", async () => {
    const hook = (place: keyof Hook, gives: object): { hooks: Hook[] } => ({
      hooks: [{ [place]: () => gives }],
    });
    for (const [changes, status] of [
      [{}, "answered"],
      [{ budget: { turns: 2 } }, "exhausted"],
      [{ budget: { turns: 1 }, ...hook("onBudgetExceeded", { checkpoint: true }) }, "suspended"],
      [hook("afterTurn", { stop: "enough" }), "cancelled"],
      [
        { hooks: [{ beforeTurn: ({ turn }: { turn: number }) => (turn === 2 ? { deny: "closed" } : {}) }] },
        "refused",
      ],
      [hook("afterTurn", { bogus: 1 }), "failed"],
    ] as const) {
      const { states, result } = await walk(define().a.with(changes).turns("go"));
      expect([states.at(-1)?.status, result.outcome.type]).toEqual([status, status]);
      expect(states.slice(0, -1).every((state) => state.status === "running")).toBe(true);
    }
  });

  it("case 34: every state survives JSON, and resuming from any of them ends as the run did, doing nothing twice [C23, O6]", async () => {
    const { states, result } = await walk(define().a.turns("go", { runId: "r" }));
    for (const [index, state] of states.entries()) {
      const kept = roundTrip(state);
      expect(kept).toEqual(state);
      const { a, model, look } = define(
        steps.slice(index + 1).length === 0 ? [new Error("asked again")] : steps.slice(index + 1),
      );
      const resumed = await a.resume(kept, {});
      expect(roundTrip(resumed.transcript)).toEqual(roundTrip(result.transcript));
      expect(resumed).toMatchObject({
        runId: "r",
        output: "Done.",
        text: "Done.",
        turns: 3,
        usage: result.usage,
        outcome: result.outcome,
      });
      expect([model.requests.length, look.calls.length]).toEqual([2 - index, [2, 0, 0][index]]);
    }
  });

  it("case 34: a state goes on with the journal of its run: what that recorded after it is neither asked nor done again [O6]", async () => {
    const journal = memoryJournal();
    const { states, result } = await walk(define().a.turns("go", { runId: "r", journal }));
    const ended = journal.records.filter(({ key }) => key !== "end");
    for (const state of states.slice(0, -1)) {
      const { a, model, look } = define([new Error("asked again")]);
      const resumed = await a.resume(roundTrip(state), { journal: memoryJournal(ended) });
      expect(roundTrip(resumed.transcript)).toEqual(roundTrip(result.transcript));
      expect(resumed).toMatchObject({ output: "Done.", turns: 3, usage: result.usage });
      expect([model.requests, look.calls]).toEqual([[], []]);
    }
    const [first] = states;
    const killed = ended.filter(({ key }) => !key.startsWith("turn/3/"));
    const { a, model, look } = define([{ text: "Done.", usage }]);
    const journalOfKilled = memoryJournal(killed);
    await a.resume(roundTrip(first as Checkpoint), { journal: journalOfKilled });
    expect([model.requests.length, look.calls]).toEqual([1, []]);
    const replayed = define([new Error("asked again")]);
    const again = await replayed.a.run("go", { runId: "r", journal: journalOfKilled });
    expect(roundTrip(again.transcript)).toEqual(roundTrip(result.transcript));
  });

  it("a state in the midst of a circle goes on with the journal as the run did, and is told so where that was", async () => {
    const script = [...Array.from({ length: 3 }, () => calling(["look", { q: 1 }])), "Done."];
    const journal = memoryJournal();
    const { states, result } = await walk(define(script).a.turns("go", { runId: "r", journal }));
    expect(JSON.stringify(result.transcript)).toContain("the same results 3 times");
    const ended = journal.records.filter(({ key }) => key !== "end");
    for (const state of states.slice(0, -1)) {
      const { a } = define([new Error("asked again")]);
      const resumed = await a.resume(roundTrip(state), { journal: memoryJournal(ended) });
      expect(roundTrip(resumed.transcript)).toEqual(roundTrip(result.transcript));
    }
  });

  it("a state of a run that ended in another way can be gone on from, and an answer that does not fit any more is asked for again", async () => {
    const { states } = await walk(
      define()
        .a.with({ budget: { turns: 2 } })
        .turns("go"),
    );
    const exhausted = roundTrip(states.at(-1)) as Checkpoint;
    expect(await define([steps[2] as ScriptStep]).a.resume(exhausted)).toMatchObject({
      text: "Done.",
      turns: 3,
    });
    const answered = (await walk(define().a.turns("go"))).states.at(-1) as Checkpoint;
    const typed = agent({
      name: "a",
      model: scripted(['{"n":4}']),
      tools: [],
      output: z.object({ n: z.number() }),
    });
    const result = await typed.resume(roundTrip(answered), { accept: ["tools"] });
    expect(result.output).toEqual({ n: 4 });
    expectValid(result.transcript);
    const again = await walk(typed.turns("go"));
    expect((await typed.resume(roundTrip(again.states.at(-1) as Checkpoint))).output).toEqual({ n: 4 });
  });

  it("case 34: waits between its turns until the next is asked for [C22]", async () => {
    const { a, model, look } = define();
    const turns = a.turns("go");
    await sleep(15);
    expect(model.requests).toHaveLength(0);
    for (const asked of [1, 2]) {
      await turns.next();
      await sleep(15);
      expect([model.requests.length, look.calls.length]).toEqual([asked, asked === 1 ? 1 : 3]);
    }
    await turns.next();
    expect(await turns.next()).toMatchObject({ done: true, value: { text: "Done." } });
  });

  it("case 34: leaving early cancels it, whether it waits or works [C30]", async () => {
    const { a, model } = define();
    for await (const state of a.turns("go")) {
      expect(state.status).toBe("running");
      break;
    }
    await sleep(15);
    expect(model.requests).toHaveLength(1);

    const { promise: begun, resolve: begin } = Promise.withResolvers<AbortSignal>();
    const hang = tool({
      name: "look",
      description: "",
      inputSchema: {},
      execute: (_args, { signal }) => (begin(signal), new Promise(() => undefined)),
    });
    const stopping = new AbortController();
    const turns = a.with({ tools: [hang], model: scripted(steps) }).turns("go", { signal: stopping.signal });
    const first = turns.next();
    const signal = await begun;
    stopping.abort(new Error("enough"));
    expect((await first).value).toMatchObject({ status: "cancelled" });
    expect(signal.aborted).toBe(true);
    expect(await turns.next()).toMatchObject({
      done: true,
      value: { outcome: { type: "cancelled", reason: "enough" } },
    });
  });

  it("leaves nothing behind when it is left: the run ends, and its clock with it", async () => {
    let timers = 0;
    const timer = (afterMs: number, fire: () => void): (() => void) => {
      timers += 1;
      const stop = nodeHost.timer(afterMs, fire);
      return () => ((timers -= 1), stop());
    };
    const a = makeAgent(
      { name: "a", model: scripted(steps), tools: [fakeTool("look", 1)] },
      { host: { ...nodeHost, timer }, resolveModel },
    );
    const turns = a.turns("go");
    await turns.next();
    expect(timers).toBe(1);
    await turns.return(undefined as never);
    await sleep(5);
    expect(timers).toBe(0);
  });

  it("has ended and stands in its session when it was left, as its last state said where that was read", async () => {
    const hook: Hook = { afterRun: () => sleep(5).then(() => undefined) };
    const a = define().a.with({ hooks: [hook] });
    const store = inMemorySessions();
    for (const [id, last] of [
      ["early", "running"],
      ["late", "answered"],
    ] as const) {
      for await (const { status } of a.turns("go", { session: session(store, id) }))
        if (status === last) break;
      const { runs } = await store.read(id);
      expect(runs).toMatchObject([{ outcome: { type: last === "running" ? "cancelled" : "answered" } }]);
    }
  });

  it("is cancelled from outside while it waits, and between two turns, without hanging", async () => {
    const stopping = new AbortController();
    const turns = define().a.turns("go", { signal: stopping.signal });
    await turns.next();
    stopping.abort(new Error("enough"));
    expect((await turns.next()).value).toMatchObject({ status: "cancelled" });
    expect(await turns.next()).toMatchObject({
      done: true,
      value: { outcome: { type: "cancelled", reason: "enough" } },
    });

    const between = new AbortController();
    const hook: Hook = { afterTurn: () => between.abort(new Error("between")) };
    const { states, result } = await walk(
      define()
        .a.with({ hooks: [hook] })
        .turns("go", { signal: between.signal }),
    );
    expect(result.outcome).toEqual({ type: "cancelled", reason: "between" });
    expect(states.at(-1)?.status).toBe("cancelled");
    expect(resultsIn(result.transcript)).toHaveLength(1);
  });

  it("throws what breaks a run, and has no turns where no model is asked", async () => {
    const broken = define([steps[0] as ScriptStep, new Error("down")]).a.turns("go");
    expect((await broken.next()).value).toMatchObject({ status: "running" });
    await expect(walk(broken)).rejects.toMatchObject({ code: "provider-failed" });
    const plain = agent({
      name: "p",
      skills: [skill({ name: "s", description: "", execute: () => "plain" })],
    });
    expect(await walk(plain.turns("go"))).toMatchObject({ states: [], result: { output: "plain" } });
    const typed = agent({ name: "t", model: () => "hi", input: z.object({ n: z.number() }) });
    await expect(typed.turns({ n: "x" } as never).next()).rejects.toMatchObject({ code: "input-invalid" });
  });
});
