import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { agent, isRunError, isWritError, WritError } from "../../src/index.ts";
import { recordedJournal } from "../../src/doors.ts";
import { fakeTool, scripted } from "../../src/testing.ts";

const thrownBy = (run: Promise<unknown>): Promise<unknown> => run.catch((error: unknown) => error);
const paying = () =>
  agent({
    name: "clerk",
    model: scripted([
      { calls: [{ name: "pay" }], usage: { inputTokens: 10, outputTokens: 5 } },
      new Error("503"),
    ]),
    tools: [fakeTool("pay", "paid")],
  });

describe("the error of a run that threw", () => {
  it("has the transcript and the usage of the run, whichever door threw it", async () => {
    const streamed = async (): Promise<void> => {
      for await (const _event of paying().stream("Pay")); // read to its end
    };
    for (const error of await Promise.all([
      thrownBy(paying().run("Pay")),
      thrownBy(paying()("Pay")),
      thrownBy(streamed()),
    ])) {
      if (!isRunError(error)) throw new Error("no error of a run");
      expect(error.code).toBe("provider-failed");
      expect(error.transcript.messages.map(({ role }) => role)).toEqual([
        "system",
        "user",
        "assistant",
        "tool",
      ]);
      expect(error.usage).toEqual({ inputTokens: 10, outputTokens: 5 });
      expect(error.turns).toBe(2);
    }
  });

  it("has them for an end that is no answer, too", async () => {
    const model = scripted([{ calls: [{ name: "pay" }] }]);
    const error = await thrownBy(
      agent({ name: "clerk", model, tools: [fakeTool("pay", "paid")], budget: { turns: 1 } })("Pay"),
    );
    expect(isRunError(error) && error.transcript.messages.length).toBe(4);
  });

  it("has the results that were told where its journal fails behind a call, and says of no call that it ran which had not begun", async () => {
    const journal = recordedJournal([], ({ key }) => {
      if (key === "turn/1/call/1") throw new Error("the disk is full");
    });
    const inner = agent({
      name: "inner",
      model: scripted([{ text: "read", usage: { inputTokens: 100, outputTokens: 50 } }]),
    });
    const tools = [
      inner.asTool({ name: "ask", description: "" }),
      fakeTool("look", "seen", { effect: "read" }),
      fakeTool("pay", "paid", { effect: "write" }),
    ];
    const calls = [{ name: "ask", arguments: { input: "x" } }, { name: "look" }, { name: "pay" }];
    const model = scripted([{ calls, usage: { inputTokens: 10, outputTokens: 5 } }]);
    const error = await thrownBy(agent({ name: "clerk", model, tools }).run("Pay", { journal }));
    if (!isRunError(error)) throw new Error("no error of a run");
    const results = error.transcript.messages.filter((message) => message.role === "tool");
    expect(results.map(({ name, status }) => `${name} ${status}`)).toEqual([
      "ask ok",
      "look ok",
      "pay skipped",
    ]);
    expect(error.usage).toEqual({ inputTokens: 110, outputTokens: 55 });
  });

  it("prints nothing of them, and of retrying only what says something", async () => {
    const printed = inspect(await thrownBy(paying().run("Pay")));
    for (const field of ["transcript", "usage", "retryable", "retryAfterMs"])
      expect(printed).not.toContain(`${field}:`);
    const busy = new WritError(
      "provider-failed",
      { provider: "p", model: "m", reason: "busy" },
      { retryAfterMs: 5 },
    );
    expect(inspect(busy)).toMatch(/retryable: true,\s+retryAfterMs: 5/);
    expect(isRunError(busy)).toBe(false);
    expect(isWritError(busy)).toBe(true);
  });
});
