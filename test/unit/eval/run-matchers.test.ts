import { describe, expect, it } from "vitest";
import { agent, deny, policy } from "../../../src/index.ts";
import type { RunResult } from "../../../src/index.ts";
import { runMatchers, type RunMatchers, scripted } from "../../../src/testing.ts";
import { add, call, mail } from "./agent-scene.ts";

declare module "vitest" {
  // oxlint-disable-next-line typescript/no-empty-object-type -- what a user writes
  interface Matchers<R extends void | Promise<void>> extends RunMatchers<R> {}
}
expect.extend(runMatchers);

const run = (): Promise<RunResult<string>> =>
  agent({
    name: "clerk",
    model: scripted([call("add", { a: 1, b: 2 }), call("mail", { text: "3" }), "Done."]),
    tools: [add, mail],
    policy: policy({ name: "no mail", rules: [deny("mail")] }),
  }).run("Go");

/** The message with which an expectation fails. */
function told(expectation: () => void): string {
  try {
    expectation();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error("it did not fail");
}

describe("matchers of a run", () => {
  it("see what was carried out, with a part of the arguments, and what was denied [TEST-eval]", async () => {
    const result = await run();
    expect(result).toHaveCalled(add);
    expect(result).toHaveCalled("add", { a: 1 });
    expect(result).toHaveCalled(add, { a: expect.any(Number) as unknown, b: 2 });
    expect(result).not.toHaveCalled(add, { a: 2 });
    expect(result).not.toHaveCalled(add, { c: undefined });
    expect(result).not.toHaveCalled(mail);
    expect(result).toHaveDenied(mail, { text: expect.stringContaining("3") as unknown });
    expect(result).not.toHaveDenied(add);
    expect(result).toHaveEnded("answered");
    expect(result).not.toHaveEnded("failed");
  });

  it("see the order of the calls", async () => {
    const replies = [
      call("add", { a: 1, b: 2 }),
      call("mail", { text: "3" }),
      call("add", { a: 3, b: 3 }),
      "Done.",
    ];
    const result = await agent({
      name: "clerk",
      model: scripted(replies),
      tools: [add, { ...mail, execute: () => "sent" }],
    }).run("Go");
    expect(result).toHaveCalledInOrder([add, mail, "add"]);
    expect(result).toHaveCalledInOrder(["add", "add"]);
    expect(result).not.toHaveCalledInOrder([mail, mail]);
  });

  it("say when they fail what the run did", async () => {
    const result = await run();
    const calls = 'Its calls:\n  add {"a":1,"b":2} ok\n  mail {"text":"3"} denied';
    expect(told(() => expect(result).toHaveCalled(mail))).toBe(`expected the run to call mail\n${calls}`);
    expect(told(() => expect(result).toHaveCalled(add, { a: 9 }))).toContain(
      `expected the run to call add with {"a":9}\n${calls}`,
    );
    expect(told(() => expect(result).toHaveEnded("refused"))).toBe(
      `expected the run to end as refused; it is answered\n${calls}`,
    );
    expect(told(() => expect(result).not.toHaveCalled(add))).toBe(
      `expected the run not to call add\n${calls}`,
    );
    const silent = await agent({ name: "silent", model: () => "Done." }).run("Go");
    expect(told(() => expect(silent).toHaveCalledInOrder([add]))).toContain("It made no call.");
  });
});
