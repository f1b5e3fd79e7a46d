import { describe, expect, it, onTestFinished } from "vitest";
import { agent, allow, deny, knowledge, memoryBank, policy, skill, tool } from "../../src/index.ts";
import { arg, oneOf } from "../../src/policy.ts";
import { file, image, withFiles } from "../../src/tools.ts";
import { connect, revisions } from "./mcp-scene.ts";
import { ask, payer, questionsOf, runsFile, serving, shop, talker, told, until } from "./scene.ts";

const clerk = (refunded: unknown[] = []) =>
  agent({
    name: "clerk",
    description: "Looks after orders",
    model: () => "I did.",
    skills: [
      skill({
        name: "refunds",
        description: "Gives money back",
        instructions: "Look twice.",
        tools: [
          tool({
            name: "refund",
            description: "Refund an order",
            inputSchema: {
              type: "object",
              properties: { order: { type: "integer" } },
              required: ["order"],
              additionalProperties: false,
            },
            outputSchema: {
              type: "object",
              properties: { refunded: { type: "integer" } },
              required: ["refunded"],
            },
            effect: "irreversible",
            execute: ({ order }) => {
              refunded.push(order);
              return { refunded: order };
            },
          }),
        ],
        knowledge: [knowledge({ name: "prices", description: "What it costs", load: () => ({ tea: 3 }) })],
      }),
    ],
  });

const everything = { tools: true, knowledge: true, skills: true } as const;

describe.each(revisions)("an MCP server, to clients of %s", (revision) => {
  it("offers agents, and what the author names of their tools, knowledge and skills [MCP-server]", async () => {
    const server = serving(runsFile(), { agents: [clerk(), talker()], mcp: everything });
    const client = await connect(server, revision);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["clerk", "talker", "refund"]);
    expect(tools[2]).toMatchObject({
      inputSchema: { required: ["order"] },
      outputSchema: { required: ["refunded"] },
      annotations: { readOnlyHint: false },
    });
    expect(await client.listResources()).toMatchObject({ resources: [{ uri: "writ://clerk/prices" }] });
    const { contents } = await client.readResource({ uri: "writ://clerk/prices" });
    expect(contents).toMatchObject([{ mimeType: "application/json", text: '{"tea":3}' }]);
    expect(await client.listPrompts()).toMatchObject({ prompts: [{ name: "refunds" }] });
    const { messages } = await client.getPrompt({ name: "refunds", arguments: { input: "Order 7" } });
    expect(messages).toMatchObject([{ role: "user", content: { text: "Look twice.\n\nOrder 7" } }]);
    const bare = await connect(serving(runsFile(), { agents: [clerk()], mcp: {} }), revision);
    expect((await bare.listTools()).tools.map(({ name }) => name)).toEqual(["clerk"]);
  });

  it("carries out a call as a run of the caller [MCP-server]", async () => {
    const server = serving(runsFile(), { agents: [talker()], mcp: {} });
    const client = await connect(server, revision);
    const told = await client.callTool({ name: "talker", arguments: { input: "Hi" } });
    expect(told).toMatchObject({ content: [{ type: "text", text: "Hello there!" }] });
  });

  it("asks the person at the client, and does what was approved once [H21]", async () => {
    const refunded: unknown[] = [];
    const server = serving(runsFile(), { agents: [clerk(refunded)], mcp: everything });
    const shown: string[] = [];
    const yes = await connect(server, revision, {
      elicit({ message }) {
        shown.push(message);
        return { action: "accept", content: { approved: true } };
      },
    });
    const done = await yes.callTool({ name: "refund", arguments: { order: 7 } });
    expect(done).toMatchObject({ structuredContent: { refunded: 7 } });
    expect(shown).toEqual([expect.stringContaining("refund (irreversible) needs your approval")]);
    expect(shown[0]).toContain("order: 7");
    const no = await connect(server, revision, {
      elicit: () => ({ action: "accept", content: { approved: false, reason: "too much" } }),
    });
    const refused = await no.callTool({ name: "refund", arguments: { order: 8 } });
    expect(refused).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("too much") }],
    });
    const cancelled = await connect(server, revision, { elicit: () => ({ action: "cancel" }) });
    expect(await cancelled.callTool({ name: "refund", arguments: { order: 9 } })).toMatchObject({
      isError: true,
    });
    expect(refunded).toEqual([7]);
  });

  it("offers one tool of an agent whose policy, recovery and constraints name others [MCP-server]", async () => {
    const about = { description: "d", inputSchema: { type: "object" }, execute: () => "done" } as const;
    const inputSchema = {
      type: "object",
      properties: { to: { type: "string" } },
      additionalProperties: false,
    } as const;
    const office = agent({
      name: "office",
      description: "d",
      model: () => "no",
      memory: memoryBank(),
      tools: [
        tool({ ...about, name: "look" }),
        tool({ ...about, name: "send", inputSchema, constraints: { onlyAfter: ["look"] } }),
      ],
      recover: { tools: { send: {} } },
      policy: policy({
        name: "p",
        rules: [allow("look"), allow("look", "send").when(arg("to").is(oneOf("ada"))), deny("memory_write")],
      }),
    });
    const client = await connect(
      serving(runsFile(), { agents: [office], mcp: { tools: ["look"] } }),
      revision,
    );
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["office", "look"]);
    expect(await client.callTool({ name: "look", arguments: {} })).toMatchObject({
      content: [{ text: "done" }],
    });
    await connect(serving(runsFile(), { agents: [office], mcp: {} }), revision);
  });

  it("refuses where the client cannot ask, and says so", async () => {
    const refunded: unknown[] = [];
    const server = serving(runsFile(), { agents: [clerk(refunded)], mcp: everything });
    const client = await connect(server, revision);
    const refused = await client.callTool({ name: "refund", arguments: { order: 7 } });
    expect(refused).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("elicitation") }],
    });
    expect(refunded).toEqual([]);
  });

  it("waits where the author chose so, and gives the result of an answer from elsewhere", async () => {
    const server = serving(runsFile(), { agents: [payer()], mcp: { approvals: "wait" } });
    const client = await connect(server, revision);
    const waits = await client.callTool({ name: "payer", arguments: { input: "Pay" } });
    const text = JSON.stringify(waits);
    const run = /run (mcp-[\w-]+) waits/.exec(text)?.[1];
    expect(run).toBeDefined();
    const [question] = await questionsOf(server);
    const body = { key: question?.key, hash: question?.request.hash, approved: true };
    expect((await ask(server, `POST /runs/${run}/answers`, { body })).status).toBe(204);
    const later = await client.callTool({ name: "run_result", arguments: { run } });
    expect(later).toMatchObject({ content: [{ text: "Paid." }] });
    const other = await connect(server, revision, { headers: shop });
    expect(await other.callTool({ name: "run_result", arguments: { run } })).toMatchObject({ isError: true });
  });

  it("never asks the client where others answer", async () => {
    const server = serving(runsFile(), { agents: [payer()], mcp: { approvals: "elsewhere" } });
    let asked = 0;
    const client = await connect(server, revision, {
      elicit() {
        asked += 1;
        return { action: "accept", content: { approved: true } };
      },
    });
    expect(await client.callTool({ name: "payer", arguments: { input: "Pay" } })).toMatchObject({
      isError: true,
    });
    expect(asked).toBe(0);
  });

  it("gives the pictures and files of a result", async () => {
    const draw = tool({
      name: "draw",
      description: "Draws",
      inputSchema: { type: "object" },
      effect: "read",
      execute: () => withFiles("two", [image("iVBORw0KGgo=", "image/png"), file("e30=", "application/json")]),
    });
    const model = ({ messages }: { readonly messages: readonly { readonly role: string }[] }) =>
      messages.some(({ role }) => role === "tool")
        ? { text: "Here.", files: [file("aGk=", "audio/wav")] }
        : { calls: [{ name: "draw" }] };
    const painter = agent({ name: "painter", model, tools: [draw] });
    const server = serving(runsFile(), { agents: [painter], mcp: { tools: true } });
    const client = await connect(server, revision);
    expect(await client.callTool({ name: "draw", arguments: {} })).toMatchObject({
      content: [
        { type: "text" },
        { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" },
        { type: "resource", resource: { mimeType: "application/json", blob: "e30=" } },
      ],
    });
    expect(await client.callTool({ name: "painter", arguments: { input: "Draw" } })).toMatchObject({
      content: [
        { type: "text", text: "Here." },
        { type: "audio", data: "aGk=" },
      ],
    });
  });

  it("gives a long result whole: its client has nothing with which to read on", async () => {
    const log = Array.from({ length: 20_000 }, (_, line) => `line ${line}`).join("\n");
    const about = { description: "Reads the log", inputSchema: { type: "object" }, effect: "read" } as const;
    const readLog = tool({ ...about, name: "read_log", execute: () => log });
    const budget = { resultBytes: 1000, toolCalls: 1 };
    const reader = agent({ name: "reader", model: () => "", tools: [readLog], budget });
    const server = serving(runsFile(), { agents: [reader], mcp: { tools: true } });
    const client = await connect(server, revision);
    const { content } = await client.callTool({ name: "read_log", arguments: {} });
    expect(content).toEqual([{ type: "text", text: log }]);
  });

  it("shows a caller what is theirs alone, and names nothing else [MCP-server]", async () => {
    const server = serving(runsFile(), { agents: [clerk(), talker()], mcp: everything });
    const client = await connect(server, revision, { headers: shop });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["talker"]);
    expect((await client.listResources()).resources).toEqual([]);
    const messageOf = (name: string) =>
      client.callTool({ name, arguments: {} }).catch((error: unknown) => String(error));
    const refused = await messageOf("refund");
    expect(refused).toContain("there is no such tool");
    expect(await messageOf("nothing")).toBe(refused);
    await expect(client.readResource({ uri: "writ://clerk/prices" })).rejects.toThrow();
    await expect(client.getPrompt({ name: "refunds" })).rejects.toThrow("there is no such prompt");
  });

  it("says what is wrong with arguments as a result", async () => {
    const server = serving(runsFile(), { agents: [clerk()], mcp: everything });
    const client = await connect(server, revision);
    for (const call of [
      { name: "refund", arguments: { order: "seven" } },
      { name: "clerk", arguments: {} },
    ])
      expect(await client.callTool(call)).toMatchObject({ isError: true });
  });

  it("tells a call that it ends, and cancels no run of it: another process goes on", async () => {
    const file = runsFile();
    const gate = Promise.withResolvers<void>();
    onTestFinished(() => gate.resolve());
    const server = serving(file, { agents: [talker(gate.promise)], mcp: {} });
    const client = await connect(server, revision);
    const call = client.callTool({ name: "talker", arguments: { input: "Hi" } });
    const failed = call.then(
      ({ isError }) => isError === true,
      () => true,
    );
    await until(async () => (await told(ask(server, "GET /runs?status=running"))).runs?.length === 1);
    const drained = server.drain();
    expect(await failed).toBe(true);
    gate.resolve();
    await drained;
    const next = serving(file, { agents: [talker()], mcp: {} });
    await until(async () => (await told(ask(next, "GET /runs?status=answered"))).runs?.length === 1);
  });

  it("tells how far a call is, and ends the run that a client takes back", async () => {
    const gate = Promise.withResolvers<void>();
    onTestFinished(() => gate.resolve());
    const slow = tool({
      name: "slow",
      description: "Takes its time",
      inputSchema: { type: "object" },
      effect: "read",
      async execute(_args, { progress, signal }) {
        progress({ progress: 1, total: 2, message: "half" });
        await Promise.race([
          gate.promise,
          new Promise((resolve) => signal.addEventListener("abort", resolve)),
        ]);
        return "done";
      },
    });
    const mind = agent({ name: "mind", model: () => "", tools: [slow] });
    const server = serving(runsFile(), { agents: [mind], mcp: { tools: ["slow"] } });
    const client = await connect(server, revision);
    const controller = new AbortController();
    const seen = Promise.withResolvers<unknown>();
    const call = client.callTool(
      { name: "slow", arguments: {} },
      { signal: controller.signal, onprogress: (progress) => seen.resolve(progress) },
    );
    expect(await seen.promise).toMatchObject({ progress: 1, total: 2, message: "half" });
    controller.abort();
    await expect(call).rejects.toThrow();
    await until(async () => (await told(ask(server, "GET /runs?status=cancelled"))).runs?.length === 1);
  });
});
