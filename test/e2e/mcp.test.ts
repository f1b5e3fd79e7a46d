import { spawn } from "node:child_process";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { makeProject, type Project, writ } from "./command-line.ts";

const main = join(import.meta.dirname, "../../dist/cli/main.js");
let project: Project;
beforeAll(() => {
  project = makeProject();
  project.file(
    "clerk.ts",
    `import { agent, tool } from "writ";
console.log("this is not for the client");
const pay = tool({
  name: "pay", description: "Pay somebody", effect: "irreversible",
  inputSchema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  execute: ({ to }) => { console.log("paying"); return "paid " + to; },
});
export default agent({ name: "clerk", description: "Looks after bills", model: () => "I did.", tools: [pay] });
`,
  );
  project.file(
    "tools.ts",
    `import { tool } from "writ";
export const twice = tool({
  name: "twice", description: "Twice the number", effect: "none",
  inputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  execute: ({ n }) => 2 * n,
});
`,
  );
});
afterAll(() => project.remove());

type Mode = "legacy" | { readonly pin: string };

async function connect(words: readonly string[], mode: Mode, approved?: boolean): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { capabilities: approved === undefined ? {} : { elicitation: {} }, versionNegotiation: { mode } },
  );
  if (approved !== undefined)
    client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { approved } }));
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [main, "mcp", ...words],
    cwd: project.folder,
    stderr: "pipe",
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

describe.each<[string, Mode]>([
  ["2025-11-25", "legacy"],
  ["2026-07-28", { pin: "2026-07-28" }],
])("writ mcp over standard input and output, %s", (_revision, mode) => {
  it("asks for approval, pays, and keeps what programs print away from the client [MCP-runner]", async () => {
    const client = await connect(["clerk.ts", "--tools"], mode, true);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["clerk", "pay"]);
    const paid = await client.callTool({ name: "pay", arguments: { to: "Ada" } });
    expect(paid).toMatchObject({ content: [{ text: "paid Ada" }] });
    const answered = await client.callTool({ name: "clerk", arguments: { input: "Hi" } });
    expect(answered).toMatchObject({ content: [{ text: "I did." }] });
  });

  it("offers the tools of a file that has no agent [MCP-runner]", async () => {
    const client = await connect(["tools.ts"], mode);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["twice"]);
    expect(await client.callTool({ name: "twice", arguments: { n: 21 } })).toMatchObject({
      content: [{ text: "42" }],
    });
  });

  it("leaves a run waiting in a store, and another command answers it", async () => {
    const store = `wait-${typeof mode === "string" ? mode : mode.pin}.db`;
    const client = await connect(
      ["clerk.ts", "--tools", "pay", "--approvals", "wait", "--store", store],
      mode,
    );
    const waits = JSON.stringify(await client.callTool({ name: "pay", arguments: { to: "Ada" } }));
    const run = /run (mcp-[\w-]+) waits/.exec(waits)?.[1] ?? "none";
    const words = ["approvals", "approve", run, "--store", store];
    expect(await writ(words, { cwd: project.folder })).toMatchObject({ code: 0 });
    const later = await client.callTool({ name: "run_result", arguments: { run } });
    expect(later).toMatchObject({ content: [{ text: "paid Ada" }] });
  });
});

describe("writ mcp", () => {
  it("ends when its client goes, and when it is told to", async () => {
    const start = () => spawn(process.execPath, [main, "mcp", "clerk.ts"], { cwd: project.folder });
    const gone = start();
    const ended = new Promise((resolve) => gone.once("close", resolve));
    gone.stdin.end();
    expect(await ended).toBe(0);
    const told = start();
    const left = new Promise((resolve) => told.once("close", resolve));
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
    };
    told.stdin.write(`${JSON.stringify(initialize)}\n`);
    await new Promise((resolve) => told.stdout.once("data", resolve));
    told.kill("SIGTERM");
    expect(await left).toBe(0);
  });

  it.each([
    [["mcp", "clerk.ts", "--tools", "none"], "pay"],
    [["mcp", "clerk.ts", "--approvals", "wait"], "--store"],
    [["mcp", "clerk.ts", "--approvals", "never"], "elsewhere"],
    [["mcp", "none.ts"], "none.ts"],
  ])("says what does not fit: %j", async (words, advice) => {
    const { code, stdout, stderr } = await writ(words, { cwd: project.folder });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(advice);
  });
});
