import { describe, expect, expectTypeOf, it } from "vitest";
import { agent, memoryJournal } from "../../../src/index.ts";
import { type FakeTool, fakeTool, scripted } from "../../../src/testing.ts";

describe("a fake tool", () => {
  it("is what its author says that it is", () => {
    const pay = fakeTool("pay", "paid", {
      description: "Pay",
      effect: "irreversible",
      retry: "keyed",
      timeoutMs: 5,
      inputSchema: { type: "object", properties: { to: { type: "string" } } },
      parameters: { to: "target" },
      trusted: true,
    });
    expect(pay).toMatchObject({
      name: "pay",
      description: "Pay",
      effect: "irreversible",
      retry: "keyed",
      timeoutMs: 5,
      parameters: { to: "target" },
      trusted: true,
    });
    expectTypeOf(pay).toEqualTypeOf<FakeTool>();
  });

  it("declares nothing by itself", () => {
    expect(fakeTool("look", 1)).toMatchObject({ effect: "undeclared", description: "fake look" });
  });

  it.each([
    ["irreversible", "denied"],
    ["none", "ok"],
  ] as const)("of the effect %s is %s after a stranger's words", async (effect, status) => {
    const tools = [fakeTool("look", "seen", { effect: "read" }), fakeTool("pay", "paid", { effect })];
    const model = scripted([{ calls: [{ name: "look" }] }, { calls: [{ name: "pay" }] }, "Done."]);
    const { calls } = await agent({ name: "a", model, tools }).run("go");
    expect(calls.at(-1)).toMatchObject({ name: "pay", status });
  });

  it.each([
    ["always", 2],
    ["never", 1],
  ] as const)("with `retry: %s` runs %i times when its process died in it", async (retry, times) => {
    const journal = memoryJournal();
    const calls = { calls: [{ name: "pay" }] };
    const dying = fakeTool("pay", () => new Promise<never>(() => undefined), { effect: "write", retry });
    const first = agent({ name: "a", model: scripted([calls, "Done."]), tools: [dying] });
    const leave = new AbortController();
    const running = first.run("go", { journal, runId: "r", signal: leave.signal });
    await expect.poll(() => dying.calls.length).toBe(1);
    const left = [...journal.records];
    leave.abort();
    await running;
    const again = fakeTool("pay", "paid", { effect: "write", retry });
    const second = agent({ name: "a", model: scripted(["Done."]), tools: [again] });
    await second.run("go", { journal: memoryJournal(left), runId: "r" });
    expect(dying.calls.length + again.calls.length).toBe(times);
  });

  it("cannot be given what no tool has, or what makes it", () => {
    // @ts-expect-error -- there is no such effect
    expect(() => fakeTool("a", 1, { effect: "writes" })).toThrow("`effect` must be");
    // @ts-expect-error -- its function is what it gives
    fakeTool("a", 1, { execute: () => 2 });
  });
});
