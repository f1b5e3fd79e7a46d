import { describe, expect, it } from "vitest";
import { agent, tool } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";

const codes = [
  "tool-unrecoverable",
  "tool-escalated",
  "budget-exhausted",
  "account-exhausted",
  "capability-denied",
  "capability-closed",
  "delegation-too-deep",
  "run-suspended",
  "run-waiting",
  "provider-failed",
  "constructor",
];

const fail = (): never => {
  throw new Error("looked at");
};

/** The data that an error can have which was rebuilt from what a worker or another program sent. */
const data: readonly [what: string, data: unknown][] = [
  ["nothing", undefined],
  ["null", null],
  ["a text", "reason"],
  ["a list", [{}]],
  ["texts that throw", { reason: { toString: fail }, field: { toString: fail } }],
  ["getters that throw", Object.defineProperty({}, "reason", { get: fail, enumerable: true })],
  ["a symbol", { reason: Symbol("x"), field: Symbol("x") }],
  ["a proxy", new Proxy({}, { get: fail, ownKeys: fail })],
];

async function runOf(thrown: () => unknown): Promise<readonly unknown[]> {
  const broken = tool({
    name: "broken",
    description: "d",
    inputSchema: { type: "object" },
    execute: () => {
      throw thrown();
    },
  });
  const model = scripted([{ calls: [{ name: "broken", arguments: {} }] }, "ok"]);
  const ends: unknown[] = [];
  const { outcome } = await agent({ name: "a", model, tools: [broken] }).run("x", {
    onEvent: (event) => {
      if (event.type === "tool-end") ends.push(event.result.status);
    },
  });
  return [outcome.type, ...ends];
}

describe("an error that only looks like one of the runtime's", () => {
  it.each(codes.flatMap((code) => data.map(([what, held]) => [code, what, held] as const)))(
    "is a failure of its tool, and the run goes on: %s with %s as data",
    async (code, _what, held) => {
      const look = (): Error =>
        Object.assign(new Error("x"), { name: "WritError", code, data: held, hint: "h", cause: held });
      expect(await runOf(look)).toEqual(["answered", "error"]);
      expect(await runOf(() => new Error("wrapped", { cause: look() }))).toEqual(["answered", "error"]);
    },
  );

  it("is one of them where it has all that they have: another copy of the package may have made it", async () => {
    const whole = { name: "WritError", code: "tool-unrecoverable", data: { reason: "gone" }, hint: "h" };
    expect(await runOf(() => Object.assign(new Error("x"), whole))).toEqual(["failed", "error"]);
  });
});
