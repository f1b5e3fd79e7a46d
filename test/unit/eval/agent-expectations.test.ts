import { describe, expect, it } from "vitest";
import { agent } from "../../../src/index.ts";
import type { Expectations } from "../../../src/eval.ts";
import { scripted } from "../../../src/testing.ts";
import { add, call, clerk, evaluateOne, mail } from "./agent-scene.ts";

const three = [call("add", { a: 1, b: 2 }), call("add", { a: 3, b: 4 }), "The sum is 7."];

/** What does not hold of a run that adds twice and answers "The sum is 7." */
const failing = async (expected: Expectations): Promise<string[]> =>
  (await evaluateOne({ replies: three, expect: expected })).failures;

describe("expectations on the answer", () => {
  it.each<[string, Expectations["answer"]]>([
    ["equals, without the blanks around it", { equals: " The sum is 7. " }],
    ["contains, in any case", { contains: "SUM IS" }],
    ["contains several", { contains: ["sum", "7"] }],
    ["omits", { omits: ["8", "product"] }],
    ["matches somewhere", { matches: "is \\d" }],
  ])("hold: %s", async (_, answer) => {
    expect(await failing({ answer })).toEqual([]);
  });

  it.each<[Expectations["answer"], string]>([
    [{ equals: "The sum" }, 'answer.equals: it is "The sum is 7.", not "The sum"'],
    [{ contains: ["sum", "8"] }, 'answer.contains: "8" does not stand in "The sum is 7."'],
    [{ omits: "SUM" }, 'answer.omits: "SUM" stands in "The sum is 7."'],
    [{ matches: "^\\d" }, 'answer.matches: "The sum is 7." does not match ^\\d'],
    [{ json: { sum: 7 } }, 'answer.json: "The sum is 7." is not JSON'],
  ])("fail with what was answered: %j", async (answer, told) => {
    expect(await failing({ answer })).toEqual([told]);
  });

  it("hold a JSON answer to a part of it and to a schema, in text and in an output", async () => {
    const output = {
      type: "object",
      properties: { sum: { type: "number" }, unit: { type: "string" } },
    } as const;
    const reply = '{"sum": 7, "unit": "apples"}';
    const expected = {
      answer: {
        json: { sum: 7, unit: { matches: "^app" } },
        schema: { type: "object", required: ["sum"] },
        equals: { unit: "apples", sum: 7 },
      },
    };
    const typed = agent({ name: "typed", model: () => reply, output });
    const text = agent({ name: "text", model: () => reply });
    for (const subject of [typed, text])
      expect((await evaluateOne({ expect: expected }, { agent: subject })).failures).toEqual([]);
    const { failures } = await evaluateOne(
      { expect: { answer: { json: { sum: 8 }, schema: { required: ["total"] }, equals: 7 } } },
      { agent: typed },
    );
    expect(failures).toEqual([
      expect.stringMatching(/^answer\.json: sum: .*8.*7/),
      expect.stringMatching(/^answer\.schema: total: missing/),
      'answer.equals: it is {"sum":7,"unit":"apples"}, not 7',
    ]);
  });

  it("tells of an answer that is not there only that", async () => {
    const { failures } = await evaluateOne({
      replies: [call("add", { a: 1, b: 2 })],
      expect: { answer: { contains: "7" } },
    });
    expect(failures).toHaveLength(1);
    expect(failures[0]).toMatch(/^outcome: the run is failed, not answered: .*asked once more/);
  });

  it("expects other ends than an answer", async () => {
    const short = clerk.with({ budget: { turns: 1 } });
    const fields = { replies: three, expect: { outcome: "exhausted" as const } };
    expect((await evaluateOne(fields, { agent: short })).failures).toEqual([]);
    expect((await evaluateOne(fields)).failures).toEqual(["outcome: the run answered, not exhausted"]);
  });
});

describe("expectations on calls", () => {
  it.each<[string, Expectations]>([
    ["a name", { calls: ["add"] }],
    ["a part of the arguments", { calls: [{ tool: "add", with: { b: 4 } }] }],
    [
      "any order",
      {
        calls: [
          { tool: "add", with: { a: 3 } },
          { tool: "add", with: { a: 1 } },
        ],
      },
    ],
    ["each entry another call, whichever way round", { calls: ["add", { tool: "add", with: { a: 1 } }] }],
    ["the count", { calls: [{ tool: "add", times: 2 }] }],
    ["a count does not use calls up", { calls: [{ tool: "add", times: 2 }, "add", "add"] }],
    [
      "order",
      {
        order: [
          { tool: "add", with: { a: 1 } },
          { tool: "add", with: { a: 3 } },
        ],
      },
    ],
    ["never", { never: ["mail", { tool: "add", with: { a: 9 } }] }],
    ["bounds", { atMost: { turns: 3, toolCalls: 2, tokens: 10_000, costUsd: 0, durationMs: 60_000 } }],
  ])("hold: %s", async (_, expected) => {
    expect(await failing(expected)).toEqual([]);
  });

  it.each<[Expectations, string]>([
    [{ calls: ["mail"] }, "calls[0]: mail was not made; there was add"],
    [{ calls: ["add", "add", "add"] }, "calls[2]: add was not made once more; there was add"],
    [{ calls: [{ tool: "add", times: 1 }] }, "calls[0]: add was made 2 times, not 1"],
    [
      {
        order: [
          { tool: "add", with: { a: 3 } },
          { tool: "add", with: { a: 1 } },
        ],
      },
      'order: add {"a":1} was not made after add {"a":3}; there was no call',
    ],
    [{ never: [{ tool: "add", with: { a: 3 } }] }, 'never[0]: add {"a":3,"b":4} was made'],
    [
      { calls: [{ tool: "add", with: { a: 1, c: 0 } }] },
      'add {"a":1,"c":0} was not made; there was add {"a":1,"b":2} (c: missing)',
    ],
    [{ atMost: { turns: 2 } }, "atMost.turns: turns were 3, and 2 are allowed"],
    [{ atMost: { toolCalls: 0 } }, "atMost.toolCalls: toolCalls were 2, and 0 are allowed"],
    [{ atMost: { tokens: 1 } }, "atMost.tokens: tokens were "],
  ])("fail with what was called: %j", async (expected, told) => {
    const failures = await failing(expected);
    expect(failures).toHaveLength(1);
    expect(failures[0]).toContain(told);
  });

  it("says of a call of the same tool what is different [TEST-eval]", async () => {
    const [told = ""] = await failing({ calls: [{ tool: "add", with: { a: 1, b: 5 } }] });
    expect(told).toMatch(/there was add \{"a":1,"b":2\} \(b: .*5.*2\), add \{"a":3,"b":4\} \(/);
  });

  it("tells of the first three calls of the tool, however many were made", async () => {
    const made = [1, 2, 3, 4, 5].map((a) => call("add", { a, b: 0 }));
    const { failures } = await evaluateOne({
      replies: [...made, "Done"],
      expect: { calls: [{ tool: "add", with: { a: 9 } }] },
    });
    expect(failures).toHaveLength(1);
    expect(failures[0]?.match(/add \{"a":\d,"b":0\}/g)).toEqual([1, 2, 3].map((a) => `add {"a":${a},"b":0}`));
  });

  it("takes a pattern in the place of a text in the arguments", async () => {
    const replies = [call("mail", { text: "It rains in Oslo" }), "Done"];
    const results = { mail: "sent" };
    const expecting = (pattern: string): Expectations => ({
      calls: [{ tool: "mail", with: { text: { matches: pattern } } }],
    });
    expect((await evaluateOne({ replies, results, expect: expecting("Oslo$") })).failures).toEqual([]);
    expect((await evaluateOne({ replies, results, expect: expecting("^Oslo") })).failures).toHaveLength(1);
  });

  it("takes no refused and no wrong call for one that was carried out, unless its status says so [C43, TEST-eval]", async () => {
    const strict = clerk.with({
      policy: () => ({ verdict: "deny", rule: "none", reason: "nothing is allowed" }),
    });
    const replies = [call("add", { a: 1, b: 2 }), call("add", { a: "x" }), "Nothing."];
    const { failures } = await evaluateOne(
      {
        replies,
        expect: {
          calls: ["add", { tool: "add", status: "denied" }, { tool: "add", status: "invalid" }],
          never: ["add", { tool: "add", status: "any" }],
        },
      },
      { agent: strict },
    );
    expect(failures.map((one) => one.split(":")[0])).toEqual(["calls[0]", "never[1]"]);
    expect(failures[0]).toContain("it was not carried out: denied");
  });

  it("wants a price where dollars are bounded", async () => {
    const unpriced = { ...scripted(["Hello"]), price: undefined };
    const subject = agent({ name: "unpriced", model: unpriced, tools: [add, mail] });
    const { failures, report } = await evaluateOne(
      { expect: { atMost: { costUsd: 1 } } },
      { agent: subject },
    );
    expect(failures).toEqual(["atMost.costUsd: the model has no price: give the agent `budget.price`"]);
    expect(report).not.toHaveProperty("costUsd");
  });

  it("counts the calls, turns and tokens of agents inside, and says whose they are", async () => {
    const adder = agent({
      name: "adder",
      description: "Adds",
      model: scripted([call("add", { a: 1, b: 2 }), "3"]),
      tools: [add],
    });
    const boss = agent({
      name: "boss",
      model: scripted([call("adder", { input: "1 + 2" }), "3"]),
      tools: [adder.asTool()],
    });
    const { run, failures } = await evaluateOne(
      { expect: { order: ["adder", "add"], atMost: { turns: 4 }, answer: { equals: 3 } } },
      { agent: boss },
    );
    expect(failures).toEqual([]);
    expect(run.turns).toBe(4);
    expect(run.calls).toMatchObject([{ tool: "adder" }, { tool: "add", by: "adder" }]);
  });
});
