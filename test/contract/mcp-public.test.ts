import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { callTool } from "../../src/adapters/lower-doors.ts";
import { connectMcp, type McpConnection, type McpServer } from "../../src/adapters/mcp/tools.ts";
import { agent } from "../../src/adapters/node.ts";
import { jsonDriver } from "../../src/driver/json.ts";
import { scripted } from "../../src/model/scripted.ts";
import type { Json } from "../../src/util/json.ts";

const require = createRequire(import.meta.url);

/** The programs of public servers, as npm has them. */
const programs = {
  everything: require.resolve("@modelcontextprotocol/server-everything/dist/index.js"),
  filesystem: require.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"),
  memory: require.resolve("@modelcontextprotocol/server-memory/dist/index.js"),
  "sequential-thinking": require.resolve("@modelcontextprotocol/server-sequential-thinking/dist/index.js"),
};

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "writ-public-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function connect(
  server: keyof typeof programs,
  options: Partial<McpServer> & { args?: readonly string[] } = {},
): Promise<McpConnection> {
  const { args = [], ...rest } = options;
  const command = process.execPath;
  const connection = await connectMcp({
    name: server,
    command,
    timeoutMs: 20_000,
    ...rest,
    args: [programs[server], ...args],
  });
  onTestFinished(() => connection.close());
  return connection;
}

const call = ({ tools }: McpConnection, name: string, args: Json = {}): ReturnType<typeof callTool> =>
  callTool([tools], { name, arguments: args });

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function everythingOverHttp(): Promise<McpConnection> {
  const port = await freePort();
  const child: ChildProcess = spawn(process.execPath, [programs.everything, "streamableHttp"], {
    env: { PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on("data", (chunk: unknown) => String(chunk).includes(String(port)) && resolve());
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  const url = `http://127.0.0.1:${port}/mcp`;
  const connection = await connectMcp({ name: "everything", url, timeoutMs: 20_000 });
  onTestFinished(() => connection.close());
  return connection;
}

describe.each([
  ["over stdio", () => connect("everything")],
  ["over HTTP", everythingOverHttp],
])("case 52: the public server everything %s [MCP-client, H16]", (_where, open) => {
  it("is listed and called, with its schemas held to here", async () => {
    const everything = await open();
    expect(everything.tools.length).toBeGreaterThan(10);
    expect(everything.tools.map(({ name }) => name)).toContain("everything/get-sum");
    expect(await call(everything, "everything/echo", { message: "hello" })).toMatchObject({
      status: "ok",
      value: "Echo: hello",
    });
    expect(await call(everything, "everything/get-sum", { a: 2, b: 3 })).toMatchObject({
      status: "ok",
      text: expect.stringContaining("5") as string,
    });
    expect(await call(everything, "everything/get-sum", { a: "two", b: 3 })).toMatchObject({
      status: "invalid",
    });
    expect(
      await call(everything, "everything/get-structured-content", { location: "Chicago" }),
    ).toMatchObject({
      status: "ok",
      value: { temperature: expect.any(Number) as number },
    });
    expect(await call(everything, "everything/get-tiny-image")).toMatchObject({
      status: "ok",
      text: expect.stringContaining("[image: image/png, 4.0 kB]") as string,
      files: [
        { type: "file", mediaType: "image/png", data: expect.stringMatching(/^iVBORw0KGgo/) as string },
      ],
    });
    expect(await call(everything, "everything/no-such-tool")).toMatchObject({ status: "denied" });
  });

  it("tells how far a long call is, and is stopped in it", async () => {
    const everything = await open();
    const long = everything.tool("trigger-long-running-operation");
    const told: Json[] = [];
    const context = { signal: new AbortController().signal, progress: (value: Json) => told.push(value) };
    await long.execute({ duration: 0.4, steps: 2 }, context as never);
    expect(told[0]).toMatchObject({ progress: 1, total: 2 }); // the last one can come after the result
    const stop = new AbortController();
    const stopped = callTool(long, { duration: 60, steps: 2 }, { signal: stop.signal });
    setTimeout(() => stop.abort(), 100);
    expect(await stopped).toMatchObject({ status: "cancelled" });
    expect(await call(everything, "everything/echo", { message: "still there" })).toMatchObject({
      status: "ok",
    });
  });
});

describe("public servers", () => {
  it("case 52: everything sees no variable of this process but PATH", async () => {
    process.env["WRIT_TEST_TOKEN"] = "do not pass on";
    onTestFinished(() => void delete process.env["WRIT_TEST_TOKEN"]);
    const everything = await connect("everything", { env: { GIVEN: "yes" } });
    const { text } = await call(everything, "everything/get-env");
    const names = Object.keys(JSON.parse(text) as object).filter((name) => !name.startsWith("__CF"));
    expect(names.toSorted()).toEqual(["GIVEN", "PATH"]);
  });

  it("everything is read: its resources are knowledge, its prompts tools, and its questions go to whoever approves", async () => {
    const everything = await connect("everything", { resources: true, prompts: true, elicitation: true });
    expect(everything.knowledge.length).toBeGreaterThan(3);
    expect(everything.prompts.map(({ name }) => name)).toContain("everything/simple-prompt");
    const [first] = everything.knowledge;
    const reading = await callTool([everything.knowledge], { name: first?.name ?? "" });
    expect(reading).toMatchObject({ status: "ok", text: expect.stringContaining("server") as string });
    const prompt = await callTool([everything.prompts], { name: "everything/simple-prompt", arguments: {} });
    expect(prompt).toMatchObject({ status: "ok", text: expect.stringContaining("prompt") as string });
    const asking = scripted([
      { calls: [{ name: "everything/trigger-elicitation-request", arguments: {} }] },
      "Done.",
    ]);
    const asker = agent({ name: "asker", model: asking, tools: everything.tools });
    const reasons: string[] = [];
    const { transcript } = await asker.run("Ask me", {
      approve({ reason }) {
        reasons.push(reason);
        return { approved: true, arguments: { name: "Ada", check: true } };
      },
    });
    expect(reasons).toEqual([expect.stringContaining("its server asks: ")]);
    expect(JSON.stringify(transcript.messages)).toContain("Ada");
  });

  it("case 52: filesystem reads and writes in its folder and refuses what is outside, as a call that failed", async () => {
    const path = folder();
    mkdirSync(join(path, "in"));
    writeFileSync(join(path, "outside.txt"), "secret");
    writeFileSync(join(path, "in/a.txt"), "hello");
    const files = await connect("filesystem", {
      args: [join(path, "in")],
      only: ["read_text_file", "write_file"],
    });
    expect(files.tools.map(({ name }) => name)).toEqual([
      "filesystem/read_text_file",
      "filesystem/write_file",
    ]);
    const read = await call(files, "filesystem/read_text_file", { path: join(path, "in/a.txt") });
    expect(read).toMatchObject({ status: "ok", text: expect.stringContaining("hello") as string });
    const written = { path: join(path, "in/b.txt"), content: "written" };
    expect(await call(files, "filesystem/write_file", written)).toMatchObject({ status: "ok" });
    expect(readFileSync(join(path, "in/b.txt"), "utf8")).toBe("written");
    const outside = await call(files, "filesystem/read_text_file", { path: join(path, "outside.txt") });
    expect(outside).toMatchObject({ status: "error" });
    expect(outside.text).not.toContain("secret");
    expect(await call(files, "filesystem/read_text_file", {})).toMatchObject({ status: "invalid" });
  });

  it("case 52: memory keeps a graph, with results that its output schemas are held to", async () => {
    const env = { MEMORY_FILE_PATH: join(folder(), "memory.jsonl") };
    const memory = await connect("memory", { env });
    const entities = [{ name: "tea", entityType: "drink", observations: ["is hot"] }];
    expect(await call(memory, "memory/create_entities", { entities })).toMatchObject({ status: "ok" });
    expect(await call(memory, "memory/search_nodes", { query: "tea" })).toMatchObject({
      status: "ok",
      value: { entities: [{ name: "tea" }] },
    });
    expect(await call(memory, "memory/create_entities", { entities: [{ name: 1 }] })).toMatchObject({
      status: "invalid",
    });
  });

  it("case 52: are shown to the json driver by their own names and their schemas to the letter [P8.1, P8.3]", async () => {
    const server = await connect("sequential-thinking");
    const args = { thought: "Look.", thoughtNumber: 1, totalThoughts: 1, nextThoughtNeeded: false };
    const action = { action: { tool: "sequential-thinking/sequentialthinking", args } };
    const model = scripted([JSON.stringify(action), JSON.stringify({ final: { content: "Done." } })], {
      features: { tools: false },
    });
    const driver = jsonDriver({ show: "schemas" });
    const result = await agent({ name: "thinker", model, driver, tools: server.tools }).run("Think.");
    expect(result.outcome).toMatchObject({ type: "answered" });
    const [tool] = server.tools;
    const system = model.requests[0]?.messages[0];
    expect(system?.role === "system" && system.text).toContain(
      `args: ${JSON.stringify(tool?.input.jsonSchema)}`,
    );
    expect(tool?.input.jsonSchema).toMatchObject({
      required: expect.arrayContaining(["thought"]) as string[],
    });
    expect(JSON.stringify(result.transcript)).toContain("thoughtHistoryLength");
  });

  it("case 52: keep their pins from one connection to the next, and lose a tool that is annotated otherwise", async () => {
    const pins = join(folder(), "pins.json");
    const server = { args: [folder()], pins, only: ["read_text_file", "list_directory"] };
    await connect("filesystem", { ...server, approve: "first-use" });
    expect((await connect("filesystem", server)).tools).toHaveLength(2);
    const kept = JSON.parse(readFileSync(pins, "utf8")) as {
      servers: { filesystem: Record<string, { sha256: string }> };
    };
    expect(Object.keys(kept.servers.filesystem)).toEqual(["list_directory", "read_text_file"]);
    expect(
      (await connect("filesystem", { ...server, only: [...server.only, "move_file"] })).changes(),
    ).toMatchObject([{ tool: "move_file", type: "new" }]);
  });
});
