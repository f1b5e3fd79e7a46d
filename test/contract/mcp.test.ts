import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { InMemoryTransport, McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { callTool } from "../../src/adapters/lower-doors.ts";
import { type McpClient, mcpTools, type McpToolsOptions } from "../../src/adapters/mcp/tools.ts";
import { chatWith } from "../../src/model/chat.ts";
import { scripted } from "../../src/model/scripted.ts";
import type { Tool } from "../../src/tool/tool.ts";
import type { Json } from "../../src/util/json.ts";
import { mcpServer, type Seen } from "./mcp-server.ts";

interface Connected {
  readonly client: Client;
  /** Undefined where the server is another process. */
  readonly seen?: Seen;
  /** Ends the server, or the connection to it. */
  readonly end: () => unknown;
}

async function inMemory(): Promise<Connected> {
  const { server, seen } = mcpServer();
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "writ-test", version: "1.0.0" });
  await Promise.all([server.connect(theirs), client.connect(ours)]);
  onTestFinished(() => client.close());
  return { client, seen, end: () => client.close() };
}

async function overStdio(): Promise<Connected> {
  const path = fileURLToPath(new URL("mcp-server.ts", import.meta.url));
  const client = new Client({ name: "writ-test", version: "1.0.0" });
  const transport = new StdioClientTransport({ command: process.execPath, args: [path] });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, end: () => transport.pid !== null && process.kill(transport.pid, "SIGKILL") };
}

async function named(client: McpClient, options?: McpToolsOptions): Promise<(name: string) => Tool> {
  const tools = await mcpTools(client, options);
  return (name) => {
    const found = tools.find((tool) => tool.name === name);
    if (found === undefined) throw new Error(`no ${name} among ${tools.map((tool) => tool.name).join(", ")}`);
    return found;
  };
}

describe.each([
  ["in memory", inMemory],
  ["over stdio", overStdio],
])("an MCP server %s", (_where, connect) => {
  it("case 52: lists its tools on all pages, and calls them by their own names", async () => {
    const { client, seen } = await connect();
    const tools = await mcpTools(client, { server: "far" });
    expect(tools.map(({ name }) => name)).toEqual([
      "far/echo",
      "far/sum",
      "far/silent",
      "far/picture",
      "far/fail",
      "far/hang",
      "far/progress",
      "far/files/read_now",
      "far/files_list_now",
      "far/dropped",
    ]);
    const results = await Promise.all([
      callTool(tools, { name: "far/echo", arguments: { text: "hello" } }),
      callTool(tools, { name: "far/files/read_now" }),
      callTool(tools, { name: "far/files_list_now" }),
    ]);
    expect(results.map(({ status, value }) => [status, value])).toEqual([
      ["ok", "hello\n(twice)"],
      ["ok", "with a slash"],
      ["ok", "without one"],
    ]);
    if (seen !== undefined)
      expect(seen.calls.map(({ name }) => name)).toEqual(["echo", "files/read now", "files_list_now"]);
  });

  it("case 52: a result without text does not crash, whatever stands in it", async () => {
    const get = await named((await connect()).client);
    expect(await callTool(get("silent"), {})).toMatchObject({ status: "ok", text: "(no content)" });
    expect(await callTool(get("picture"), {})).toMatchObject({
      status: "ok",
      text: "[image: image/png, 2 bytes]\nthe file\n[file: application/zip, 2 bytes]\n[resource_link file:///c.txt]",
      files: [{ mediaType: "image/png" }, { mediaType: "application/zip" }],
    });
    expect(await callTool(get("sum"), { a: 1, b: 2 })).toMatchObject({ status: "ok", value: { sum: 3 } });
  });

  it("case 52: a tool that nobody has, one that the server dropped, and one that fails are results", async () => {
    const { client } = await connect();
    const tools = await mcpTools(client);
    const call = (name: string, args: Json = {}): ReturnType<typeof callTool> =>
      callTool(tools, { name, arguments: args });
    expect(await call("unknown")).toMatchObject({ status: "denied", note: "not-found" });
    expect(await call("dropped")).toMatchObject({
      status: "error",
      text: expect.stringMatching(/^Tool 'dropped' failed: .*no tool dropped/),
    });
    expect(await call("fail", { words: "the disk is full" })).toEqual(
      expect.objectContaining({ status: "error", text: "Tool 'fail' failed: the disk is full" }),
    );
    expect(await call("fail")).toMatchObject({
      status: "error",
      text: "Tool 'fail' failed: the server says that it failed, and not why",
    });
  });

  it("a server that is gone is a tool that fails", async () => {
    const { client, end } = await connect();
    const get = await named(client);
    const underWay = callTool(get("hang"), {});
    await callTool(get("echo"), { text: "?" });
    await end();
    expect(await underWay).toMatchObject({ status: "error" });
    expect(await callTool(get("echo"), { text: "?" })).toMatchObject({ status: "error" });
    await expect(mcpTools(client, { server: "far" })).rejects.toMatchObject({
      code: "mcp-unusable",
      retryable: true,
      data: { server: "far" },
    });
  });
});

describe("the tools of a stranger", () => {
  it("are held to their schemas here, before a call is sent and after it came back", async () => {
    const { client, seen } = await inMemory();
    const get = await named(client);
    expect(await callTool(get("sum"), { a: "one", b: 2 })).toMatchObject({ status: "invalid" });
    expect(await callTool(get("echo"), {})).toMatchObject({ status: "invalid" });
    expect(seen?.calls).toEqual([]);
    expect(await callTool(get("sum"), { a: 0, b: 2 })).toMatchObject({ status: "error" });
    const loose: McpClient = {
      listTools: () => client.listTools(),
      callTool: async () => ({ content: [], structuredContent: { sum: "three" } }),
    };
    expect(await callTool((await named(loose))("sum"), { a: 1, b: 2 })).toMatchObject({
      status: "error",
      text: "Tool 'sum' failed: its result does not match its output schema.",
    });
  });

  it("tell no integer that was rounded: the digits of the text beside it, or that it is about this one", async () => {
    const structured =
      '{"id": 9007199254740993, "big": 1234567890123456789, "round": 10000000000000000, "n": 7}';
    const exact = { id: "9007199254740993", big: "1234567890123456789", round: 1e16, n: 7 };
    const doubtful = {
      id: "about 9007199254740992",
      big: "about 1234567890123456800",
      round: "about 10000000000000000",
      n: 7,
    };
    const integers = ["id", "big", "round", "n"].map((name) => [name, { type: "integer" }] as const);
    const outputSchema = { type: "object", properties: Object.fromEntries(integers), required: ["n"] };
    for (const [text, expected] of [
      [structured, exact],
      ["Order 1234567890123456789 of 9007199254740993, beside 10000000000000000", exact],
      ["Found.", doubtful],
      ["9007199254740993 and 9007199254740992", doubtful],
      [undefined, doubtful],
    ] as const)
      for (const more of [{}, { outputSchema }]) {
        const client: McpClient = {
          listTools: async () => ({ tools: [{ name: "find", inputSchema: { type: "object" }, ...more }] }),
          callTool: async () => ({
            content: text === undefined ? [] : [{ type: "text", text }],
            structuredContent: JSON.parse(structured) as Json,
          }),
        };
        const result = await callTool((await named(client))("find"), {});
        expect(result).toMatchObject({ status: "ok", value: expected });
      }
    const wrong: McpClient = {
      listTools: async () => ({ tools: [{ name: "find", inputSchema: { type: "object" }, outputSchema }] }),
      callTool: async () => ({ content: [], structuredContent: { id: 2 ** 53 } }),
    };
    expect(await callTool((await named(wrong))("find"), {})).toMatchObject({ status: "error" });
  });

  it("say nothing that is believed about their effect, and little that is long", async () => {
    const tools = await mcpTools((await inMemory()).client);
    expect(new Set(tools.map(({ effect }) => effect))).toEqual(new Set(["undeclared"]));
    const long = tools.find(({ name }) => name === "files/read_now");
    expect(long?.description).toHaveLength(2001);
  });

  it("end at their time or with their caller, and the server is told", async () => {
    const { client, seen } = await inMemory();
    const get = await named(client, { timeoutMs: 20 });
    expect(await callTool(get("hang"), {})).toEqual({
      status: "timeout",
      text: "Tool 'hang' timed out after 20 ms.",
    });
    const patient = await named(client);
    const stop = new AbortController();
    const stopped = callTool(patient("hang"), {}, { signal: stop.signal });
    setTimeout(() => stop.abort(), 20);
    expect(await stopped).toMatchObject({ status: "cancelled" });
    await expect.poll(() => seen?.cancelled).toBe(2);
  });

  it("tell how far they are", async () => {
    const get = await named((await inMemory()).client);
    const told: Json[] = [];
    const context = { signal: new AbortController().signal, progress: (value: Json) => told.push(value) };
    expect(await get("progress").execute({}, context as never)).toBe("there");
    expect(told).toEqual([{ progress: 1, total: 2, message: "halfway" }]);
  });

  it("become a collection of tools whichever client has them: listed, described, called for a chat [H16]", async () => {
    const server = new McpServer({ name: "weather", version: "1.0.0" });
    server.registerTool(
      "get_weather",
      { description: "Weather for a city", inputSchema: z.object({ city: z.string() }) },
      ({ city }) => ({ content: [{ type: "text", text: `weather in ${city}: sunny` }] }),
    );
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const client = new Client({ name: "writ-test", version: "1.0.0" });
    await Promise.all([server.connect(theirs), client.connect(ours)]);
    onTestFinished(() => client.close());
    const model = scripted([
      { calls: [{ id: "c", name: "sky_get_weather", arguments: { city: "Lima" } }] },
      "Sunny.",
    ]);
    const tools = await mcpTools(client, { server: "sky" });
    const reply = await chatWith(model, { messages: "Weather?", tools });
    expect(model.requests[0]?.tools).toMatchObject([
      { name: "sky_get_weather", description: "Weather for a city", inputSchema: { required: ["city"] } },
    ]);
    const results = await Promise.all(reply.calls.map((call) => callTool([tools], call)));
    expect(results).toMatchObject([
      { name: "sky/get_weather", status: "ok", text: "weather in Lima: sunny" },
    ]);
  });

  it("cannot hold us up with a list that never ends, nor with one that cannot be", async () => {
    const endless = (cursor: (page: number) => string): McpClient => {
      let pages = 0;
      return {
        listTools: async () => ({ tools: [], nextCursor: cursor((pages += 1)) }),
        callTool: async () => ({}),
      };
    };
    for (const cursor of [() => "again", (page: number) => String(page)])
      await expect(mcpTools(endless(cursor))).rejects.toMatchObject({
        code: "mcp-unusable",
        message: expect.stringContaining("does not end"),
      });
    const listing = (...tools: { name: string; inputSchema: object }[]): McpClient => ({
      listTools: async () => ({ tools }),
      callTool: async () => ({}),
    });
    const fine = { name: "a", inputSchema: { type: "object" } };
    await expect(mcpTools(listing(fine, fine))).rejects.toMatchObject({ code: "name-taken" });
    const remote = { name: "b", inputSchema: { $ref: "https://example.com/schema.json" } };
    await expect(mcpTools(listing(fine, remote))).rejects.toMatchObject({
      code: "mcp-refused",
      message: expect.stringContaining('"b"'),
    });
    await expect(mcpTools(listing(fine), { server: "a b" })).rejects.toMatchObject({ code: "name-invalid" });
    const reason = new Error("enough");
    await expect(mcpTools(listing(fine), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const names = ["9 lives", "x".repeat(80), "suche_größe", "搜索"];
    const odd = await mcpTools(listing(...names.map((name) => ({ ...fine, name }))));
    expect(odd.map(({ name }) => name)).toEqual([
      "_9_lives",
      expect.stringMatching(/^x{57}_[a-z0-9]{6}$/),
      expect.stringMatching(/^suche_gr__e_[a-z0-9]{6}$/),
      expect.stringMatching(/^___[a-z0-9]{6}$/),
    ]);
    expect(await callTool(odd[0] as Tool, {})).toMatchObject({ status: "ok", text: "(no content)" });
  });
});
