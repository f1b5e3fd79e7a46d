import { describe, expect, it } from "vitest";
import { callTool } from "../../src/adapters/lower-doors.ts";
import {
  type McpClient,
  type McpTool,
  mcpTools,
  type McpToolsOptions,
} from "../../src/adapters/mcp/tools.ts";
import type { Tool } from "../../src/tool/tool.ts";
import { cpuMsUntil } from "../cpu-time.ts";

const object = { type: "object", properties: {} };
const named = (...names: string[]): McpTool[] => names.map((name) => ({ name, inputSchema: object }));

function taking(
  tools: readonly McpTool[],
  options: McpToolsOptions = { server: "far" },
): Promise<readonly Tool[]> {
  const client: McpClient = { listTools: async () => ({ tools }), callTool: async () => ({ content: [] }) };
  return mcpTools(client, options);
}

const refused = (reason: string): unknown =>
  expect.objectContaining({ code: "mcp-refused", message: expect.stringContaining(reason) as string });

describe("names of a stranger's tools", () => {
  it.each([
    ["zero-width", "read\u200B_file", "U+200B"],
    ["bidirectional", "read\u202Etxt", "U+202E"],
    ["isolate", "\u2066read", "U+2066"],
    ["tag", "read\u{E0072}\u{E007F}", "U+E0072"],
    ["variation selector", "read\u{E0100}", "U+E0100"],
    ["soft hyphen", "re\u00ADad", "U+00AD"],
    ["line break", "read\nfile", "U+000A"],
    ["NUL", "read\u0000", "U+0000"],
    ["half sign", "read\uD83D", "U+D83D"],
    ["Hangul filler", "read\u3164", "U+3164"],
  ])("are refused with a hidden character: %s", async (_what, name, codePoint) => {
    await expect(taking(named(name))).rejects.toEqual(refused(codePoint));
  });

  it.each([
    ["Latin and Cyrillic", "read_filе"],
    ["Latin and Greek", "reαd"],
    ["Cyrillic and Greek", "рα"],
    ["Latin and Armenian", "reaԁօ"],
    ["Latin and Cherokee", "ꮇail"],
  ])("are refused with mixed scripts: %s", async (_what, name) => {
    await expect(taking(named(name))).rejects.toEqual(refused("mixes letters"));
  });

  it.each([
    ["read_file"],
    ["читать"],
    ["διάβασε"],
    ["搜索_v2"],
    ["ファイル検索"],
    ["קרא"],
    ["lesen_größe"],
    ["naïve"],
  ])("are taken in one script: %s", async (name) => {
    const [tool] = await taking(named(name));
    expect(tool?.name).toMatch(/^far\/[\w.-]+$/);
  });

  it.each([
    ["the very same", ["read", "read"], "name-taken"],
    ["case", ["read", "Read"], "mcp-refused"],
    ["signs between words", ["read_file", "read-file"], "mcp-refused"],
    ["a slash", ["files/read", "files_read"], "mcp-refused"],
    ["width", ["read", "ｒｅａｄ"], "mcp-refused"],
    ["digits", ["list_all", "1ist_all"], "mcp-refused"],
    ["capital I", ["mail", "maiI"], "mcp-refused"],
    ["letters of another script", ["copy", "сору"], "mcp-refused"],
    ["accents", ["resume", "résumé"], "mcp-refused"],
    ["rn", ["form", "forrn"], "mcp-refused"],
  ])("are refused where two can be taken for each other: %s", async (_what, names, code) => {
    await expect(taking(named(...names))).rejects.toMatchObject({ code });
  });

  it("are refused where they can be taken for a tool that is there", async () => {
    const beside = [{ name: "send_email" }, { name: "other/send" }];
    await expect(taking(named("send_emaiI"), { beside })).rejects.toEqual(refused('"send_email"'));
    await expect(taking(named("send"), { server: "0ther", beside })).rejects.toMatchObject({
      code: "name-invalid",
    });
    await expect(taking(named("send"), { server: "Other", beside })).rejects.toEqual(refused('"other/send"'));
    expect(await taking(named("send_email"), { server: "far", beside })).toHaveLength(1);
  });

  it("are refused when they are missing or endless, and cut when they are long", async () => {
    await expect(taking(named(""))).rejects.toEqual(refused("no name"));
    await expect(taking([{ inputSchema: object } as unknown as McpTool])).rejects.toEqual(refused("no name"));
    await expect(taking(named("x".repeat(10_000)))).rejects.toEqual(refused("10000 characters"));
    const [long, other] = await taking(named(`${"x".repeat(80)}a`, `${"x".repeat(80)}b`));
    expect(long?.name).toHaveLength(64);
    expect(other?.name).not.toBe(long?.name);
  });

  it.each(["constructor", "__proto__", "toString", "then", "hasOwnProperty"])(
    "are only names: %s",
    async (name) => {
      const tools = await taking(named(name, "other"), {
        server: "far",
        tools: { other: { effect: "read" } },
      });
      expect(tools.map(({ effect }) => effect)).toEqual(["undeclared", "read"]);
      expect(await callTool([tools], { name: `far/${name}` })).toMatchObject({ status: "ok" });
    },
  );
});

describe("what a stranger says of its tools", () => {
  const saying = (description: string): McpTool[] => [{ name: "read", description, inputSchema: object }];

  it.each([
    ["zero-width", "Reads\u200B", "U+200B at 5"],
    ["bidirectional", "Reads \u202Eelif", "U+202E"],
    [
      "tag characters",
      `Reads ${"evil".replaceAll(/./g, (sign) => String.fromCodePoint(0xe0000 + sign.charCodeAt(0)))}`,
      "U+E0065",
    ],
    ["selectors as bits", "a\uFE0Fb\uFE0F", "U+FE0F"],
    ["joiners as bits", "Reads\u200D\u200C", "U+200D"],
    ["terminal escapes", "Reads \u001B[8m", "U+001B"],
    ["private signs", "Reads \uE000", "U+E000"],
  ])("is refused with hidden text: %s", async (_what, description, where) => {
    await expect(taking(saying(description))).rejects.toEqual(refused(where));
  });

  it.each([
    ["⚠️ Careful: 1️⃣ first"],
    ["👩‍💻 writes code 👍🏽"],
    ["می‌خواهم"],
    ["क्‍ष"],
    ["Zeile\n\tzwei\r\n"],
    ["日本語。"],
  ])("is taken when it is only written so: %j", async (description) => {
    expect((await taking(saying(description)))[0]?.description).toBe(description);
  });

  it("is refused with hidden text anywhere in a schema, and names the place", async () => {
    const hidden = { type: "object", properties: { a: { enum: ["x", "y\u{E0041}"] } } };
    await expect(taking([{ name: "read", inputSchema: hidden }])).rejects.toEqual(
      refused("U+E0041 in properties.a.enum[1]"),
    );
    const key = { type: "object", properties: { "a\u200B": {} } };
    await expect(taking([{ name: "read", inputSchema: key }])).rejects.toEqual(
      refused("U+200B in a name in properties"),
    );
    await expect(taking([{ name: "read", inputSchema: object, outputSchema: key }])).rejects.toEqual(
      refused("outputSchema"),
    );
  });

  it("is shown in part when it is endless", async () => {
    const [tool] = await taking(saying("x".repeat(1_000_000)));
    expect(tool?.description).toHaveLength(2_001);
    await expect(taking(saying("x".repeat(3_000_000)))).rejects.toEqual(refused("2000000"));
  });

  it("is not looked at where it is not taken", async () => {
    const tools = await taking(
      [...named("read"), ...saying("\u200B"), { name: "x\u202E", inputSchema: object }].slice(0, 3),
      {
        server: "far",
        only: ["x"],
      },
    ).catch((error: unknown) => error);
    expect(tools).toMatchObject({ code: "tool-unknown" });
    const bad = { name: "bad\u202E", inputSchema: object };
    expect(await taking([...named("read"), bad], { server: "far", only: ["read"] })).toHaveLength(1);
  });
});

describe("schemas of a stranger", () => {
  const schema = (inputSchema: object): McpTool[] => [{ name: "read", inputSchema }];

  it("never make a request, and lead nowhere outside of themselves", async () => {
    const remote = { type: "object", properties: { a: { $ref: "https://example.com/schema.json" } } };
    await expect(taking(schema(remote))).rejects.toMatchObject({
      code: "mcp-refused",
      message: expect.stringContaining("nothing is fetched") as string,
      hint: expect.stringContaining("`only: [names]` takes other tools") as string,
      cause: { code: "schema-invalid" },
    });
    const both = [...schema(remote), { name: "write", inputSchema: object, outputSchema: remote }];
    await expect(taking(both, { server: "far" })).rejects.toThrow(
      /^The MCP server far offers a list with "read", "write", which is refused: the input schema of "far\/read" .* the output schema of "far\/write" /,
    );
    const circle = { allOf: [{ $ref: "#" }] };
    await expect(taking(schema(circle))).rejects.toMatchObject({ code: "mcp-refused" });
  });

  it("cannot hold us up with a pattern", async () => {
    const slow = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } };
    const [tool] = await taking(schema(slow));
    const sending = async (): Promise<void> =>
      expect(tool && (await callTool(tool, { a: `${"a".repeat(50_000)}!` }))).toMatchObject({
        status: "invalid",
      });
    expect(await cpuMsUntil(2_000, sending)).toBeLessThan(2_000);
    const client: McpClient = {
      listTools: async () => ({ tools: [{ name: "read", inputSchema: object, outputSchema: slow }] }),
      callTool: async () => ({ content: [], structuredContent: { a: `${"a".repeat(50_000)}!` } }),
    };
    const [read] = await mcpTools(client);
    const reading = async (): Promise<void> =>
      expect(read && (await callTool(read, {}))).toMatchObject({ status: "error" });
    expect(await cpuMsUntil(2_000, reading)).toBeLessThan(2_000);
  });

  it.each<[string, () => object]>([
    ["long", () => ({ type: "object", description: "x".repeat(50_000) })],
    [
      "deep",
      () =>
        Array.from({ length: 100 }).reduce<object>(
          (inner) => ({ type: "object", properties: { a: inner } }),
          {},
        ),
    ],
    [
      "full of references",
      () => ({
        type: "object",
        allOf: Array.from({ length: 300 }, () => ({ $ref: "#/$defs/a" })),
        $defs: { a: {} },
      }),
    ],
    [
      "a trap for prototypes",
      () => JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}') as object,
    ],
  ])("are refused when they are %s", async (_what, make) => {
    await expect(taking(schema(make()))).rejects.toEqual(refused("it"));
  });

  it("cost little however they are twisted, within what is taken", async () => {
    const twice = (name: string): object => ({
      allOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }],
    });
    const doubling = {
      type: "object",
      ...twice("d0"),
      $defs: {
        ...Object.fromEntries(
          Array.from({ length: 60 }, (_, level) => [`d${level}`, twice(`d${level + 1}`)]),
        ),
        d60: {},
      },
    };
    const wide = {
      type: "object",
      properties: Object.fromEntries(
        Array.from({ length: 300 }, (_, count) => [`p${count}`, { type: "string" }]),
      ),
    };
    const inlined = {
      type: "object",
      allOf: Array.from({ length: 190 }, () => ({ $ref: "#/$defs/wide" })),
      $defs: { wide },
    };
    const choices = {
      type: "object",
      anyOf: Array.from({ length: 1_500 }, (_, count) => ({ required: [`p${count}`] })),
    };
    for (const bomb of [doubling, inlined, choices]) {
      const taken = async (): Promise<void> => {
        const [tool] = await taking(schema(bomb));
        const result = tool && (await callTool(tool, { a: 1 }));
        expect(result?.status).toMatch(/ok|invalid/);
      };
      expect(await cpuMsUntil(8_000, taken)).toBeLessThan(8_000);
    }
  });

  it("are bounded in number", async () => {
    await expect(
      taking(named(...Array.from({ length: 1_001 }, (_, count) => `tool_${count}`))),
    ).rejects.toMatchObject({
      code: "mcp-unusable",
      message: expect.stringContaining("more than 1000 tools") as string,
    });
  });
});

const given = (result: unknown): Promise<readonly Tool[]> =>
  mcpTools({
    listTools: async () => ({ tools: named("go") }),
    callTool: async () => result as object,
  });

describe("files in results", () => {
  it.each(["image", "audio"])("are those of content that is %s", async (type) => {
    const [go] = await given({ content: [{ type, data: "aGk=", mimeType: `${type}/x-own` }] });
    expect(await callTool(go as Tool, {})).toMatchObject({
      status: "ok",
      files: [{ mediaType: `${type}/x-own`, data: "aGk=" }],
    });
  });

  it("are not the data of content of a kind that is unknown", async () => {
    const [go] = await given({ content: [{ type: "smell", data: "aGk=", mimeType: "smell/x-own" }] });
    expect(await callTool(go as Tool, {})).not.toHaveProperty("files");
  });
});

describe("results that are none", () => {
  it.each([null, undefined, 5, "x", true, [["a"]]])("%j is a failure", async (result) => {
    const [go] = await given(result);
    const { status, text } = await callTool(go as Tool, {});
    expect({ status, text }).toEqual({
      status: "error",
      text: "Tool 'go' failed: what the client gave is no result of a tool",
    });
  });

  it.each([true, "true", 1, {}])("with isError %j is a failure", async (isError) => {
    const [go] = await given({ content: [{ type: "text", text: "it broke" }], isError });
    expect(await callTool(go as Tool, {})).toMatchObject({
      status: "error",
      text: "Tool 'go' failed: it broke",
    });
  });

  it.each([false, null, undefined])("with isError %j is none", async (isError) => {
    const [go] = await given({ content: [{ type: "text", text: "done" }], isError });
    expect(await callTool(go as Tool, {})).toMatchObject({ status: "ok", text: "done" });
  });
});
