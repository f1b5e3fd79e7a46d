import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent } from "../../src/index.ts";
import { type DriverName, recogniser } from "../../src/drivers.ts";
import type { Delta } from "../../src/models.ts";
import { fakeTool } from "../../src/testing.ts";

const twice = '{"to": "Ada", "amount": 1, "amount": 1000}';
const deep = '{"to": "Ada", "amount": 1, "more": {"note": "a", "note": "b"}}';

/** Plays replies as text, or as calls of a provider. */
async function play(driver: DriverName, replies: readonly (string | readonly Delta[])[]) {
  let next = 0;
  const asked: string[] = [];
  const pay = fakeTool("pay", "paid", {
    inputSchema: z.object({
      to: z.string(),
      amount: z.number(),
      more: z.record(z.string(), z.string()).optional(),
    }),
  });
  const clerk = agent({
    name: "clerk",
    driver,
    tools: [pay],
    model: async function* ({ messages }): AsyncGenerator<Delta> {
      asked.push(JSON.stringify(messages.at(-1)));
      const reply = replies[next++] ?? "";
      yield* typeof reply === "string" ? [{ type: "text-delta" as const, text: reply }] : reply;
      yield { type: "end", finishReason: typeof reply === "string" ? "stop" : "tool-calls" };
    },
  });
  const { text } = await clerk.run("Pay Ada 1");
  return { text, told: asked[1], paid: pay.calls };
}

const call = (args: string): readonly Delta[] => [
  { type: "call-start", id: "1", name: "pay" },
  { type: "call-end", id: "1", arguments: args },
];

describe("a call whose arguments have a key twice does not run, and the model is told the key", () => {
  it.each<readonly [DriverName, string, string | readonly Delta[]]>([
    ["native", "amount", call(twice)],
    ["native", "note", call(deep)],
    ["native", "amount", call(JSON.stringify(twice))],
    ["native", "amount", `<tool_call>{"name": "pay", "arguments": ${twice}}</tool_call>`],
    [
      "native",
      "amount",
      "<function=pay><parameter=to>Ada</parameter><parameter=amount>1</parameter><parameter=amount>9</parameter></function>",
    ],
    ["hermes", "amount", `<tool_call>{"name": "pay", "arguments": ${twice}}</tool_call>`],
    ["hermes", "note", `<tool_call>{"name": "pay", "arguments": ${deep}}</tool_call>`],
    ["json", "note", `{"action": {"tool": "pay", "args": ${deep}}}`],
    ["command", "note", `@tool pay ${deep}`],
    ["inline", "note", `{"tool": "pay", "arguments": ${deep}}`],
    ["pythonic", "amount", '[pay(to="Ada", amount=1, amount=1000)]'],
    ["pythonic", "note", '[pay(to="Ada", amount=1, more={"note": "a", "note": "b"})]'],
    ["pythonic", "amount", 'pay(to="Ada", amount=1, amount=1000)'],
  ])("%s: %s of %s", async (driver, key, reply) => {
    const answer = driver === "json" ? '{"final": {"content": "Sorry."}}' : "Sorry.";
    const { paid, told, text } = await play(driver, [reply, answer]);
    expect(paid).toEqual([]);
    expect(told).toContain(
      `it has the key ${JSON.stringify(JSON.stringify(key)).slice(1, -1)} twice in one object`,
    );
    expect(text).toBe("Sorry.");
  });

  it.each<readonly [DriverName, string]>([
    ["json", '{"final": {"content": {"a": {"b": 1, "b": 2}}}}'],
    ["inline", '{"final": {"content": {"a": {"b": 1, "b": 2}}}}'],
    ["react", '{"type": "final_answer", "thought": "", "answer": {"a": {"b": 1, "b": 2}}}'],
  ])("an answer with one deep in it stands: %s", async (driver, reply) => {
    expect((await play(driver, [reply])).text).toBe('{"a":{"b":2}}');
  });

  it("one whose keys are alike in different objects runs", async () => {
    const args = '{"to": "Ada", "amount": 1, "more": {"to": "x", "amount": "\\"to\\": \\"to\\""}}';
    expect((await play("native", [call(args), "Paid."])).paid).toHaveLength(1);
  });
});

it.each(["strict", "safe", "lenient"] as const)("the recogniser takes no such call: %s", (mode) => {
  const tools = [fakeTool("pay", "", { inputSchema: z.object({ amount: z.number() }) })];
  for (const text of [
    '{"name": "pay", "arguments": {"amount": 1, "amount": 2}}',
    '{"name": "pay", "arguments": "{\\"amount\\": 1, \\"amount\\": 2}"}',
    "pay(amount=1, amount=2)",
  ])
    expect(recogniser(tools, mode).read(text)).toMatchObject({
      calls: [],
      refused: [{ name: "pay", reason: 'it has the key "amount" twice in one object', twice: "amount" }],
    });
});

it("the recogniser names no key where it refuses for another reason", () => {
  const tools = [fakeTool("pay", "", { inputSchema: z.object({ amount: z.number() }) })];
  const { refused } = recogniser(tools).read('{"name": "pay", "arguments": {}}');
  expect(refused).toHaveLength(1);
  expect(refused[0]).not.toHaveProperty("twice");
});
