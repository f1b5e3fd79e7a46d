import { describe, expect, it } from "vitest";
import { agent, skill, tool } from "../../src/index.ts";
import { callTool, readTranscript } from "../../src/doors.ts";
import type { JsonSchema } from "../../src/tools.ts";
import { scripted } from "../../src/testing.ts";

const within = (part: JsonSchema): JsonSchema => ({ type: "object", properties: { a: part } });

describe("a list with places that nothing was put in", () => {
  const sparse = (): unknown[] => {
    const entries: unknown[] = [];
    entries[50_000_000] = 1;
    return entries;
  };

  it.each<readonly [how: string, outputSchema: JsonSchema | undefined]>([
    ["a result", undefined],
    ["a result with a schema", { type: "object", properties: { a: { items: { type: "integer" } } } }],
    ["a result whose items must differ", within({ type: "array", uniqueItems: true })],
    ["a result out of a choice", within({ enum: [[1]] })],
    ["a result of which something is to be found", within({ contains: { const: 1 } })],
  ])("is no JSON, and not walked through: as %s", async (_, outputSchema) => {
    const holes = tool({
      name: "holes",
      description: "d",
      inputSchema: { type: "object" },
      ...(outputSchema === undefined ? {} : { outputSchema }),
      execute: () => ({ a: sparse() }),
    });
    const model = scripted([{ calls: [{ name: "holes", arguments: {} }] }, "ok"]);
    const run = await agent({ name: "a", model, tools: [holes] }).run("x");
    expect(run.transcript.messages.find(({ role }) => role === "tool")).toMatchObject({
      status: "error",
      note: expect.stringContaining("nothing was put in at place 0") as string,
    });
  });

  it("is refused as arguments, in a schema and as a transcript", async () => {
    const ran: unknown[] = [];
    const plain = { name: "t", description: "d", execute: (args: unknown) => void ran.push(args) };
    const refused = await callTool(tool({ ...plain, inputSchema: { type: "object" } }), {
      a: sparse() as never,
    });
    expect(refused).toMatchObject({
      status: "invalid",
      text: expect.stringContaining("at place 0") as string,
    });
    expect(ran).toEqual([]);
    expect(() => tool({ ...plain, inputSchema: { enum: sparse() as never } })).toThrow("at place 0");
    expect(() => readTranscript({ messages: sparse() as never })).toThrow("message 0 is no message");
  });

  it("fails as the result of a plain skill, and as what a hook gives", async () => {
    const plain = skill({ name: "plain", description: "d", execute: sparse });
    const hooked = {
      model: scripted(["ok"]),
      hooks: [{ beforeRun: () => ({ input: sparse() as never }) }],
    };
    const runs = [agent({ name: "a", skills: [plain] }), agent({ name: "a", ...hooked })];
    const ends = await Promise.all(runs.map(async (each) => each.run("x")));
    for (const { error } of ends) expect(error?.message).toContain("nothing was put in at place 0");
  });
});

describe("bytes in a buffer", () => {
  it.each<readonly [what: string, execute: () => unknown]>([
    ["a list of bytes", () => new Uint8Array(5e7)],
    ["a buffer", () => new ArrayBuffer(5e7)],
    ["a view inside an object", () => ({ file: { data: new DataView(new ArrayBuffer(5e7)) } })],
  ])("are no JSON, and not written out one by one: %s", async (_, execute) => {
    const picture = tool({ name: "picture", description: "d", inputSchema: { type: "object" }, execute });
    expect(await callTool(picture, {})).toMatchObject({
      status: "error",
      note: expect.stringContaining("50000000 bytes") as string,
    });
  });
});
