import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent } from "../../src/index.ts";
import { reactDriver } from "../../src/drivers.ts";
import { scripted } from "../../src/testing.ts";
import { add } from "./calculator.ts";

const decision = z.object({ confidence: z.number().min(0).max(1), plan: z.array(z.string()).optional() });
const acts = { thought: "a sum", type: "call_tool", tool: "add", args: { a: 1, b: 2 } };
const answers = { thought: "done", type: "final_answer", answer: "3" };

describe("ReAct with a decision schema of the author's", () => {
  it("wants its fields of each decision, and tells the model of those that do not fit [C5.7]", async () => {
    const model = scripted([
      JSON.stringify(acts),
      JSON.stringify({ ...acts, confidence: 2 }),
      JSON.stringify({ ...acts, confidence: 0.9, plan: ["add"] }),
      JSON.stringify({ confidence: 1, ...answers }),
    ]);
    const ended = await agent({ name: "a", model, driver: reactDriver({ decision }), tools: [add] }).run(
      "1 + 2",
    );
    expect(ended.outcome).toMatchObject({ type: "answered", content: "3" });
    const said = JSON.stringify(model.requests.at(-1)?.messages);
    expect(said).toContain("Observation: ERROR - The decision is not valid: confidence");
    expect(JSON.stringify(model.requests[0]?.messages[0])).toContain("confidence");
    expect(ended.transcript.messages.at(-1)).toMatchObject({
      raw: expect.stringContaining('"confidence":1'),
    });
  });

  it("holds a model that can be constrained to them [C5.7]", async () => {
    for (const format of ["schema", "grammar"] as const) {
      const model = scripted([JSON.stringify({ confidence: 1, ...answers })], { features: { format } });
      await agent({ name: "a", model, driver: reactDriver({ decision }), tools: [add] }).run("1 + 2");
      expect(JSON.stringify(model.requests[0]?.format)).toContain("confidence");
    }
  });

  it("must be the schema of an object with fields of its own [C5.7]", () => {
    expect(() => reactDriver({ decision: z.string() })).toThrow(/an object with fields/);
    expect(() => reactDriver({ decision: z.object({ tool: z.string() }) })).toThrow(/"tool"/);
    const defs = { $defs: { x: { type: "string" } } };
    const refers = { type: "object", properties: { a: { $ref: "#/$defs/x" } }, ...defs };
    expect(() => reactDriver({ decision: refers })).toThrow(/without references/);
  });
});
