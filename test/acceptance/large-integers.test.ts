import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, tool } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";
import { type DataTool, validateCall } from "../../src/tools.ts";

const large = "9007199254740993";
const told = "is too large to be exact: send an integer between -9007199254740991 and 9007199254740991";

const number: DataTool["inputSchema"] = {
  type: "object",
  properties: { to: { type: "string" }, amounts: { type: "array", items: { type: "integer" } } },
};

describe("an integer beyond 2^53 in arguments", () => {
  it.each([
    ["zod", z.object({ to: z.string(), amounts: z.array(z.number()) })],
    ["zod's integers", z.object({ to: z.string(), amounts: z.array(z.int()) })],
    ["a JSON Schema", number],
  ])("is told to the model as too large, and not as a text: %s", async (_name, inputSchema) => {
    const paid: unknown[] = [];
    const pay = tool({
      name: "pay",
      description: "Pays",
      inputSchema,
      effect: "write",
      execute: (args) => paid.push(args),
    });
    const args = `{"to": "Ada", "amounts": [1, ${large}]}`;
    const model = scripted([{ calls: [{ name: "pay", arguments: args }] }, "Sorry."]);
    const { transcript } = await agent({ name: "payer", model, tools: [pay] }).run("Pay");
    const result = transcript.messages.find(({ role }) => role === "tool");
    expect(result).toMatchObject({
      status: "invalid",
      text: expect.stringContaining(`amounts[1]: ${large} ${told}`),
    });
    expect(JSON.stringify(result)).not.toContain("received string");
    expect(paid).toEqual([]);
  });

  it("is told so of tools as data too", async () => {
    const checked = await validateCall(
      { name: "pay", description: "", inputSchema: number },
      { amounts: [`-${large}`] },
    );
    expect(JSON.stringify(checked)).toContain(`-${large} ${told}`);
  });

  it("is a text like others where something else is wrong with it", async () => {
    const short = {
      type: "object",
      properties: { id: { type: "string", maxLength: 5 }, ok: { type: "boolean" } },
    };
    const checked = await validateCall(
      { name: "look", description: "", inputSchema: short },
      { id: large, ok: large },
    );
    expect(JSON.stringify(checked)).not.toContain("too large");
  });
});
