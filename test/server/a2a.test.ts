import { type Message, Role, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from "@a2a-js/sdk/client";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, guarded, inMemorySessions, session, tool } from "../../src/index.ts";
import type { Server } from "../../src/server.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { ask, payer, runsFile, serving, shop, talker, told, until, web } from "./scene.ts";

/** The client of A2A's own package for an agent of a server. */
async function clientOf({ fetch }: Pick<Server, "fetch">, name: string, headers = web): Promise<Client> {
  const fetchImpl: typeof globalThis.fetch = async (url, init) => {
    const request = new Request(url, init);
    request.headers.set("authorization", headers.authorization);
    return fetch(request);
  };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  return factory.createFromUrl(`http://localhost/v1/a2a/${name}/`);
}

type Said = Partial<Pick<Message, "contextId" | "taskId" | "parts">> & { readonly id?: string };

const textPart = (value: string) => ({
  content: { $case: "text" as const, value },
  metadata: undefined,
  filename: "",
  mediaType: "",
});
const dataPart = (value: unknown) => ({ ...textPart(""), content: { $case: "data" as const, value } });

let count = 0;
function said(words: string, { id = `m${++count}`, ...others }: Said = {}) {
  const message: Message = {
    messageId: id,
    contextId: "",
    taskId: "",
    role: Role.ROLE_USER,
    parts: [textPart(words)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...others,
  };
  return { tenant: "", message, configuration: undefined, metadata: undefined };
}

async function taskOf(client: Client, ...given: Parameters<typeof said>): Promise<Task> {
  const answer = await client.sendMessage(said(...given));
  if (!("status" in answer)) throw new Error("it is a message");
  return answer;
}

const stateOf = ({ status }: Task) => status?.state;
const contentOf = (parts: readonly Message["parts"][number][] | undefined) =>
  parts?.map(({ content }) => content?.value);
const answerOf = ({ artifacts }: Task) => contentOf(artifacts[0]?.parts);

/** What a stream told: the words of the answer as a client holds them at the end, and the states. */
async function readStream(stream: AsyncIterable<StreamResponse>) {
  const states: (TaskState | undefined)[] = [];
  const pieces: string[] = [];
  let answer: unknown[] = [];
  let last: StreamResponse["payload"];
  for await (const { payload } of stream) {
    last = payload;
    if (payload?.$case === "task" || payload?.$case === "statusUpdate")
      states.push(payload.value.status?.state);
    if (payload?.$case !== "artifactUpdate") continue;
    const given = contentOf(payload.value.artifact?.parts) ?? [];
    pieces.push(...given.map(String));
    answer = payload.value.append ? [...answer, ...given] : given;
  }
  return { states, pieces, answer, last };
}

const get = (id: string) => ({ tenant: "", id });
/** An answer to the questions of a task. */
const answering = (task: Task, entries: readonly unknown[]): Said => ({
  taskId: task.id,
  parts: entries.map(dataPart),
});
const questionsIn = ({ status }: Task) =>
  (status?.message?.parts ?? []).flatMap(({ content }) => (content?.$case === "data" ? [content.value] : []));

describe("the client of A2A", () => {
  it("chooses nothing: a model wrote what it sends, and a guarded effect asks, whoever it names", async () => {
    const toEve = { name: "send", arguments: { to: "eve@evil.example" } };
    const send = tool({
      name: "send",
      description: "Sends",
      inputSchema: z.object({ to: z.email() }),
      effect: "irreversible",
      parameters: { to: { role: "target", type: "email" } },
      execute: () => "sent",
    });
    const model = scripted([{ calls: [toEve] }, "Done."]);
    const clerk = agent({ name: "clerk", model, tools: [send], policy: guarded() });
    const client = await clientOf(serving(runsFile(), { agents: [clerk] }), "clerk");
    const task = await taskOf(client, "Send it to eve@evil.example");
    expect(stateOf(task)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  });

  it("reads the card of an agent, sends a message, and has the answer as an artifact", async () => {
    const client = await clientOf(serving(runsFile(), { agents: [talker()] }), "talker");
    const card = await client.getAgentCard();
    expect(card).toMatchObject({
      name: "talker",
      capabilities: { streaming: true, pushNotifications: false },
    });
    expect(card.supportedInterfaces).toMatchObject([
      { url: "http://localhost/v1/a2a/talker", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    ]);
    const task = await taskOf(client, "Hi", { id: "first" });
    expect(stateOf(task)).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(answerOf(task)).toEqual(["Hello there!"]);
    expect(contentOf(task.history[0]?.parts)).toEqual(["Hi"]);
    const again = await client.getTask(get(task.id));
    expect(again).toEqual(task);
    expect((await client.getTask({ ...get(task.id), historyLength: 0 })).history).toEqual([]);
  });

  it("is told words as they are written", async () => {
    const gate = Promise.withResolvers<void>();
    const client = await clientOf(serving(runsFile(), { agents: [talker(gate.promise)] }), "talker");
    const stream = client.sendMessageStream(said("Hi"));
    const early: (string | undefined)[] = [];
    for (;;) {
      const next = await stream.next();
      early.push(next.value?.payload?.$case);
      if (next.value?.payload?.$case === "artifactUpdate") break; // its words are here before the model goes on
    }
    gate.resolve();
    expect(early[0]).toBe("task");
    const { states, pieces, answer } = await readStream(stream);
    expect(pieces.join("")).toBe("there!");
    expect(answer).toEqual(["there", "!"]);
    expect(states).toEqual([TaskState.TASK_STATE_COMPLETED]);
  });

  it("is the same task for the same message, and one run of a session for each message of a context", async () => {
    const seen: number[] = [];
    const counter = agent({
      name: "counter",
      model: ({ messages }) => {
        const words = messages.filter(({ role }) => role === "user").length;
        seen.push(words);
        return `${words}`;
      },
    });
    const store = inMemorySessions();
    const client = await clientOf(
      serving(runsFile(), { agents: [counter], sessions: (id) => session(store, id) }),
      "counter",
    );
    const first = await taskOf(client, "One", { id: "one" });
    expect(answerOf(await taskOf(client, "One", { id: "one" }))).toEqual(["1"]);
    const second = await taskOf(client, "Two", { contextId: first.contextId });
    expect(second.contextId).toBe(first.contextId);
    expect(second.id).not.toBe(first.id);
    expect(answerOf(second)).toEqual(["2"]);
    expect(seen).toEqual([1, 2]);
  });

  it("is asked before a call, answers with other arguments, and is told the end", async () => {
    const paid: unknown[] = [];
    const client = await clientOf(serving(runsFile(), { agents: [payer(paid)] }), "payer");
    const task = await taskOf(client, "Pay Ada");
    expect(stateOf(task)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const [question] = questionsIn(task);
    expect(question).toMatchObject({
      reason: "tool_call",
      message: "money leaves",
      metadata: { tool: "pay", arguments: { to: "Ada" }, rule: "money" },
    });
    expect(stateOf(await client.getTask(get(task.id)))).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const payload = { approved: true, arguments: { to: "Grace" } };
    const entry = { interruptId: question.id, status: "resolved", payload };
    const done = await taskOf(client, "", answering(task, [entry]));
    expect(done.id).toBe(task.id);
    expect(stateOf(done)).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(answerOf(done)).toEqual(["Paid."]);
    expect(paid).toEqual([{ to: "Grace" }]);
  });

  it("is asked by a stream, and goes on by the next", async () => {
    const paid: unknown[] = [];
    const client = await clientOf(serving(runsFile(), { agents: [payer(paid)] }), "payer");
    const { states, last } = await readStream(client.sendMessageStream(said("Pay Ada", { id: "pay" })));
    expect(states.at(-1)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(last?.$case).toBe("statusUpdate");
    const task = await client.getTask(get("pay/pay"));
    const [question] = questionsIn(task);
    const cancelled = { interruptId: question.id, status: "cancelled" };
    const told = await readStream(client.sendMessageStream(said("", answering(task, [cancelled]))));
    expect(told.states.at(-1)).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(paid).toEqual([]);
  });

  it("goes away while a run is at work, and comes back to it, also in another process", async () => {
    const file = runsFile();
    const gate = Promise.withResolvers<void>();
    const first = serving(file, { agents: [talker(gate.promise)] });
    const client = await clientOf(first, "talker");
    const request = said("Hi", { id: "hi" });
    const begun = await client.sendMessage({
      ...request,
      configuration: {
        acceptedOutputModes: [],
        taskPushNotificationConfig: undefined,
        returnImmediately: true,
      },
    });
    expect("status" in begun && [TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING]).toContain(
      "status" in begun && stateOf(begun),
    );
    const other = await clientOf(serving(file, { agents: [talker(gate.promise)], work: false }), "talker");
    const back = readStream(other.resubscribeTask(get("hi/hi")));
    gate.resolve();
    const { answer, states } = await back;
    expect(answer.join("")).toBe("Hello there!");
    expect(states.at(-1)).toBe(TaskState.TASK_STATE_COMPLETED);
    await expect(readStream(other.resubscribeTask(get("hi/hi")))).rejects.toThrow(/has ended/);
  });

  it("cancels a task once", async () => {
    const client = await clientOf(serving(runsFile(), { agents: [payer()] }), "payer");
    const task = await taskOf(client, "Pay Ada");
    expect(stateOf(await client.cancelTask({ ...get(task.id), metadata: undefined }))).toBe(
      TaskState.TASK_STATE_CANCELED,
    );
    expect(stateOf(await client.getTask(get(task.id)))).toBe(TaskState.TASK_STATE_CANCELED);
    await expect(client.cancelTask({ ...get(task.id), metadata: undefined })).rejects.toMatchObject({
      name: "TaskNotCancelableError",
    });
  });

  it("gives values to an agent with a schema and has them back, files too", async () => {
    const adder = agent({
      name: "adder",
      input: z.object({ a: z.number() }),
      output: z.object({ b: z.number() }),
      model: () => JSON.stringify({ b: 2 }),
    });
    const looker = agent({
      name: "looker",
      model: {
        id: "looker",
        features: {},
        async *stream({ messages }) {
          yield { type: "text-delta", text: JSON.stringify(messages.at(-1)) };
          yield { type: "end", finishReason: "stop", usage: { inputTokens: 1, outputTokens: 1 } };
        },
      },
    });
    const server = serving(runsFile(), { agents: [adder, looker] });
    const task = await taskOf(await clientOf(server, "adder"), "", { parts: [dataPart({ a: 1 })] });
    expect(answerOf(task)).toEqual([{ b: 2 }]);
    await expect(
      taskOf(await clientOf(server, "adder"), "", { parts: [dataPart({ a: "x" })] }),
    ).rejects.toMatchObject({
      name: "RequestMalformedError",
    });
    const picture = {
      ...textPart(""),
      content: { $case: "raw" as const, value: Buffer.from("png") },
      mediaType: "image/png",
    };
    const seen = await taskOf(await clientOf(server, "looker"), "", {
      parts: [textPart("What is it?"), picture],
    });
    expect(String(answerOf(seen))).toContain("cG5n");
    expect(contentOf(seen.history[0]?.parts)).toEqual(["What is it?", Buffer.from("png")]);
    const link = { ...picture, content: { $case: "url" as const, value: "http://10.0.0.1/" } };
    await expect(taskOf(await clientOf(server, "looker"), "", { parts: [link] })).rejects.toMatchObject({
      name: "ContentTypeNotSupportedError",
    });
  });

  it("is told of a run that fails", async () => {
    const broken = agent({
      name: "broken",
      model: () => {
        throw new Error("secret detail");
      },
    });
    const client = await clientOf(serving(runsFile(), { agents: [broken] }), "broken");
    const task = await taskOf(client, "Hi");
    expect(stateOf(task)).toBe(TaskState.TASK_STATE_FAILED);
  });
});

describe("a server of A2A", () => {
  const rpc = (method: string, params?: object) => ({
    jsonrpc: "2.0",
    id: 7,
    method,
    ...(params && { params }),
  });
  interface Rpc {
    readonly status: number;
    readonly id?: unknown;
    readonly error?: { readonly code: number; readonly data?: readonly { readonly reason: string }[] };
  }
  interface Asking {
    readonly headers?: Record<string, string>;
    readonly name?: string;
  }
  const asks = async (server: Server, body: unknown, { headers = web, name = "payer" }: Asking = {}) => {
    const asked = { body, headers: { "a2a-version": "1.0", ...headers } };
    const response = await ask(server, `POST /v1/a2a/${name}`, asked);
    return { ...JSON.parse(await response.text()), status: response.status } as Rpc;
  };
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "Pay Ada" }] };

  it("answers what does not fit in the words of the protocol", async () => {
    const server = serving(runsFile(), { agents: [payer(), talker()] });
    const cases: readonly (readonly [body: unknown, code: number, status: number])[] = [
      ["{", -32700, 400],
      [{ jsonrpc: "1.0", method: "GetTask" }, -32600, 400],
      [[rpc("GetTask", { id: "x" })], -32600, 400],
      [rpc("Nothing"), -32601, 200],
      [rpc("constructor"), -32601, 200],
      [rpc("GetTask"), -32602, 200],
      [rpc("GetTask", { id: "m/m" }), -32001, 200],
      [rpc("GetTask", { id: "../../runs" }), -32001, 200],
      [rpc("CancelTask", { id: "m/m" }), -32001, 200],
      [rpc("SubscribeToTask", { id: "m/m" }), -32001, 200],
      [rpc("ListTasks", {}), -32004, 200],
      [rpc("CreateTaskPushNotificationConfig", { taskId: "x", url: "http://x" }), -32003, 200],
      [rpc("SendMessage", { message: { ...message, parts: [] } }), -32602, 200],
      [rpc("SendMessage", { message: { ...message, parts: [{}] } }), -32602, 200],
      [rpc("SendMessage", { message: { ...message, role: "ROLE_AGENT" } }), -32602, 200],
      [rpc("SendMessage", { message: { ...message, taskId: "m/m" } }), -32001, 200],
      [
        rpc("SendMessage", { message, configuration: { taskPushNotificationConfig: { url: "http://x" } } }),
        -32003,
        200,
      ],
    ];
    for (const [body, code, status] of cases)
      expect(await asks(server, body), JSON.stringify(body)).toMatchObject({ status, error: { code } });
    const older = { headers: { ...web, "a2a-version": "0.3" } };
    expect(await asks(server, rpc("GetTask", { id: "m/m" }), older)).toMatchObject({
      id: 7,
      error: { code: -32009 },
    });
  });

  it("takes no answer that is none, none of another task, and none twice", async () => {
    const paid: unknown[] = [];
    const server = serving(runsFile(), { agents: [payer(paid)] });
    const client = await clientOf(server, "payer");
    const [one, two] = [await taskOf(client, "Pay", { id: "a" }), await taskOf(client, "Pay", { id: "b" })];
    const entryOf = (task: Task, payload: object = { approved: true }) => ({
      interruptId: questionsIn(task)[0].id,
      status: "resolved",
      payload,
    });
    const malformed = { name: "RequestMalformedError" };
    await expect(taskOf(client, "yes", { taskId: one.id })).rejects.toMatchObject(malformed);
    await expect(taskOf(client, "", answering(one, [entryOf(two)]))).rejects.toMatchObject(malformed);
    await expect(taskOf(client, "", answering(one, [entryOf(one, {})]))).rejects.toMatchObject(malformed);
    await expect(
      taskOf(client, "", { ...answering(one, [entryOf(one)]), contextId: "other" }),
    ).rejects.toMatchObject(malformed);
    expect(paid).toEqual([]);
    const sent = { ...answering(one, [entryOf(one)]), id: "yes" };
    const done = await taskOf(client, "", sent);
    const late = { name: "UnsupportedOperationError" };
    await expect(taskOf(client, "yes", { taskId: one.id })).rejects.toMatchObject(late);
    await expect(taskOf(client, "", answering(one, [entryOf(two)]))).rejects.toMatchObject(late);
    await expect(taskOf(client, "", answering(one, [entryOf(one), entryOf(two)]))).rejects.toMatchObject(
      late,
    );
    expect(await taskOf(client, "", sent)).toEqual(done); // its first answer was lost on the way
    expect(paid).toHaveLength(1);
    await client.cancelTask({ ...get(two.id), metadata: undefined });
    await expect(taskOf(client, "", answering(two, [entryOf(two)]))).rejects.toMatchObject(late);
  });

  it("tells the task as it is to who sends an answer again while the run is at work", async () => {
    const gate = Promise.withResolvers<void>();
    const paid: unknown[] = [];
    const slow = payer().with({
      tools: [fakeTool("pay", (args: unknown) => gate.promise.then(() => `paid ${paid.push(args)}`))],
    });
    const client = await clientOf(serving(runsFile(), { agents: [slow] }), "payer");
    const task = await taskOf(client, "Pay Ada");
    const entry = { interruptId: questionsIn(task)[0].id, status: "resolved", payload: { approved: true } };
    const sent = { ...answering(task, [entry]), id: "yes" };
    const first = taskOf(client, "", sent);
    await until(async () => stateOf(await client.getTask(get(task.id))) === TaskState.TASK_STATE_WORKING);
    const again = taskOf(client, "", sent);
    gate.resolve();
    for (const done of [await first, await again]) expect(answerOf(done)).toEqual(["Paid."]);
    expect(paid).toHaveLength(1);
  });

  it("shows callers their own agents and tasks alone", async () => {
    const server = serving(runsFile(), { agents: [payer(), talker()] });
    await taskOf(await clientOf(server, "talker"), "Hi", { id: "mine" });
    expect(
      await asks(server, rpc("GetTask", { id: "mine/mine" }), { headers: shop, name: "talker" }),
    ).toMatchObject({
      error: { code: -32001 },
    });
    expect(await asks(server, rpc("GetTask", { id: "mine/mine" }))).toMatchObject({
      error: { code: -32001 },
    }); // of another agent
    expect(await asks(server, rpc("GetTask", { id: "x" }), { headers: shop })).toMatchObject({
      status: 404,
    });
    expect(await asks(server, rpc("GetTask", { id: "x" }), { headers: {} })).toMatchObject({ status: 401 });
    const stranger = await ask(server, "GET /v1/a2a/talker/.well-known/agent-card.json", { headers: {} });
    expect(stranger.status).toBe(401);
    expect(
      (await ask(server, "GET /v1/a2a/payer/.well-known/agent-card.json", { headers: shop })).status,
    ).toBe(404);
  });

  it("has a card at the root for who may use one agent, with the address as it was reached", async () => {
    const server = serving(runsFile(), { agents: [payer(), talker()], path: "/agents" });
    const root = "GET /agents/.well-known/agent-card.json";
    expect((await ask(server, root)).status).toBe(404); // there are two
    const card = await told(ask(server, root, { headers: { ...shop, "x-forwarded-proto": "https" } }));
    expect(card).toMatchObject({
      name: "talker",
      supportedInterfaces: [{ url: "https://localhost/agents/v1/a2a/talker" }],
      securitySchemes: { token: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
    });
  });

  it("lets a stream that is left go, and its run go on", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serving(runsFile(), { agents: [talker(gate.promise)], limits: { streams: 1 } });
    const client = await clientOf(server, "talker");
    const stream = client.sendMessageStream(said("Hi", { id: "left" }));
    await stream.next();
    expect(await asks(server, rpc("SendMessage", { message }), { name: "talker" })).toMatchObject({
      status: 429,
    });
    await stream.return(undefined);
    gate.resolve();
    const task = await until(async () => {
      const now = await client.getTask(get("left/left"));
      return stateOf(now) === TaskState.TASK_STATE_COMPLETED && now;
    });
    expect(answerOf(task)).toEqual(["Hello there!"]);
  });
});
