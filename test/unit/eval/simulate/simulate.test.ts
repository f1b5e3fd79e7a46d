import { describe, expect, it } from "vitest";
import { parallel } from "../../../../src/compose.ts";
import { type Driver, nativeDriver } from "../../../../src/drivers.ts";
import { agent, type WritError } from "../../../../src/index.ts";
import {
  type Deviation,
  fakeTool,
  recordedScript,
  type Schedule,
  scripted,
  simulate,
  type SimulationOptions,
} from "../../../../src/testing.ts";
import { allowing, clerk, look, note, once, order, refund } from "./scene.ts";

const quiet: SimulationOptions = {
  script: [{ calls: [{ name: "refund", arguments: { order: "A1" } }] }, "Done."],
};
const only = (...deviations: readonly Deviation[]): Schedule => ({ durable: true, deviations });

describe("simulate()", () => {
  it("plays the script of a quiet day, without the model and the tools of the agent", async () => {
    const schedule = { deviations: [] };
    const views: unknown[] = [];
    const { failure, counts } = await simulate(clerk, {
      ...quiet,
      schedule,
      invariants: {
        looks: ({ calls, effects, outcome, text, facts }) =>
          void views.push(calls, effects, outcome, text, facts.at(-1)?.type),
      },
    });
    expect(failure).toBeUndefined();
    expect(counts).toMatchObject({ runs: 1, requests: 2, calls: 1, effects: 1, questions: 1, deaths: 0 });
    const call = { callId: "c1_0", arguments: { order: "A1" } };
    expect(views).toEqual([
      [{ ...call, name: "refund", status: "ok" }],
      [{ ...call, tool: "refund", runId: "run-1", atMs: 1105 }],
      { type: "answered", content: "Done.", finishReason: "stop" },
      "Done.",
      "run-end",
    ]);
    expect([refund.calls, look.calls, note.calls]).toEqual([[], [], []]);
  });

  it("plays the same seeds in the same way, byte for byte", async () => {
    const [one, other] = [
      await simulate(clerk, { seed: 40, schedules: 120 }),
      await simulate(clerk, { seed: 40, schedules: 120 }),
    ];
    expect(one).toEqual(other);
    expect(one.failure).toBeUndefined();
    const third = await simulate(clerk, { seed: 41, schedules: 120 });
    expect(third.digest).not.toBe(one.digest);
  });

  it("finds what breaks an invariant of the author's, makes it short, and plays it again", async () => {
    const { failure } = await simulate(clerk, { ...once, schedules: 2000 });
    expect(failure?.invariant).toBe("an order is refunded at most once");
    expect(failure?.steps).toBeLessThanOrEqual(3);
    const { schedule, seed, trace, message } = failure ?? { schedule: only() };
    expect(message).toContain("an order is refunded at most once: refunded A");
    const again = await simulate(clerk, { ...once, schedule });
    expect(again.failure).toMatchObject({ invariant: failure?.invariant, message, trace, schedule });
    const asFound = await simulate(clerk, { ...once, seed: seed ?? 0, schedules: 1 });
    expect(asFound.failure).toEqual(failure);
  });

  it("lets a process die at a step, and another one go on: what may not happen twice does not", async () => {
    for (const does of ["dies-before", "dies-unkept", "dies-after", "stalls"] as const) {
      const effects: string[] = [];
      const { failure, counts } = await simulate(clerk, {
        ...quiet,
        schedule: only({ at: "step 5", does }),
        invariants: { looks: (view) => void effects.push(...view.effects.map(({ tool }) => tool)) },
      });
      expect(failure).toBeUndefined();
      expect(counts["deaths"]).toBe(does === "stalls" ? 0 : 1);
      expect(effects).toEqual(does === "dies-before" ? [] : ["refund"]);
    }
  });

  it("cuts the last call of a reply, which does not run, and goes on with the next reply", async () => {
    const calls = ["A1", "A2"].map((id) => ({ name: "look", arguments: { order: id } }));
    const ends: string[] = [];
    const { failure, counts } = await simulate(clerk, {
      schedule: { deviations: [{ at: "model 1", does: "is-cut", calls }] },
      invariants: { looks: (view) => void ends.push(...view.calls.map(({ status }) => status)) },
    });
    expect(failure).toBeUndefined();
    expect(ends).toEqual(["ok", "invalid"]);
    expect(counts["calls"]).toBe(1);
    expect(counts["requests"]).toBe(2);
  });

  it("says the last call of a reply twice under one id: each has an id and a result of its own", async () => {
    const calls = [{ name: "refund", arguments: { order: "A1" } }];
    const ids: string[] = [];
    const { failure, counts } = await simulate(clerk, {
      schedule: { deviations: [{ at: "model 1", does: "doubles", calls }] },
      invariants: { looks: (view) => void ids.push(...view.calls.map(({ callId }) => callId)) },
    });
    expect(failure).toBeUndefined();
    expect(counts["questions"]).toBe(2);
    expect(new Set(ids).size).toBe(2);
  });

  it("plays a recorded run, as it was and changed in places", async () => {
    const model = scripted([{ calls: [{ name: "look", arguments: { order: "A2" } }] }, "It was sent."]);
    const { transcript } = await clerk.with({ model }).run("Where is A2?");
    const script = recordedScript(transcript.messages);
    expect(script).toEqual([{ calls: [{ name: "look", arguments: { order: "A2" } }] }, "It was sent."]);
    const played: (readonly string[])[] = [];
    const { failure } = await simulate(clerk, {
      script,
      faults: ["proposes"],
      durable: false,
      schedules: 200,
      invariants: {
        looks: ({ calls }) =>
          void played.push(calls.map((one) => `${one.name} ${JSON.stringify(one.arguments)}`)),
      },
    });
    expect(failure).toBeUndefined();
    const look = 'look {"order":"A2"}';
    for (const found of [[look], [look, look]]) expect(played).toContainEqual(found);
    expect(played.some((one) => one.includes('look {"order":"A1"}'))).toBe(true);
  });

  it("has a person click twice, of which one click counts", async () => {
    const { failure } = await simulate(clerk, {
      ...quiet,
      schedule: only({ at: "person 1", does: "answers-twice" }),
    });
    expect(failure).toBeUndefined();
  });

  it("raises no alarm about the tools of an agent in whose place one with others is deployed", async () => {
    for (const schedule of [{ deviations: [] }, only()]) {
      const redeploy = clerk.with({ tools: [look] });
      const { failure, counts } = await simulate(clerk, { ...quiet, schedule, redeploy });
      expect(failure?.message).toBeUndefined();
      expect(counts["effects"]).toBe(1);
    }
  });

  it("hands a run over to a changed agent", async () => {
    const redeploy = clerk.with({ instructions: "Be brief." });
    const schedule = only({ at: "step 3", does: "dies-after" }, { at: "process 2", does: "redeploys" });
    const ends: unknown[] = [];
    const { failure } = await simulate(clerk, {
      ...quiet,
      redeploy,
      schedule,
      invariants: { looks: ({ outcome }) => void ends.push(outcome) },
    });
    expect(failure).toBeUndefined();
    expect(ends).toMatchObject([{ type: "failed", code: "journal-mismatch" }]);
  });

  it("plays a conversation in one session", async () => {
    const { failure, counts } = await simulate(clerk, { inputs: ["one", "two"], schedules: 150 });
    expect(failure).toBeUndefined();
    expect(counts["runs"]).toBe(300);
  });

  it("takes what an invariant throws for its sentence", async () => {
    const invariants = {
      holds: () => {
        throw new Error("no");
      },
    };
    const { failure } = await simulate(clerk, { invariants, schedules: 3 });
    expect(failure).toMatchObject({ invariant: "holds", steps: 0, schedule: { deviations: [] } });
    expect(failure?.message).toMatch(/^holds: no\n/);
  });

  it("counts as steps the calls that the model deviates by, and each other deviation", async () => {
    const calls = ["A1", "A2"].map((id) => ({ name: "look", arguments: { order: id } }));
    const { failure } = await simulate(clerk, {
      schedule: only({ at: "model 1", does: "proposes", calls }, { at: "step 5", does: "dies-after" }),
      invariants: { never: () => false },
    });
    expect(failure?.steps).toBe(3);
  });

  it("fails where a deviation of a given schedule does not happen: the test that it is would test nothing", async () => {
    const played = async (...list: readonly Deviation[]): Promise<string | undefined> =>
      (await simulate(clerk, { ...quiet, schedule: { deviations: list } })).failure?.message;
    const late = { at: "model 2", does: "is-late", ms: 50 } as const;
    expect(await played(late)).toBeUndefined();
    expect(await played(late, { at: "tool refnd 1", does: "fails" })).toMatch(
      /^the schedule is played: "tool refnd 1", which "fails", was not reached\..*\n0 run-1/,
    );
    expect(await played({ at: "person 1", does: "fails" })).toContain('"person 1"'); // no person fails
    expect(await played({ ...late, ms: 5 }, late)).toContain('"model 2"'); // two at one point
    const { failure } = await simulate(clerk, {
      ...once,
      schedule: only(late, { at: "model 9", does: "is-late", ms: 50 }),
    });
    expect(failure?.schedule.deviations.map(({ at }) => at)).toContain("model 9");
  });

  it("refuses what it cannot own, and options that there are not", async () => {
    const refused = async (given: Promise<unknown>): Promise<Partial<WritError>> => {
      const [{ reason }] = (await Promise.allSettled([given])) as [PromiseRejectedResult];
      return reason as WritError;
    };
    const executor = clerk.with({ executor: { execute: () => [] } });
    expect((await refused(simulate(executor))).message).toContain("`executor` reaches what no schedule owns");
    const others = Object.assign(() => undefined, { run: () => undefined }); // as of another copy of the package
    expect((await refused(simulate(others as never))).message).toContain("this copy of writ did not make it");
    expect((await refused(simulate(parallel({ one: clerk, other: clerk }) as never))).message).toContain(
      "Simulate the members of a composition",
    );
    expect((await refused(simulate(clerk, { tools: { refnd: "own" } }))).message).toContain('"refnd"');
    expect(
      (await refused(simulate(clerk, { schedule: only({ at: "x", does: "breaks" as never }) }))).code,
    ).toBe("definition-invalid");
    expect((await refused(simulate(clerk, { seeds: 3 } as never))).code).toBe("definition-invalid");
  });

  it("runs the own code of tools that compute, and of those that the author names", async () => {
    const add = fakeTool("add", "own", { effect: "none", inputSchema: order });
    const read = fakeTool("read", "own", { effect: "read", inputSchema: order });
    const adder = agent({ name: "adder", model: () => "", tools: [add, read], policy: allowing });
    const calls = ["add", "read"].map((name) => ({ name, arguments: { order: "A1" } }));
    const options = { script: [{ calls }], schedule: { deviations: [] } };
    await simulate(adder, options);
    expect([add.calls.length, read.calls.length]).toEqual([1, 0]);
    await simulate(adder, { ...options, tools: { read: "own" } });
    expect([add.calls.length, read.calls.length]).toEqual([2, 1]);
  });
});

describe("the view of a run among several", () => {
  const pay: Driver = {
    ...nativeDriver,
    decide: ({ transcript }) =>
      transcript.messages.some(({ role }) => role === "tool")
        ? { type: "final", content: "done" }
        : { type: "calls", calls: [{ name: "refund", arguments: { order: "A1" } }] },
  };

  it.each([false, true])("has the calls and yeses of that run alone, durable: %s", async (durable) => {
    const payer = clerk.with({ model: undefined, driver: pay });
    const views: unknown[] = [];
    const { failure } = await simulate(payer, {
      inputs: ["one", "two"],
      schedule: { durable, deviations: [{ at: "person 2", does: "refuses" }] },
      invariants: {
        looks: ({ runs }) =>
          void views.push(...runs.map(({ agreed, begun }) => [agreed.length, begun.length])),
      },
    });
    expect(failure?.message).toBeUndefined();
    expect(views).toEqual([
      [1, 1],
      [0, 0],
    ]);
  });
});
