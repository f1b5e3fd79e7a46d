import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Server } from "../../src/server.ts";
import { ask, payer, questionsOf, runsFile, serving, shop, talker, told, until, web } from "./scene.ts";

type Elicited = { readonly action: "accept"; readonly content: { readonly approved: boolean } };
type Elicit = (message: string) => Elicited | Promise<Elicited>;

/** The official client of 2025-11-25, which asks for tasks. */
async function connect({ fetch }: Server, elicit?: Elicit): Promise<Client> {
  const capabilities = elicit === undefined ? {} : { elicitation: {} };
  const client = new Client({ name: "test", version: "1.0.0" }, { capabilities });
  if (elicit !== undefined)
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => elicit(params.message));
  const transport = new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), {
    fetch: (url, init) => fetch(new Request(url, init)),
    requestInit: { headers: web },
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

async function messagesOf(client: Client, name: string): Promise<object[]> {
  await client.listTools();
  const calling = client.experimental.tasks.callToolStream({ name, arguments: { input: "Hi" } }, undefined, {
    task: {},
  });
  return Array.fromAsync(calling);
}

const yes: Elicit = () => ({ action: "accept", content: { approved: true } });

describe("tasks of 2025-11-25, with the official client", () => {
  it("are created where the client asks for one, and give the result [H21]", async () => {
    const client = await connect(serving(runsFile(), { agents: [talker()], mcp: {} }));
    expect(client.getServerCapabilities()).toMatchObject({ tasks: { requests: { tools: { call: {} } } } });
    const messages = await messagesOf(client, "talker");
    expect(messages[0]).toMatchObject({
      type: "taskCreated",
      task: { status: "working", ttl: null, pollInterval: 500 },
    });
    expect(messages.at(-1)).toMatchObject({
      type: "result",
      result: { content: [{ text: "Hello there!" }] },
    });
  });

  it("keep no server that leaves while a person at the client thinks: the call is told so, and the run waits on", async () => {
    const server = serving(runsFile(), { agents: [payer()], mcp: {} });
    const asked = Promise.withResolvers<void>();
    const client = await connect(server, () => {
      asked.resolve();
      return new Promise(() => undefined);
    });
    const told = messagesOf(client, "payer");
    await asked.promise;
    await server.drain();
    const error = { message: expect.stringContaining("shutting down") };
    expect((await told).at(-1)).toMatchObject({ type: "error", error });
  });

  it("ask the person at the client while the result is waited for", async () => {
    const paid: unknown[] = [];
    const server = serving(runsFile(), { agents: [payer(paid)], mcp: {} });
    const messages = await messagesOf(await connect(server, yes), "payer");
    expect(messages.at(-1)).toMatchObject({ type: "result", result: { content: [{ text: "Paid." }] } });
    expect(paid).toEqual([{ to: "Ada" }]);
  });

  it("are cancelled as runs, and are there for another session and another process", async () => {
    const gate = Promise.withResolvers<void>();
    onTestFinished(() => gate.resolve());
    const file = runsFile();
    const server = serving(file, { agents: [talker(gate.promise), payer()], mcp: { approvals: "wait" } });
    const client = await connect(server);
    await client.listTools();
    const begin = async (name: string): Promise<string> => {
      const stream = client.experimental.tasks.callToolStream(
        { name, arguments: { input: "Hi" } },
        undefined,
        { task: {} },
      );
      const { value } = await stream.next();
      return (value as { readonly task: { readonly taskId: string } }).task.taskId;
    };
    const stopped = await begin("talker");
    expect(await client.experimental.tasks.cancelTask(stopped)).toMatchObject({ taskId: stopped });
    await until(async () => (await client.experimental.tasks.getTask(stopped)).status === "cancelled");
    const waits = await begin("payer");
    await until(async () => (await questionsOf(server)).length === 1);
    const next = serving(file, { agents: [payer()], mcp: { approvals: "wait" } });
    const other = await connect(next);
    const state = await other.experimental.tasks.getTask(waits);
    expect(state).toMatchObject({
      status: "working",
      statusMessage: expect.stringContaining("somebody else") as string,
    });
    const result = other.experimental.tasks.getTaskResult(waits, CallToolResultSchema);
    const [question] = await questionsOf(next);
    const body = { key: question?.key, hash: question?.request.hash, approved: true };
    expect((await ask(next, `POST /runs/${waits}/answers`, { body })).status).toBe(204);
    expect(await result).toMatchObject({ content: [{ text: "Paid." }] });
    expect(await other.experimental.tasks.getTask(waits)).toMatchObject({ status: "completed" });
  });
});

interface Asking {
  readonly params: Readonly<Record<string, unknown>>;
  readonly capabilities?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

const knowing = { extensions: { "io.modelcontextprotocol/tasks": {} }, elicitation: {} };

/** A request of 2026-07-28, in which each says who asks. */
async function request(
  { fetch }: Server,
  method: string,
  { params, capabilities = knowing, headers = web }: Asking,
): Promise<{
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number };
}> {
  const prefix = "io.modelcontextprotocol";
  const _meta = {
    [`${prefix}/protocolVersion`]: "2026-07-28",
    [`${prefix}/clientInfo`]: { name: "test", version: "1.0.0" },
    [`${prefix}/clientCapabilities`]: capabilities,
  };
  const name = params["taskId"] ?? params["name"];
  const response = await fetch(
    new Request("http://localhost/mcp", {
      method: "POST",
      headers: {
        ...headers,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        ...(typeof name === "string" ? { "mcp-name": name } : {}),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
    }),
  );
  const text = await response.text();
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return JSON.parse(data) as Awaited<ReturnType<typeof request>>;
}

const call = (name: string) => ({ name, arguments: { input: "Hi" } });

/** What a task is once it is no longer `working`. */
const settled = (server: Server, taskId: unknown) =>
  until(async () => {
    const { result } = await request(server, "tasks/get", { params: { taskId } });
    return result?.["status"] === "working" ? undefined : result;
  });

describe("tasks of 2026-07-28", () => {
  it("are what a call becomes that takes long, of a client that knows them", async () => {
    const gate = Promise.withResolvers<void>();
    onTestFinished(() => gate.resolve());
    const server = serving(runsFile(), { agents: [talker(gate.promise)], mcp: {} });
    const { result } = await request(server, "tools/call", { params: call("talker") });
    expect(result).toMatchObject({ resultType: "task", status: "working", ttlMs: null, pollIntervalMs: 500 });
    const taskId = result?.["taskId"];
    expect(await request(server, "tasks/get", { params: { taskId } })).toMatchObject({
      result: { resultType: "complete", taskId, status: "working" },
    });
    gate.resolve();
    expect(await settled(server, taskId)).toMatchObject({
      status: "completed",
      result: { content: [{ type: "text", text: "Hello there!" }] },
    });
  });

  it("are not made of calls that are short, nor for clients that do not know them", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serving(runsFile(), {
      agents: [talker(gate.promise), payer()],
      mcp: { approvals: "wait" },
    });
    const calling = request(server, "tools/call", { params: call("talker"), capabilities: {} });
    await until(async () => (await told(ask(server, "GET /runs?status=running"))).runs?.length === 1);
    gate.resolve();
    expect(await calling).toMatchObject({ result: { content: [{ text: "Hello there!" }] } });
    const short = await request(server, "tools/call", { params: call("payer"), capabilities: {} });
    expect(short.result).toMatchObject({ isError: true, resultType: "complete" });
    const unknowing = await request(server, "tasks/get", { params: { taskId: "x" }, capabilities: {} });
    expect(unknowing.error).toMatchObject({
      code: -32_021,
      data: { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } },
    });
  });

  it("ask the person at the client, take the answers, and pay once", async () => {
    const paid: unknown[] = [];
    const server = serving(runsFile(), { agents: [payer(paid)], mcp: { approvals: "wait" } });
    const begun = { params: call("payer"), capabilities: { ...knowing, elicitation: undefined } };
    const { result } = await request(server, "tools/call", begun);
    expect(result).toMatchObject({ resultType: "task" });
    const taskId = result?.["taskId"];
    const asking = await settled(server, taskId);
    expect(asking).toMatchObject({ status: "input_required" });
    const [[key, question] = []] = Object.entries(asking["inputRequests"] as object) as [string, unknown][];
    expect(question).toMatchObject({ method: "elicitation/create", params: { mode: "form" } });
    const inputResponses = {
      unknown: { action: "accept", content: { approved: true } },
      [key ?? ""]: { action: "accept", content: { approved: true } },
    };
    for (let times = 0; times < 2; times += 1)
      expect(await request(server, "tasks/update", { params: { taskId, inputResponses } })).toMatchObject({
        result: { resultType: "complete" },
      });
    expect(await settled(server, taskId)).toMatchObject({
      status: "completed",
      result: { content: [{ text: "Paid." }] },
    });
    expect(paid).toEqual([{ to: "Ada" }]);
  });

  it("are cancelled, and of a task that is not the caller's nothing is said", async () => {
    const gate = Promise.withResolvers<void>();
    onTestFinished(() => gate.resolve());
    const server = serving(runsFile(), { agents: [talker(gate.promise)], mcp: {} });
    const { result } = await request(server, "tools/call", { params: call("talker") });
    const taskId = result?.["taskId"];
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"])
      for (const asking of [
        { params: { taskId: "nothing" } },
        { params: {} },
        { params: { taskId }, headers: shop },
      ])
        expect((await request(server, method, asking)).error).toMatchObject({ code: -32_602 });
    expect(await request(server, "tasks/cancel", { params: { taskId } })).toMatchObject({
      result: { resultType: "complete" },
    });
    expect(await settled(server, taskId)).toMatchObject({ status: "cancelled" });
  });
});
