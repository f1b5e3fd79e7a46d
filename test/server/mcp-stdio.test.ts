import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { exactLines } from "../../src/server/mcp/exact-lines.ts";
import { initialize } from "./mcp-scene.ts";

const src = join(import.meta.dirname, "../../src");
const program = `
import { agent, tool } from "${src}/index.ts";
import { serveMcpStdio } from "${src}/server.ts";
import { sqliteRuns } from "${src}/sqlite.ts";
const schema = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };
const say = tool({ name: "say", description: "", inputSchema: schema, effect: "none", execute: ({ id }) => {
  process.stdout.write("a tool writes\\n");
  console.log("a tool prints");
  return "it is " + id;
} });
const told = new AbortController();
process.once("SIGTERM", () => told.abort());
const policy = (call) => ({ verdict: call.arguments.id === "ask" ? "ask" : "allow", rule: "r", reason: "asks" });
const agents = [agent({ name: "clerk", model: () => "", tools: [say], policy })];
await serveMcpStdio({ store: sqliteRuns(":memory:"), agents, offer: { tools: true }, signal: told.signal });
`;

it("ends, and says why, where a message is longer than the library takes, also while its client stays", async () => {
  const folder = mkdtempSync(join(tmpdir(), "writ-stdio-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "server.ts"), program);
  const server = spawn(process.execPath, [join(folder, "server.ts")], { stdio: "pipe" });
  onTestFinished(() => void server.kill("SIGKILL"));
  let told = "";
  server.stderr.on("data", (chunk) => (told += String(chunk)));
  server.stdin.on("error", () => undefined); // nobody reads it any more
  const ended = once(server, "close");
  server.stdin.write("x".repeat(11 * 1024 * 1024));
  expect(await ended).toEqual([0, null]);
  expect(told).toContain("exceeded maximum size");
}, 10_000);

it("takes integers that a double cannot hold as the strings of their digits over standard input, and ends when it is told to", async () => {
  const folder = mkdtempSync(join(tmpdir(), "writ-stdio-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "server.ts"), program);
  const server = spawn(process.execPath, [join(folder, "server.ts")], { stdio: "pipe" });
  onTestFinished(() => void server.kill());
  let told = "";
  server.stderr.on("data", (chunk) => (told += String(chunk)));
  const ended = once(server, "close");
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  server.stdin.write(`${JSON.stringify(initialize)}\r\n`);
  expect((await lines.next()).value).toContain("2025-11-25");
  const call =
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"say","arguments":{"id":9007199254740993}}}\n';
  server.stdin.write(call.slice(0, 100));
  server.stdin.write(call.slice(100));
  expect((await lines.next()).value).toContain("it is 9007199254740993");
  server.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
  expect(told).toBe("a tool writes\na tool prints\n"); // and no line of the protocol is spoilt
});

it("refuses a message with a key twice over standard input: a request, and a person's answer [MCP-server]", async () => {
  const folder = mkdtempSync(join(tmpdir(), "writ-stdio-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "server.ts"), program);
  const server = spawn(process.execPath, [join(folder, "server.ts")], { stdio: "pipe" });
  onTestFinished(() => void server.kill());
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const send = (line: string) => server.stdin.write(`${line}\n`);
  const next = async (): Promise<unknown> => JSON.parse(String((await lines.next()).value));
  const call = (id: number, args: string) =>
    send(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"say","arguments":{${args}}}}`);
  send(JSON.stringify(initialize));
  expect(await next()).toMatchObject({ id: 1, result: {} });
  call(2, '"id":"a","id":"b"');
  const reason = 'it has the key "id" twice in one object';
  expect(await next()).toMatchObject({
    id: 2,
    error: { code: -32600, message: expect.stringContaining(reason) as string },
  });
  call(3, '"id":"ask"');
  const asked = await next();
  expect(asked).toMatchObject({ method: "elicitation/create" });
  const { id } = asked as { readonly id: number };
  send(
    `{"jsonrpc":"2.0","id":${id},"result":{"action":"accept","content":{"approved":false,"approved":true}}}`,
  );
  const answer = await next();
  expect(answer).toMatchObject({ id: 3 });
  expect(JSON.stringify(answer)).not.toContain("it is ask");
}, 20_000);

it("passes on lines as they are, however they come, and what is no line of JSON [MCP-server]", async () => {
  const lines = exactLines(() => undefined);
  const text = 'é 1234567890123456789\n{"a":[12345678901234567891,"12345678901234567891",1.5]}\n{"half":';
  for (const byte of Buffer.from(text)) lines.write(Buffer.of(byte));
  lines.end();
  const passed = Buffer.concat(await lines.toArray()).toString();
  expect(passed).toBe(text.replace("[12345678901234567891", '["12345678901234567891"'));
  const long = exactLines(() => undefined);
  const huge = Buffer.alloc(11 * 1024 * 1024, "x");
  long.end(huge);
  expect(Buffer.concat(await long.toArray()).equals(huge)).toBe(true);
});
