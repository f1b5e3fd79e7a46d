import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { callTool } from "../../src/adapters/lower-doors.ts";
import {
  connectMcp,
  type McpClient,
  type McpConnection,
  type McpServer,
  mcpTools,
} from "../../src/adapters/mcp/tools.ts";
import { agent } from "../../src/adapters/node.ts";
import { scripted } from "../../src/model/scripted.ts";

const faulty = fileURLToPath(new URL("mcp-faulty.ts", import.meta.url));

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "writ-mcp-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Connects to the faulty server. */
async function connect(
  mode: string,
  options: Partial<McpServer> & { starts?: string } = {},
): Promise<McpConnection> {
  const { starts, ...rest } = options;
  const args = [faulty, mode, ...(starts === undefined ? [] : [starts])];
  const connection = await connectMcp({
    name: "far",
    command: process.execPath,
    args,
    timeoutMs: 5_000,
    ...rest,
  });
  onTestFinished(() => connection.close());
  return connection;
}

const call = ({ tools }: McpConnection, name: string, args = {}): ReturnType<typeof callTool> =>
  callTool([tools], { name: `far/${name}`, arguments: args });

const countStarts = (path: string): number => readFileSync(path, "utf8").split("\n").length - 1;

describe("connectMcp", () => {
  it("case 52: gives tools that are remote, untrusted and of no declared effect, whatever the server says [H16, Y3.4, MCP-client]", async () => {
    const far = await connect("well");
    expect(far.tools.map(({ name }) => name)).toContain("far/echo");
    expect(await call(far, "echo", { text: "hi" })).toMatchObject({ status: "ok", value: "hi" });
    const tool = far.tool("echo");
    expect(tool).toMatchObject({ effect: "undeclared" });
    expect(tool.trusted).toBeUndefined();
    expect(tool.enforcement?.()).toMatchObject({ level: "remote", mechanism: "mcp", probes: [] });
    expect(() => far.tool("exho")).toThrow(expect.objectContaining({ code: "tool-unknown" }));
  });

  it.each([Infinity, Number.NaN, 0, 1.5])(
    "refuses a bound of %d milliseconds: a timer would end everything at once",
    async (timeoutMs) => {
      await expect(connect("well", { timeoutMs })).rejects.toMatchObject({
        code: "definition-invalid",
        message: expect.stringContaining("`timeoutMs`"),
      });
    },
  );

  it("has a time that is longer than a timer waits", async () => {
    const far = await connect("well", { timeoutMs: 3_000_000_000 });
    expect(await call(far, "echo", { text: "hi" })).toMatchObject({ status: "ok", value: "hi" });
  });

  it("takes what the author knows of tools, and only tools that there are", async () => {
    const about = { effect: "write", parameters: { text: "content" }, trusted: true } as const;
    const far = await connect("well", {
      only: ["echo", "env"],
      tools: { echo: about, env: { effect: "none" } },
    });
    expect(far.tools.map(({ name }) => name)).toEqual(["far/echo", "far/env"]);
    expect(far.tool("echo")).toMatchObject(about);
    expect(far.tool("env").trusted).toBe(false); // what only computes would be as good as its arguments
    await expect(connect("well", { only: ["ecko"] })).rejects.toMatchObject({
      code: "tool-unknown",
      data: { name: "ecko", where: "`only` of the MCP server far", known: expect.stringContaining("echo") },
    });
    await expect(connect("well", { tools: { ecko: { effect: "read" } } })).rejects.toMatchObject({
      code: "tool-unknown",
    });
    await expect(connect("well", { tools: { echo: { effects: "read" } as object } })).rejects.toMatchObject({
      code: "definition-invalid",
    });
  });

  it("gives a program the variables that are written, PATH, and no other of this process", async () => {
    process.env["WRIT_TEST_TOKEN"] = "do not pass on";
    onTestFinished(() => void delete process.env["WRIT_TEST_TOKEN"]);
    const far = await connect("well", { env: { GIVEN: "yes" } });
    const { text } = await call(far, "env");
    const names = (JSON.parse(text) as string[]).filter((name) => !name.startsWith("__CF"));
    expect(names).toEqual(["GIVEN", "PATH"]);
  });

  it("says why a server cannot be used: dead, silent, without a list, not there [MCP-client]", async () => {
    const soon = { timeoutMs: 700 };
    await expect(connect("dead")).rejects.toMatchObject({
      code: "mcp-unusable",
      message: expect.stringContaining(
        String.raw`closed. Its last words: no licence for this \u{1b}[31mserver`,
      ) as string,
    });
    await expect(connect("silent", soon)).rejects.toMatchObject({ code: "mcp-unusable" });
    await expect(connect("hang-list", soon)).rejects.toMatchObject({ code: "mcp-unusable" });
    await expect(connectMcp({ name: "far", command: "/there/is/no/such/program" })).rejects.toMatchObject({
      code: "mcp-unusable",
      message:
        'The tools of the MCP server far cannot be listed: the program "/there/is/no/such/program" was not found (spawn /there/is/no/such/program ENOENT). See that `command` and `cwd` are right, and that "/there/is/no/such/program" is installed and on the PATH.',
    });
    await expect(connectMcp({ name: "far", command: "node server.js --fast" })).rejects.toThrow(
      'write `command: "node", args: ["server.js","--fast"]`',
    );
    await expect(connectMcp({ name: "far", url: "http://127.0.0.1:1/mcp" })).rejects.toThrow(
      "fetch failed (bad port)", // as of a name that nobody has, or a port where nothing listens
    );
    const reason = new Error("enough");
    await expect(connect("silent", { signal: AbortSignal.timeout(100) })).rejects.toMatchObject({
      name: "TimeoutError",
    });
    await expect(connect("well", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it.each([
    [{ name: "a b", command: "x" }, "name-invalid"],
    [{ name: "a" }, "definition-invalid"],
    [{ name: "a", command: "" }, "definition-invalid"],
    [{ name: "a", url: "ftp://example.com" }, "definition-invalid"],
    [{ name: "a", url: "https://me:secret@example.com" }, "definition-invalid"],
    [{ name: "a", url: "https://example.com", command: "x" }, "definition-invalid"],
  ])("refuses %j [MCP-client]", async (server, code) => {
    await expect(connectMcp(server as McpServer)).rejects.toMatchObject({ code });
  });

  it("case 52: a server that crashes in a call is a call that failed, is not sent it again, and is there for the next", async () => {
    const starts = join(folder(), "starts");
    const far = await connect("well", { starts });
    const [crashed, beside] = await Promise.all([call(far, "crash"), call(far, "hang")]);
    for (const result of [crashed, beside])
      expect(result).toMatchObject({
        status: "error",
        text: expect.stringContaining("The MCP server far is gone") as string,
      });
    expect(await call(far, "echo", { text: "again" })).toMatchObject({ status: "ok", value: "again" });
    expect(countStarts(starts)).toBe(2);
  });

  it("tells the last words of a program that died in a call, without its keys [MCP-client]", async () => {
    const far = await connect("well", { env: { SERVICE_KEY: "sk-live-0123456789abcdef" } });
    const { text } = await call(far, "crash");
    expect(text).toContain(
      "The MCP server far is gone: Connection closed. Its last words: no memory left for ",
    );
    expect(text).not.toContain("sk-live");
  });

  it("is there again after a crash, though the signal was aborted since that could stop the connecting", async () => {
    const connecting = new AbortController();
    const far = await connect("well", { signal: connecting.signal });
    connecting.abort(new Error("the time to connect is over"));
    expect(await call(far, "crash")).toMatchObject({ status: "error" });
    expect(await call(far, "echo", { text: "again" })).toMatchObject({ status: "ok", value: "again" });
  });

  it("is not started for ever when it always crashes", async () => {
    const starts = join(folder(), "starts");
    const far = await connect("crash", { starts });
    for (let count = 0; count < 9; count += 1)
      expect(await call(far, "echo")).toMatchObject({ status: "error" });
    expect(countStarts(starts)).toBe(6);
    expect((await call(far, "echo")).text).toContain("6 times in a row");
  });

  it("is tried again a minute later when it always crashed, once a minute", async () => {
    const starts = join(folder(), "starts");
    const far = await connect("crash", { starts });
    for (let count = 0; count < 7; count += 1) await call(far, "echo");
    expect(countStarts(starts)).toBe(6);
    const now = performance.now.bind(performance);
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + 60_000);
    onTestFinished(() => clock.mockRestore());
    await call(far, "echo");
    expect(countStarts(starts)).toBe(7);
    expect((await call(far, "echo")).text).toContain("7 times in a row, and is tried once a minute");
    expect(countStarts(starts)).toBe(7);
  });

  it("a server that hangs is a call that took too long, and not the end of others", async () => {
    const far = await connect("well");
    const hung = callTool({ ...far.tool("hang"), timeoutMs: 200 }, {});
    expect(await call(far, "echo", { text: "here" })).toMatchObject({ status: "ok", value: "here" });
    expect(await hung).toMatchObject({ status: "timeout" });
    expect(await call(far, "echo", { text: "still" })).toMatchObject({ status: "ok", value: "still" });
  });

  it("never lets a tool wait for ever, also where the client forgets its time and no run is around", async () => {
    const forgetful: McpClient = {
      listTools: async () => ({ tools: [{ name: "wait", inputSchema: { type: "object" } }] }),
      callTool: () => new Promise(() => undefined),
    };
    const [wait] = await mcpTools(forgetful, { timeoutMs: 50 });
    const context = { signal: new AbortController().signal, progress: () => undefined };
    await expect(wait?.execute({}, context as never)).rejects.toThrow("took more than 2050 ms");
    const silent: McpClient = { ...forgetful, listTools: () => new Promise(() => undefined) };
    await expect(mcpTools(silent, { timeoutMs: 50 })).rejects.toMatchObject({
      code: "mcp-unusable",
      message: expect.stringContaining("the list of tools took more than 50 ms") as string,
    });
  });

  it("passes over lines that are nonsense, and breaks off a message without an end", async () => {
    const far = await connect("garbage");
    expect(await call(far, "echo", { text: "clear" })).toMatchObject({ status: "ok", value: "clear" });
    const huge = await connect("huge");
    const broken = await call(huge, "echo", { text: "?" });
    expect(broken.status).toMatch(/^(error|timeout)$/); // it depends on the machine which of the two comes first
    expect(broken.text.length).toBeLessThan(1_000);
  });

  it("a dead server is told to the model, and the run goes on [MCP-client]", async () => {
    const far = await connect("well", { tools: { crash: { effect: "read" } } });
    const model = scripted([{ calls: [{ name: "far/crash" }] }, "It is down."]);
    const result = await agent({ name: "a", model, tools: far.tools }).run("Go.");
    expect(result.outcome.type).toBe("answered");
    expect(JSON.stringify(result.transcript)).toContain("is gone");
  });

  it("is closed once, and calls after it fail", async () => {
    const far = await connect("well");
    await far.close();
    await far.close();
    expect(await call(far, "echo")).toMatchObject({
      status: "error",
      text: expect.stringContaining("this program closed the connection, by `close()`") as string,
    });
  });
});
