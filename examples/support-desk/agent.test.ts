// Tests that a user of writ would write: the rules in this process, and a whole refund over HTTP while processes are killed.
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { scripted } from "writ/testing";

const folder = mkdtempSync(join(tmpdir(), "desk-"));
process.env["SHOP"] = join(folder, "shop.db"); // the servers below use it too
const { desk } = await import("./agent.ts");
const { closeShop, paymentsFor } = await import("./shop.ts");

const servers: ChildProcess[] = [];
after(() => {
  for (const server of servers) server.kill("SIGKILL");
  closeShop();
  rmSync(folder, { recursive: true, maxRetries: 5 });
});

/** The fields of the server's answers that these tests read. */
interface Told {
  readonly questions?: readonly { readonly request: { readonly arguments: unknown } }[];
  readonly end?: { readonly outcome: { readonly content: unknown } };
}

/** The desk with a model that always proposes to pay this amount for this order. */
const wanting = (order: string, euro: number): typeof desk =>
  desk.with({
    model: scripted([{ calls: [{ name: "refund", arguments: { order, euro } }] }, "I did what I may."]),
  });

test("pays a little without a question, once", async () => {
  const asks: string[] = [];
  const options = { approve: ({ tool }: { tool: string }) => asks.push(tool) > 9 };
  const run = await wanting("18", 6).run("My strainer came broken, order 18", options);
  assert.equal(run.calls[0]?.status, "ok");
  const again = await wanting("18", 6).run("Order 18 came broken, again", options);
  assert.equal(again.calls[0]?.status, "error");
  assert.deepEqual([paymentsFor("18").length, asks], [1, []]);
});

test("asks before it pays for an order that the customer did not name", async () => {
  const run = await wanting("17", 5).run("My strainer came broken, order 18", { approve: () => false });
  assert.equal(run.calls[0]?.status, "denied");
});

test("pays no more than was paid, whoever says yes", async () => {
  const run = await wanting("17", 4000).run("Order 17 came broken", { approve: () => true });
  assert.equal(run.calls[0]?.status, "error");
  assert.deepEqual(paymentsFor("17"), []);
});

test("refunds once: asked over HTTP, the server killed, approved twice from another process, ended by the next server", async () => {
  const token = await writ("token", "web", "--agents", "desk");
  const headers = { authorization: `Bearer ${token}` };
  const get = async (url: string) => (await fetch(url, { headers })).json() as Promise<Told>;

  const first = await serve();
  const body = JSON.stringify({ agent: "desk", input: "The kettle of order 17 came broken", id: "order-17" });
  assert.equal((await fetch(`${first.url}/runs`, { method: "POST", headers, body })).status, 201);
  const question = await eventually(async () => (await get(`${first.url}/questions`)).questions?.[0]);
  assert.deepEqual(question.request.arguments, { order: "17", euro: 40 });
  first.process.kill("SIGKILL"); // the machine loses its power
  await once(first.process, "exit");

  const answers = await Promise.allSettled([approve("kim"), approve("lee"), approve("mallory")]);
  assert.equal(answers.filter(({ status }) => status === "fulfilled").length, 1); // kim or lee, never both
  assert.equal(answers[2]?.status, "rejected"); // this person may not approve

  const second = await serve();
  const end = await eventually(async () => (await get(`${second.url}/runs/order-17`)).end);
  assert.equal(end.outcome.content, "Your money is on its way.");
  assert.equal(paymentsFor("17").length, 1);
});

/** Runs the command line of the installed writ in the folder of this test. */
function command(words: readonly string[]): [string, string[]] {
  const main = join(dirname(fileURLToPath(import.meta.resolve("writ/package.json"))), "dist/cli/main.js");
  return [process.execPath, [main, ...words]];
}

async function writ(...words: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(...command(words), { cwd: folder });
  return stdout.trim();
}

function approve(by: string): Promise<string> {
  return writ("approvals", "approve", "web/order-17", "--by", by);
}

/** Starts a server, as `npx writ serve agent.ts --tokens tokens.json` does, at a free port. */
async function serve(): Promise<{ process: ChildProcess; url: string }> {
  const agentFile = join(import.meta.dirname, "agent.ts");
  const [node, words] = command(["serve", agentFile, "--port", "0", "--tokens", "tokens.json"]);
  const server = spawn(node, words, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  servers.push(server);
  let said = "";
  server.stderr.on("data", (piece: Buffer) => (said += String(piece)));
  const url = await eventually(async () => {
    assert.equal(server.exitCode, null, said);
    return /at (http:\S+)\. Ctrl-C/.exec(said)?.[1];
  });
  return { process: server, url };
}

/** Repeats a question until it has a value. */
async function eventually<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  for (;;) {
    const value = await look();
    if (value !== undefined) return value;
    await new Promise((resolve) => void setTimeout(resolve, 50));
  }
}
