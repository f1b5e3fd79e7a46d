import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, tool } from "../../src/index.ts";
import type { Executor, ExecutorResult } from "../../src/doors.ts";
import { scripted } from "../../src/testing.ts";
import { call, double, ran, resultsOf } from "./executor-scene.ts";

describe("an executor that breaks its contract", () => {
  describe.each<[string, string, Executor["execute"]]>([
    [
      "no result",
      'the call "two" of "write" has no result',
      ([one]) => [{ callId: one?.id ?? "", value: 1 }],
    ],
    [
      "two results",
      'the call "two" of "write" has two results',
      (calls) => [...calls, ...calls.slice(1)].map(({ id }) => ({ callId: id, value: 1 })),
    ],
    [
      "a result of a call that nobody made",
      'it was given no call "three"',
      (calls) => [
        ...calls.map(({ id }) => ({ callId: id, value: 1 })),
        { callId: "three", value: 1 } satisfies ExecutorResult,
      ],
    ],
    ["what is no list", "it gave no list of results", () => "done" as unknown as readonly ExecutorResult[]],
    [
      "what is no result",
      'the call "two" of "write" has neither a `value` nor an `error` nor `skipped`',
      ([one, two]) => [{ callId: one?.id ?? "", value: 1 }, { callId: two?.id ?? "" } as ExecutorResult],
    ],
    [
      "a run that was none",
      'the call "two" of "write" has a `result`, which `run` alone gives',
      ([one, two]) => [
        { callId: one?.id ?? "", value: 1 },
        { callId: two?.id ?? "", result: { status: "ok", text: "1" } },
      ],
    ],
  ])("that gives %s", (_what, reason, broken) => {
    it("fails the run and names the call; what may have happened is not called done or undone [C3.2]", async () => {
      const write = tool({
        name: "write",
        description: "",
        inputSchema: z.object({}),
        effect: "write",
        execute: () => 1,
      });
      const { outcome, results } = await ran(
        { execute: broken },
        {
          tools: [write],
          calls: [
            { id: "one", ...call("write") },
            { id: "two", ...call("write") },
          ],
        },
      );
      expect(outcome).toMatchObject({ type: "failed", code: "executor-result-invalid" });
      expect((outcome as { message: string }).message).toContain(reason);
      expect(results).toHaveLength(2);
      if (!reason.includes("three")) expect((results[1] as string[])[0]).toBe("unknown");
    });
  });

  it("fails the run when it gives something else for a call that was run; the call keeps its own result [C3.2]", async () => {
    const lying: Executor = {
      async execute(calls, { run }) {
        await Promise.all(calls.map((each) => run(each)));
        return calls.map(({ id }) => ({ callId: id, value: 99 }));
      },
    };
    const { outcome, results } = await ran(lying, { tools: [double], calls: [call("double", { n: 1 })] });
    const reason = 'of "double" was run, and what `run` gave must be its result as it is.';
    expect(outcome).toMatchObject({
      type: "failed",
      code: "executor-result-invalid",
      message: expect.stringContaining(reason) as string,
    });
    expect(results).toEqual([["ok", "2"]]);
  });

  it("that throws fails the run, with its error as the cause; calls that it had run keep their results [C3.2]", async () => {
    const thrown = new Error("no connection");
    const failing: Executor = {
      async execute([first], { run }) {
        if (first !== undefined) await run(first);
        throw thrown;
      },
    };
    const shaky = agent({
      name: "a",
      model: scripted([{ calls: [call("double", { n: 1 }), call("double", { n: 2 })] }]),
      tools: [double],
      executor: failing,
    });
    const ended = await shaky.run("go");
    expect(ended.outcome).toMatchObject({ type: "failed", code: "executor-failed" });
    expect(resultsOf(ended)).toEqual([
      ["ok", "2"],
      ["error", expect.stringContaining("no result")],
    ]);
    await expect(
      shaky.with({ model: scripted([{ calls: [call("double", { n: 1 })] }]) })("go"),
    ).rejects.toMatchObject({ code: "executor-failed", cause: thrown });
  });
});
