import { describe, expect, it } from "vitest";
import { type Deeds, faultOf } from "../../../src/eval/probe/run-case.ts";
import type { ProbeCase } from "../../../src/eval/probe/probe-case.ts";
import { tool } from "../../../src/tool/tool.ts";
import type { Json } from "../../../src/util/json.ts";

const move = tool({
  name: "move",
  description: "Move",
  inputSchema: {
    type: "object",
    properties: { to: { type: "string" }, steps: { type: "integer" } },
    required: ["to"],
  },
  execute: () => "moved",
});

const base: ProbeCase = {
  name: "move",
  input: "Move",
  tools: [move],
  calls: [
    { tool: "move", arguments: [{ to: "left" }] },
    { tool: "move", arguments: [{ to: "Right", steps: 2 }] },
  ],
};

function deeds(answer: string | undefined, ...made: readonly Json[]): Deeds {
  return {
    proposed: made.length,
    ran: made.map((args) => ({ tool: "move", arguments: args })),
    ...(answer === undefined ? {} : { answer }),
  };
}

describe("faultOf", () => {
  it("takes calls in any order, with arguments as their schema reads them", async () => {
    const ran = deeds("Done", { steps: "2", to: " right " }, { to: "left" });
    expect(await faultOf(base, ran)).toBeUndefined();
    expect(await faultOf({ ...base, order: "fixed" }, ran)).toBe(
      'it called move {"steps":"2","to":" right "}',
    );
  });

  it("names a call too many, one that is missing, and one that is wrong", async () => {
    const left = { to: "left" };
    const right = { to: "right", steps: 2 };
    expect(await faultOf(base, deeds("Done", left, right, left))).toBe('it called move {"to":"left"}');
    expect(await faultOf(base, deeds("Done", left))).toBe("it did not call move");
    expect(await faultOf(base, deeds("Done", left, { to: "right" }))).toBe('it called move {"to":"right"}');
    expect(await faultOf({ ...base, mayRepeat: true }, deeds("Done", left, left, right))).toBeUndefined();
  });

  it("lets no call pass where none was needed, not even one that did not run", async () => {
    const none = { ...base, calls: [] };
    expect(await faultOf(none, deeds("Hello"))).toBeUndefined();
    expect(await faultOf(none, { proposed: 1, ran: [], answer: "Hello" })).toBe(
      "it called a tool, and none was needed",
    );
    expect(await faultOf(none, deeds(undefined))).toBe("there is no answer");
    expect(await faultOf(none, deeds("  "))).toBe("the answer is empty");
  });

  it("finds words whatever their case, and numbers only whole", async () => {
    const wants = (answer: ProbeCase["answer"]): ProbeCase => ({
      ...base,
      calls: [],
      ...(answer && { answer }),
    });
    const says = async (
      answer: string,
      ...wanted: readonly (string | readonly string[])[]
    ): Promise<boolean> => (await faultOf(wants(wanted), deeds(answer))) === undefined;
    expect(await says("It is OSLO.", "Oslo")).toBe(true);
    expect(await says("It is 7°C.", "7")).toBe(true);
    expect(await says("It is 17 or 7.5.", "7")).toBe(false);
    expect(await says("That makes 1,801.00.", "1801")).toBe(true);
    expect(await says("It is −11.25", "-11.25")).toBe(true);
    expect(await says("It was sent", ["shipped", "sent"])).toBe(true);
    expect(await says("It was lost", ["shipped", "sent"])).toBe(false);
  });
});
