import { describe, expect, it } from "vitest";
import { mcpTools } from "../../src/adapters/mcp/tools.ts";
import { agent, type RunResult, tool } from "../../src/index.ts";
import type { JsonSchema } from "../../src/tools.ts";
import { scripted } from "../../src/testing.ts";

const list = <Item>(length: number, make: (index: number) => Item): Item[] =>
  Array.from({ length }, (_, index) => make(index));

const resultsOf = ({ transcript }: RunResult<unknown>): readonly unknown[] =>
  transcript.messages.filter(({ role }) => role === "tool");

const within = (part: JsonSchema): JsonSchema => ({ type: "object", properties: { a: part } });
const alternatives = within({ items: { anyOf: list(900, (each) => ({ const: `x${each}` })) } });
const different = within({ type: "array", uniqueItems: true });

const manyTexts = { a: list(100_000, () => "x899") };
const manyObjects = { a: list(100_000, (k) => ({ k })) };

const tooLarge = expect.stringContaining("too large for its schema") as string;

describe("a value that multiplies with its schema", () => {
  const asked = async (outputSchema: JsonSchema, structuredContent: unknown) => {
    const client = {
      listTools: async () => ({ tools: [{ name: "go", inputSchema: { type: "object" }, outputSchema }] }),
      callTool: async () => ({ content: [], structuredContent }),
    };
    const tools = await mcpTools(client, { server: "s" });
    const model = scripted([{ calls: [{ name: "s/go", arguments: {} }] }, "ok"]);
    const run = await agent({ name: "a", model, tools }).run("x");
    expect(run.text).toBe("ok");
    return resultsOf(run)[0];
  };

  it("is a call that fails where an MCP server answers with it, and the run goes on", async () => {
    expect(await asked(alternatives, manyTexts)).toMatchObject({ status: "error", note: tooLarge });
    expect(await asked(different, manyObjects)).toMatchObject({ status: "ok" });
  });

  it("is refused as arguments, and the tool does not run", async () => {
    const ran: string[] = [];
    const takes = (name: string, inputSchema: JsonSchema) =>
      tool({ name, description: "d", inputSchema, execute: () => void ran.push(name) });
    const calls = [
      { name: "alternatives", arguments: manyTexts },
      { name: "different", arguments: manyObjects },
    ];
    const tools = [takes("alternatives", alternatives), takes("different", different)];
    const run = await agent({ name: "a", model: scripted([{ calls }, "ok"]), tools }).run("x");
    expect(resultsOf(run)).toMatchObject([{ status: "invalid", text: tooLarge }, { status: "ok" }]);
    expect(ran).toEqual(["different"]);
  });

  it("is sent back as an answer", async () => {
    const model = scripted([JSON.stringify(manyTexts), JSON.stringify({ a: ["x1"] })]);
    const run = await agent({ name: "a", model, output: alternatives }).run("x");
    expect(run.output).toEqual({ a: ["x1"] });
    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain("too large for its schema");
  });
});
