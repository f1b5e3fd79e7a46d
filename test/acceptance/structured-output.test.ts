import { describe, expect, it } from "vitest";
import { z } from "zod";
import { answerReader } from "../../src/agent/answer.ts";
import { type AgentEvent, agent, skill, tool } from "../../src/index.ts";
import type { FinishReason } from "../../src/message/message.ts";
import { type SchemaSource, toSchema } from "../../src/schema/to-schema.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import type { Json } from "../../src/util/json.ts";
import { add } from "./calculator.ts";

const trip = z.object({
  city: z.string().describe("where to"),
  days: z.int().describe("how long"),
  stops: z.array(z.object({ name: z.string() })).default([]),
});
const lima = { city: "Lima", days: 3, stops: [] };

describe("typed arguments and results", () => {
  it("what fields are for stands in the schema that the model sees, for arguments, results and answers [G1.1, G1.2]", async () => {
    const plan = tool({
      name: "plan",
      description: "Plans a trip",
      inputSchema: trip,
      outputSchema: trip,
      effect: "none",
      execute: (args) => args,
    });
    const model = scripted(
      [
        { calls: [{ name: "plan", arguments: { city: "Lima", days: 3 } }] },
        (request) => JSON.stringify(JSON.parse(resultIn(request.messages.at(-1))) as Json),
      ],
      { features: { tools: true, format: "schema", formatWithTools: true } },
    );
    const planner = agent({ name: "planner", model, tools: [plan], output: trip });
    expect(await planner("Three days in Lima")).toEqual(lima);
    const [first] = model.requests;
    expect(first?.tools[0]?.inputSchema).toMatchObject({
      properties: { city: { type: "string", description: "where to" }, days: { description: "how long" } },
      required: ["city", "days"],
      additionalProperties: false,
    });
    expect(first?.format).toMatchObject({
      type: "schema",
      schema: { properties: { city: { description: "where to" } } },
    });
    const system = first?.messages[0];
    expect(system?.role === "system" ? system.text : "").toContain('"where to"');
  });
});

function resultIn(message: unknown): string {
  return typeof message === "object" && message !== null && "text" in message ? String(message.text) : "";
}

describe("answers that are held to a schema", () => {
  it("are constrained by native models where no tool is in the way, else asked for in words and read leniently [G4]", async () => {
    const answer = JSON.stringify(lima);
    const alone = scripted([answer], { features: { tools: true, format: "schema" } });
    expect(await agent({ name: "a", model: alone, output: trip })("go")).toEqual(lima);
    expect(alone.requests[0]?.format).toMatchObject({
      type: "schema",
      schema: { required: ["city", "days"] },
    });

    const beside = scripted([`Here you are:\n\`\`\`json\n${answer}\n\`\`\``], {
      features: { tools: true, format: "schema" },
    });
    expect(await agent({ name: "a", model: beside, tools: [add], output: trip })("go")).toEqual(lima);
    expect(beside.requests).toHaveLength(1);
    expect(beside.requests[0]?.format).toBeUndefined();
    const system = beside.requests[0]?.messages[0];
    expect(system?.role === "system" ? system.text : "").toContain("Answer with JSON alone");
  });

  it("are constrained inside the JSON protocol, beside the calls [G4]", async () => {
    const model = scripted(
      ['{"action":{"tool":"add","args":{"a":1,"b":2}}}', '{"final":{"content":{"city":"Lima","days":3}}}'],
      { features: { tools: false, format: "schema" } },
    );
    expect(await agent({ name: "a", model, tools: [add], output: trip })("go")).toEqual(lima);
    const format = model.requests[0]?.format;
    expect(format?.type === "schema" && JSON.stringify(format.schema)).toContain(
      '"content":{"type":"object"',
    );
    const system = model.requests[0]?.messages[0];
    expect(system?.role === "system" ? system.text : "").toContain(
      '{"final": {"content": <your answer: { city: string (where to), days: integer (how long)',
    );
  });

  it("that do not match are sent back with what is wrong and the schema [G4]", async () => {
    const model = scripted(['{"city": "Lima"}', JSON.stringify(lima)]);
    expect(await agent({ name: "a", model, output: trip })("go")).toEqual(lima);
    const feedback = JSON.stringify(model.requests[1]?.messages.at(-1));
    expect(feedback).toContain("Your answer was not accepted: days:");
    expect(feedback).toContain("how long");
  });

  it("of several kinds are told apart by their discriminator: an unknown or missing one is no answer [G2]", async () => {
    const shape = z.discriminatedUnion("type", [
      z.object({ type: z.literal("circle"), at: z.object({ x: z.number() }), radius: z.number() }),
      z.object({ type: z.literal("square"), side: z.number() }),
    ]);
    for (const wrong of ['{"type": "line", "side": 2}', '{"side": 2}', '{"type": "circle", "side": 2}']) {
      const model = scripted([wrong, '{"type": "square", "side": 2}'], { features: { format: "schema" } });
      expect(await agent({ name: "a", model, output: shape })("go"), wrong).toEqual({
        type: "square",
        side: 2,
      });
      expect(model.requests, wrong).toHaveLength(2);
      const format = model.requests[0]?.format;
      const schema = format?.type === "schema" ? format.schema : {};
      expect(schema["oneOf"] ?? schema["anyOf"]).toMatchObject([
        { properties: { type: { const: "circle" }, at: { properties: { x: { type: "number" } } } } },
        { properties: { type: { const: "square" } } },
      ]);
    }
  });

  it("are given in parts while they are written, in every driver that speaks JSON [G2]", async () => {
    const pieces = (
      text: string,
    ): AsyncIterable<{ type: "text-delta"; text: string } | { type: "end"; finishReason: "stop" }> => ({
      async *[Symbol.asyncIterator]() {
        for (let at = 0; at < text.length; at += 4)
          yield { type: "text-delta", text: text.slice(at, at + 4) };
        yield { type: "end", finishReason: "stop" };
      },
    });
    const answer = JSON.stringify({ city: "Lima", days: 3 });
    for (const [driver, text] of [
      ["native", answer],
      ["json", `{"final":{"content":${answer}}}`],
      ["react", `{"thought":"I know.","type":"final_answer","answer":${answer}}`],
    ] as const) {
      const partials: Json[] = [];
      const planner = agent({ name: "a", model: () => pieces(text), driver, output: trip });
      const stream = planner.stream("go");
      let next = await stream.next();
      for (; next.done !== true; next = await stream.next())
        if (next.value.type === "output-delta") partials.push(next.value.partial);
      expect(next.value.output, driver).toEqual(lima);
      expect(partials.at(-1), driver).toEqual({ city: "Lima", days: 3 });
      expect(partials.length, driver).toBeGreaterThan(0);
      expect(JSON.stringify(partials), driver).not.toContain("thought");
    }
  });

  it("may be empty or null where the schema says so, in every driver that speaks JSON [G2]", async () => {
    const output = z.string().nullable();
    const replies = {
      json: (answer: unknown) => ({ final: { content: answer } }),
      react: (answer: unknown) => ({ type: "final_answer", answer }),
      select: (answer: unknown) => ({ answer }),
    };
    for (const driver of ["json", "react", "select"] as const)
      for (const answer of ["", null]) {
        const model = scripted([JSON.stringify(replies[driver](answer))]);
        const { outcome, ...result } = await agent({ name: "a", model, driver, output }).run("Its name?");
        expect(outcome.type, driver).toBe("answered");
        expect(result.output, driver).toBe(answer);
      }
  });

  it("tell no parts where there is no schema", async () => {
    const events: AgentEvent[] = [];
    for await (const event of agent({ name: "a", model: () => '{"a": 1}' }).stream("go")) events.push(event);
    expect(events.map(({ type }) => type)).not.toContain("output-delta");
  });
});

describe("the author's own parse", () => {
  it("comes first, then the schema; what it refuses the model is told [K7]", async () => {
    const model = scripted(["It is forty-two", "42 or so", "-1", "42"]);
    const parse = (text: string): number => {
      const value = Number.parseInt(text, 10);
      if (Number.isNaN(value)) throw new TypeError("no number");
      return value * 2;
    };
    const counter = agent({
      name: "counter",
      model,
      skills: [skill({ name: "solve", description: "", tools: [], output: z.int().min(0), parse })],
    });
    expect(await counter("six times seven")).toBe(84);
    expect(model.requests).toHaveLength(2);
    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain(
      "Your answer was not accepted: no number",
    );
    const negative = counter.with({ model: scripted(["-1", "8"]) });
    expect(await negative("x")).toBe(16);
  });

  it("ends in an error that says what could not be parsed as what [K7]", async () => {
    const model = scripted(["no"]);
    const typed = agent({ name: "a", model, output: trip });
    await expect(typed("go")).rejects.toMatchObject({
      code: "protocol-violated",
      message: expect.stringContaining(
        "Could not parse LLM output as { city: string (where to), days: integer (how long)",
      ),
    });
    const never = skill({
      name: "never",
      description: "",
      tools: [],
      parse: () => {
        throw new Error("never right");
      },
    });
    await expect(agent({ name: "a", model, skills: [never] })("go")).rejects.toMatchObject({
      message: expect.stringContaining("Could not parse LLM output as the output: 'no' (never right)"),
    });
  });
});

describe("answers as they are read", () => {
  const read = async (
    content: Json,
    source: SchemaSource = trip,
    finishReason: FinishReason = "stop",
  ): Promise<unknown> => {
    const result = await answerReader(toSchema(source, { name: "a", role: "input" }))(content, finishReason);
    return result.ok ? result.output : result.reason;
  };

  it.each([
    ["strictly", JSON.stringify(lima)],
    ["in a fence", `\`\`\`json\n${JSON.stringify(lima, undefined, 2)}\n\`\`\``],
    ["in prose", `The trip: ${JSON.stringify(lima)}. Enjoy!`],
    ["with commas too many", '{"city": "Lima", "days": 3, "stops": [],}'],
    ["with a number as text", '{"city": "Lima", "days": "3"}'],
    ["as a value", { city: "Lima", days: 3 }],
  ])("%s [G3]", async (_how, content) => {
    expect(await read(content)).toEqual(lima);
  });

  it.each([
    ["a citation", 'As [1] says: {"city": "Lima", "days": 3}'],
    ["citations", 'As [1][2] and [3, 4] say: {"city": "Lima", "days": 3} [5]'],
    ["words in a list", 'Of ["Lima", "Quito"] the first: {"city": "Lima", "days": 3}'],
    ["an object that does not fit", 'From {"source": "a.md"}: {"city": "Lima", "days": 3}'],
    ["a fence of another", '```json\n{"query": "x"}\n```\n```json\n{"city": "Lima", "days": 3}\n```'],
  ])("behind %s [G3]", async (_what, content) => {
    expect(await read(content)).toEqual(lima);
  });

  it("behind a citation where a list is wanted, and a number in brackets where that is all [G3]", async () => {
    expect(await read("As [1] says: [2, 3, 5]", z.array(z.int()))).toEqual([2, 3, 5]);
    expect(await read('As [1] says: ["a"]', z.array(z.string()))).toEqual(["a"]);
    expect(await read("It is [7], as [1] says", z.array(z.int()))).toEqual([7]);
  });

  it("with the faults of what was meant, where nothing fits [G3]", async () => {
    expect(await read('As [3, 4] say: {"city": "Lima"}')).toContain("(days: ");
    expect(await read("As [3, 4] say.")).toContain("expected object, received array");
  });

  it("not of many values, and in time that grows with the text [G3]", async () => {
    let judged = 0;
    const counted = z.array(z.string()).refine(() => (judged += 1) < 0);
    for (const piece of ["[1] ", '["a"] ', "[1, 2] "])
      expect(await read(piece.repeat(50_000), counted)).toContain("Could not parse");
    expect(judged).toBeLessThan(200);
  });

  it("a text where a text is wanted, with quotes or without [G3]", async () => {
    expect(await read("1.50", z.string())).toBe("1.50");
    expect(await read('{"a": 1}', z.string())).toBe('{"a": 1}');
    expect(await read("left", z.enum(["left", "right"]))).toBe("left");
    expect(await read('"left"', z.enum(["left", "right"]))).toBe("left");
    expect(await read("maybe", z.union([z.number(), z.literal("maybe")]))).toBe("maybe");
    expect(await read("42", z.number())).toBe(42);
  });

  it("not when it was cut off: what is whole by its bracket counts, and nothing is mended [G3, G4]", async () => {
    expect(await read(JSON.stringify(lima), trip, "length")).toEqual(lima);
    expect(await read('{"city": "Lima", "days": 3', trip)).toContain("not JSON");
    expect(await read('{"city": "Lima", "stops": [{"name": "x"}], "days": 3', trip, "length")).toContain(
      "cut off",
    );
    expect(await read("12", z.number(), "length")).toContain("cut off");
    expect(await read("a tex", z.string(), "length")).toContain("cut off");
    const parsed = await answerReader(undefined, { parse: (text) => Number.parseInt(text, 10) })(
      "12",
      "length",
    );
    expect(parsed).toMatchObject({ ok: false, reason: expect.stringContaining("cut off") });
    expect(await answerReader(undefined)("a tex", "length")).toEqual({ ok: true, output: "a tex" });
  });
});

describe("calls that are forced", () => {
  it("case 49: holds until the call was made, then the model is free, whatever it says before [A7]", async () => {
    for (const toolChoice of ["required", { tool: "search" }] as const) {
      const search = fakeTool("search", "found");
      const model = scripted(["I know it without.", { calls: [{ name: "search" }] }, "Now I know."]);
      const result = await agent({ name: "a", model, tools: [search, add], toolChoice }).run("go");
      expect(result).toMatchObject({ text: "Now I know.", turns: 3 });
      expect(search.calls).toHaveLength(1);
      expect(model.requests.map((request) => request.toolChoice)).toEqual([toolChoice, toolChoice, "auto"]);
    }
  });

  it("case 49: a model that never calls ends the run, and does not answer [A7]", async () => {
    const model = scripted(["I won't."]);
    const result = await agent({ name: "a", model, tools: [add], toolChoice: "required" }).run("go");
    expect(result.outcome).toMatchObject({ type: "failed", code: "protocol-violated" });
  });

  it("case 49: with the JSON protocol too, through its form and by asking again [A7]", async () => {
    const model = scripted(
      [
        '{"final":{"content":"3"}}',
        '{"action":{"tool":"add","args":{"a":1,"b":2}}}',
        '{"final":{"content":"It is 3."}}',
      ],
      { features: { tools: false, format: "schema" } },
    );
    const result = await agent({ name: "a", model, tools: [add], toolChoice: "required" }).run("1 + 2");
    expect(result.text).toBe("It is 3.");
    const forms = model.requests.map(({ format }) => JSON.stringify(format).includes('"final"'));
    expect(forms).toEqual([false, false, true]);
  });
});
