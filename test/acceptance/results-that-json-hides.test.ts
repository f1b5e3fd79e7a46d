import { describe, expect, it } from "vitest";
import { agent, ask, knowledge, policy, skill, tool } from "../../src/index.ts";
import { fix, type RecoveryRules, validateResult } from "../../src/tools.ts";
import { fakeTool, scripted } from "../../src/testing.ts";

const inputSchema = { type: "object" } as const;

async function resultOf(given: unknown): Promise<unknown> {
  const look = tool({ name: "look", description: "d", inputSchema, execute: () => given });
  const model = scripted([{ calls: [{ name: "look", arguments: {} }] }, "ok"]);
  const { transcript } = await agent({ name: "a", model, tools: [look] }).run("x");
  return transcript.messages.find(({ role }) => role === "tool");
}

class Order {
  readonly #number = 17;
  describe(): number {
    return this.#number;
  }
}

describe("a result of which JSON would show nothing", () => {
  it.each<readonly [what: string, given: unknown, note: string]>([
    ["a promise that nobody awaited", { rows: Promise.resolve([1]) }, "`await` it"],
    ["a Map", { prices: new Map([["tea", 3]]) }, "a Map"],
    ["a Set alone", new Set([1]), "a Set"],
    ["an error that was given and not thrown", new Error("no such order"), "an Error"],
    ["a response whose body nobody read", [new Response("tea")], "a Response"],
    ["an iterator", { rows: [1].values() }, "an Array Iterator"],
    ["an object that keeps all to itself", new Order(), "an Order"],
    ["a number that is none", { rows: [{ average: 0 / 0 }] }, '"average" is NaN'],
    ["a number without end", 1 / 0, "it is Infinity"],
  ])("fails with what it is: %s", async (_, given, note) => {
    expect(await resultOf(given)).toMatchObject({
      status: "error",
      note: expect.stringContaining(note) as string,
    });
  });

  it("is told as it is where JSON shows it, or where there is nothing to show", async () => {
    const given = {
      at: new Date(0),
      link: new URL("https://shop.example/17"),
      none: {},
      boxed: Object(3) as unknown,
      bare: Object.create(null) as object,
      own: Object.assign(new Order(), { state: "sent" }),
    };
    expect(await resultOf(given)).toMatchObject({
      status: "ok",
      value: {
        at: "1970-01-01T00:00:00.000Z",
        link: "https://shop.example/17",
        none: {},
        boxed: 3,
        bare: {},
        own: { state: "sent" },
      },
    });
  });

  it("fails as the result of a plain skill and of a tool as data", async () => {
    const plain = skill({ name: "plain", description: "d", execute: () => ({ prices: new Map() }) });
    const run = await agent({ name: "a", skills: [plain] }).run("x");
    expect(run.error?.message).toContain("a Map");
    const data = { name: "look", description: "d", inputSchema };
    expect(await validateResult(data, new Map())).toMatchObject({ ok: false });
  });

  it("fails as what knowledge loads, what a fixer gives, and what a person changed", async () => {
    const rows = { rows: Promise.resolve([1]) } as never;
    const calling = (name: string) => scripted([{ calls: [{ name, arguments: {} }] }, "ok"]);
    const stock = knowledge({ name: "stock", description: "d", load: () => rows });
    const read = await agent({ name: "a", model: calling("stock"), tools: [stock] }).run("x");
    expect(read.calls[0]).toMatchObject({
      status: "error",
      reason: expect.stringContaining("`await` it") as string,
    });
    const look = tool({
      name: "look",
      description: "d",
      inputSchema,
      execute: () => {
        throw new Error("busy");
      },
    });
    const recover: RecoveryRules = { default: { executionFailed: () => fix(() => rows) } };
    const mended = await agent({ name: "a", model: calling("look"), tools: [look], recover }).run("x");
    expect(mended.outcome).toMatchObject({ type: "failed", code: "tool-failed" });
    expect(mended.error?.message).toContain("`await` it");
    const pay = fakeTool("pay", "paid", { effect: "irreversible" });
    const asked = agent({
      name: "a",
      model: calling("pay"),
      tools: [pay],
      policy: policy({ name: "p", rules: [ask("pay")] }),
    });
    await asked.run("x", { approve: () => ({ approved: true, arguments: rows }) });
    expect(pay.calls).toEqual([]);
  });
});
