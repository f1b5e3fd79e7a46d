import { HttpAgent, type Message, type RunAgentInput } from "@ag-ui/client";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, type AgentEvent, inMemorySessions, type Model, session } from "../../src/index.ts";
import type { Server } from "../../src/server.ts";
import { AguiEvents } from "../../src/server/agui/events.ts";
import type { AguiMessage } from "../../src/server/agui/messages.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { ask, payer, runsFile, serving, shop, talker, told, web, wordByWord } from "./scene.ts";

/** The client of AG-UI's own package, over a server, and the types of the events that it was told. */
function page(server: Pick<Server, "fetch">, name: string, options: { messages?: Message[] } = {}) {
  const types: string[] = [];
  const events: { type: string; [field: string]: unknown }[] = [];
  const client = new HttpAgent({
    url: `http://localhost/v1/agui/${name}`,
    threadId: "t1",
    headers: web,
    initialMessages: options.messages ?? [],
    fetch: async (url, init) => server.fetch(new Request(url, init)),
  });
  client.subscribe({
    onEvent: ({ event }) => {
      types.push(event.type);
      events.push(event);
    },
  });
  const say = async (content: string, id = `u${client.messages.length}`) => {
    client.addMessage({ id, role: "user", content });
    return client.runAgent();
  };
  return { client, types, events, say };
}

/** What a page shows, without ids. */
const shown = (messages: readonly Message[]) =>
  messages.map((message) => [
    message.role,
    message.content,
    ...("toolCalls" in message && message.toolCalls !== undefined
      ? message.toolCalls.map(({ function: { name, arguments: args } }) => `${name} ${args}`)
      : []),
  ]);

describe("the client of AG-UI", () => {
  it("is told text as it is written, the answer as result, and the usage", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serving(runsFile(), { agents: [talker(gate.promise)] });
    const { say, client, types, events } = page(server, "talker");
    client.subscribe({ onTextMessageContentEvent: () => gate.resolve() }); // its words are here before the model goes on
    const { result, newMessages } = await say("Hi");
    expect(result).toBe("Hello there!");
    expect(shown(newMessages)).toEqual([["assistant", "Hello there!"]]);
    expect(shown(client.messages)).toEqual([
      ["user", "Hi"],
      ["assistant", "Hello there!"],
    ]);
    expect(types.filter((type, place) => type !== types[place - 1])).toEqual([
      "RUN_STARTED",
      "STEP_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "STEP_FINISHED",
      "RUN_FINISHED",
    ]);
    expect(events.at(-1)?.["usage"]).toEqual([{ inputTokens: 3, outputTokens: 3, totalTokens: 6 }]);
  });

  it("keeps messages of other kinds for itself: what an agent did before, as objects", async () => {
    const server = serving(runsFile(), { agents: [talker()] });
    const done = { id: "a", role: "activity", activityType: "PLAN", content: { steps: [] } } as const;
    const messages: Message[] = [done, { id: "m1", role: "user", content: "Hi" }];
    const { client } = page(server, "talker", { messages });
    expect((await client.runAgent()).result).toBe("Hello there!");
    const statusOf = async (content: unknown) => {
      const body = { threadId: "t2", runId: "r", messages: [done, { id: "m2", role: "user", content }] };
      return (await ask(server, "POST /v1/agui/talker", { body })).status;
    };
    expect([await statusOf("Hi"), await statusOf({ steps: [] })]).toEqual([200, 400]);
  });

  it("is told thoughts apart from words, calls with their arguments, and results", async () => {
    const model: Model = {
      id: "thinker",
      features: { tools: true },
      async *stream({ messages }) {
        const isLater = messages.some(({ role }) => role === "tool");
        yield { type: "reasoning-delta", text: isLater ? "Now " : "I must " };
        yield { type: "reasoning-delta", text: isLater ? "I know." : "look." };
        if (isLater) yield { type: "text-delta", text: "It is there." };
        else {
          yield { type: "call-start", id: "c1", name: "look" };
          yield { type: "call-delta", id: "c1", text: '{"at":' };
          yield { type: "call-delta", id: "c1", text: '"door"}' };
          yield { type: "call-end", id: "c1", arguments: { at: "door" } };
        }
        yield {
          type: "end",
          finishReason: isLater ? "stop" : "tool-calls",
          usage: { inputTokens: 5, outputTokens: 5 },
        };
      },
    };
    const looker = agent({ name: "looker", model, tools: [fakeTool("look", "seen")] });
    const server = serving(runsFile(), { agents: [looker] });
    const { say, client } = page(server, "looker");
    await say("Look");
    expect(shown(client.messages)).toEqual([
      ["user", "Look"],
      ["reasoning", "I must look."],
      ["assistant", undefined, 'look {"at":"door"}'],
      ["tool", "seen"],
      ["reasoning", "Now I know."],
      ["assistant", "It is there."],
    ]);
  });

  it("asks before a call, takes other arguments, and goes on in the same messages", async () => {
    const paid: unknown[] = [];
    const server = serving(runsFile(), { agents: [payer(paid)] });
    const { say, client, events, types } = page(server, "payer");
    await say("Pay Ada");
    const [interrupt] = client.pendingInterrupts;
    const [call] = client.messages.flatMap((one) => ("toolCalls" in one ? (one.toolCalls ?? []) : []));
    expect(interrupt).toMatchObject({ reason: "tool_call", message: "money leaves", toolCallId: call?.id });
    expect(interrupt?.metadata).toMatchObject({ tool: "pay", arguments: { to: "Ada" }, rule: "money" });
    const payload = { approved: true, arguments: { to: "Grace" } };
    const interruptId = String(interrupt?.id);
    await client.runAgent({ resume: [{ interruptId, status: "resolved", payload }] });
    expect(paid).toEqual([{ to: "Grace" }]);
    expect(client.pendingInterrupts).toEqual([]);
    expect(shown(client.messages)).toEqual([
      ["user", "Pay Ada"],
      ["assistant", undefined, 'pay {"to":"Ada"}'],
      ["tool", '(A person changed the arguments to {"to":"Grace"}.)\npaid'],
      ["assistant", "Paid."],
    ]);
    expect(types.filter((type) => type === "RUN_FINISHED")).toHaveLength(2);
    expect(events.find(({ type }) => type === "TOOL_CALL_RESULT")?.["metadata"]).toEqual({ status: "ok" });
  });

  it("takes an interrupt that was cancelled for a no, and the same answer again without harm", async () => {
    const paid: unknown[] = [];
    const server = serving(runsFile(), { agents: [payer(paid)] });
    const { say, client } = page(server, "payer");
    await say("Pay Ada");
    const resume = client.pendingInterrupts.map(({ id }) => ({
      interruptId: id,
      status: "cancelled" as const,
    }));
    const before = structuredClone(client.messages);
    await client.runAgent({ resume });
    expect(paid).toEqual([]);
    expect(shown(client.messages).at(-1)).toEqual(["assistant", "Paid."]);
    const again = page(server, "payer", { messages: before });
    const yes = resume.map((entry) => ({
      ...entry,
      status: "resolved" as const,
      payload: { approved: true },
    }));
    await again.client.runAgent({ resume: yes });
    expect(paid).toEqual([]);
    expect(shown(again.client.messages)).toEqual(shown(client.messages));
  });

  it("asks all questions of a turn beside the results of the other calls", async () => {
    const calls = ["pay", "look", "pay"].map((name, place) => ({ name, arguments: { place } }));
    const clerk = agent({
      name: "clerk",
      tools: [fakeTool("pay", "paid"), fakeTool("look", "seen")],
      policy: ({ tool: name }) =>
        name === "look"
          ? { verdict: "allow", rule: "free", reason: "" }
          : { verdict: "ask", rule: "money", reason: "money leaves" },
      model: ({ messages }) => (messages.some(({ role }) => role === "tool") ? "Done." : { calls }),
    });
    const { say, client } = page(serving(runsFile(), { agents: [clerk] }), "clerk");
    await say("Pay both");
    expect(client.pendingInterrupts).toHaveLength(2);
    expect(shown(client.messages).at(-1)).toEqual(["tool", "seen"]);
    const resume = client.pendingInterrupts.map(({ id: interruptId }) => ({
      interruptId,
      status: "resolved" as const,
      payload: { approved: true },
    }));
    await client.runAgent({ resume });
    expect(shown(client.messages).map(([, content]) => content)).toEqual([
      "Pay both",
      undefined,
      "seen",
      "paid",
      "paid",
      "Done.",
    ]);
  });

  it("is told all messages where a reply begins anew or ends otherwise, and sees nothing twice", async () => {
    const before: AguiMessage[] = [{ id: "u0", role: "user", content: "Tell" }];
    const events = new AguiEvents({ prefix: "u0/", before, state: {} });
    const around = { seq: 1, agent: "teller", runId: "r1", at: 0 };
    const said = [{ type: "turn-start" }, { type: "message-start", driver: "native" }];
    const thought = (text: string) => ({ type: "reasoning-delta", text });
    const text = (words: string) => ({ type: "text-delta", text: words });
    const piece = (json: string) => ({ type: "call-delta", callId: "c1", name: "look", text: json });
    const call = { type: "tool-call", id: "c1", name: "look", arguments: { at: "door" } };
    const message = {
      role: "assistant",
      parts: [{ type: "reasoning", text: "Second" }, { type: "text", text: "Well, I look." }, call],
    };
    const told = [
      ...said,
      thought("First"),
      text("I"),
      thought("Again"),
      piece('{"at"'),
      { type: "message-start", driver: "native" }, // another process begins it anew
      thought("Second"),
      text("Well"),
      piece("{'at':'door'}"),
      { type: "message-end", message, driver: "native", finishReason: "tool-calls", durationMs: 1 }, // mended
    ].flatMap((event) => events.of({ ...around, turn: 1, ...event } as AgentEvent));
    const run = { threadId: "t1", runId: "r1" };
    const sent = [
      { type: "RUN_STARTED", ...run },
      ...told,
      ...events
        .ended({ type: "cancelled", reason: "enough" }, undefined)
        .map((one) => (one.type === "RUN_FINISHED" ? { ...one, ...run } : one)),
    ];
    const body = sent.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    const answer = new Response(body, { headers: { "content-type": "text/event-stream" } });
    const { say, client, types } = page({ fetch: async () => answer }, "teller");
    await say("Tell");
    expect(types.filter((type) => type === "MESSAGES_SNAPSHOT")).toHaveLength(2);
    expect(shown(client.messages).filter(([, content]) => content !== "")).toEqual([
      ["user", "Tell"],
      ["reasoning", "Second"],
      ["assistant", "Well, I look.", 'look {"at":"door"}'],
    ]);
    expect(client.messages).toEqual(events.messages);
  });

  it.each([
    ["words", { type: "text-delta", text: "I" }],
    ["thoughts", { type: "reasoning-delta", text: "First" }],
    ["a call", { type: "call-delta", callId: "c1", name: "look", text: "{" }],
  ])("keeps nothing of %s alone where a reply begins anew", (_what, shownFirst) => {
    const events = new AguiEvents({ prefix: "u0/", before: [], state: {} });
    const said = [{ type: "turn-start" }, { type: "message-start" }, shownFirst, { type: "message-start" }];
    const told = said.flatMap((event) =>
      events.of({ seq: 1, agent: "teller", runId: "r1", at: 0, turn: 1, ...event } as AgentEvent),
    );
    expect(told.at(-1)).toEqual({ type: "MESSAGES_SNAPSHOT", messages: events.messages });
    const isLeft = ({ content = "", toolCalls = [] }: AguiMessage) => content !== "" || toolCalls.length > 0;
    expect(events.messages.filter(isLeft)).toEqual([]);
  });

  it("is given the thread when its page is loaded anew: what was said, what is written, what is asked", async () => {
    const gate = Promise.withResolvers<void>();
    const store = inMemorySessions();
    const told: string[] = [];
    const slow = wordByWord(["Hello ", "again"], gate.promise);
    const model: Model = {
      ...slow,
      stream(request, options) {
        told.push(request.messages.map(({ role }) => role).join());
        return slow.stream(request, options);
      },
    };
    const server = serving(runsFile(), {
      agents: [agent({ name: "greeter", model })],
      sessions: (id) => session(store, id),
    });
    const first = page(server, "greeter");
    gate.resolve();
    await first.say("Hi");
    await first.say("And again");
    expect(told.at(-1)).toBe("user,assistant,user");
    const anew = page(server, "greeter");
    await anew.client.runAgent();
    expect(anew.client.messages).toEqual(first.client.messages);
    // The same page, that lost its stream: it has the beginning of the answer.
    const lost = page(server, "greeter", {
      messages: first.client.messages.map((message, place) =>
        place === 3 ? { ...message, content: "Hel" } : message,
      ) as Message[],
    });
    await lost.client.runAgent();
    expect(lost.client.messages).toEqual(first.client.messages);
    const nothing = page(server, "greeter");
    nothing.client.threadId = "another";
    await nothing.client.runAgent();
    expect(nothing.types).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  });

  it("is asked again by another process when its page is loaded anew", async () => {
    const paid: unknown[] = [];
    const file = runsFile();
    const first = page(serving(file, { agents: [payer(paid)] }), "payer");
    await first.say("Pay Ada");
    const anew = page(serving(file, { agents: [payer(paid)] }), "payer");
    await anew.client.runAgent();
    expect(shown(anew.client.messages)).toEqual(shown(first.client.messages));
    const [interrupt] = anew.client.pendingInterrupts;
    const payload = { approved: true };
    await anew.client.runAgent({
      resume: [{ interruptId: String(interrupt?.id), status: "resolved", payload }],
    });
    expect(paid).toEqual([{ to: "Ada" }]);
  });

  it("is asked what an earlier run of the thread waits for, when its page is loaded anew", async () => {
    const paid: unknown[] = [];
    const file = runsFile();
    const server = serving(file, { agents: [payer(paid)] });
    await page(server, "payer").say("Pay Ada", "u1");
    const second = page(server, "payer"); // it knows of no question
    await second.say("Pay Grace", "u2");
    const resume = ([interrupt]: readonly { id: string }[], approved: boolean) => [
      { interruptId: String(interrupt?.id), status: "resolved" as const, payload: { approved } },
    ];
    await second.client.runAgent({ resume: resume(second.client.pendingInterrupts, false) });
    const stored = structuredClone(second.client.messages);
    for (const messages of [[], stored]) {
      const anew = page(serving(file, { agents: [payer(paid)] }), "payer", { messages });
      await anew.client.runAgent();
      const [interrupt] = anew.client.pendingInterrupts;
      expect(interrupt).toMatchObject({ reason: "tool_call", message: "money leaves" });
      expect(shown(anew.client.messages).at(-1)).toEqual(["assistant", "Paid."]);
      if (messages.length > 0) continue;
      expect(interrupt?.toolCallId).toMatch(/^u1\//);
      expect(
        shown(anew.client.messages)
          .slice(0, 3)
          .map(([role]) => role),
      ).toEqual(["user", "assistant", "user"]);
    }
    const last = page(server, "payer");
    await last.client.runAgent();
    await last.client.runAgent({ resume: resume(last.client.pendingInterrupts, true) });
    expect(last.client.pendingInterrupts).toEqual([]);
    expect(shown(last.client.messages).at(-1)).toEqual(["assistant", "Paid."]);
    expect(paid).toHaveLength(1);
    const ended = page(server, "payer");
    const { result } = await ended.client.runAgent();
    expect([result, ended.client.pendingInterrupts]).toEqual(["Paid.", []]);
  });

  it("keeps its state, and sees an answer of a schema in it as it is written", async () => {
    const model = wordByWord(['{"city":', '"Bonn"}']);
    const finder = agent({ name: "finder", model, output: z.object({ city: z.string() }) });
    const { say, client } = page(serving(runsFile(), { agents: [finder] }), "finder");
    client.setState({ theme: "dark" });
    const { result } = await say("Where?");
    expect(result).toEqual({ city: "Bonn" });
    expect(client.state).toEqual({ theme: "dark", output: { city: "Bonn" } });
  });

  it("carries out calls of its own tools, beside those of the agent", async () => {
    const given: unknown[] = [];
    const guide = agent({
      name: "guide",
      tools: [fakeTool("look", "order 17")],
      policy: ({ tool }) =>
        tool === "look"
          ? { verdict: "ask", rule: "peek", reason: "it looks" }
          : { verdict: "allow", rule: "free", reason: "" },
      model: ({ messages }) => {
        const results = messages.filter(({ role }) => role === "tool");
        if (results.length === 0)
          return { calls: ["open_page", "look"].map((name) => ({ name, arguments: { path: "/17" } })) };
        given.push(...results);
        return `Done: ${results.length}`;
      },
    });
    const file = runsFile();
    const { client, events, types } = page(serving(file, { agents: [guide] }), "guide");
    const tools = [{ name: "open_page", description: "Opens a page", parameters: { type: "object" } }];
    client.addMessage({ id: "u0", role: "user", content: "Show me" });
    await client.runAgent({ tools });
    const [interrupt] = client.pendingInterrupts; // what a person must say comes first
    expect(interrupt?.metadata).toMatchObject({ tool: "look" });
    const payload = { approved: true };
    const resume = [{ interruptId: String(interrupt?.id), status: "resolved" as const, payload }];
    await client.runAgent({ tools, resume });
    const [call] = client.messages.flatMap((one) => ("toolCalls" in one ? (one.toolCalls ?? []) : []));
    expect(events.at(-1)).toMatchObject({ outcome: { type: "success", pendingToolCallIds: [call?.id] } });
    const source = { type: "data" as const, value: "iVBORw0KGgo=", mimeType: "image/png" };
    const picture = { type: "image" as const, source };
    client.addMessage({ id: "result", role: "tool", toolCallId: String(call?.id), content: [picture] });
    const begun = types.length;
    const { result } = await client.runAgent({ tools });
    expect(result).toBe("Done: 2");
    const files = [{ type: "file", mediaType: source.mimeType, data: source.value }];
    expect(given).toContainEqual(expect.objectContaining({ name: "open_page", files }));
    expect(types.slice(begun)).not.toContain("MESSAGES_SNAPSHOT");
    expect(client.messages.filter(({ role }) => role === "tool")).toHaveLength(2);
    const anew = page(serving(file, { agents: [guide] }), "guide");
    await anew.client.runAgent();
    expect(anew.client.messages.filter(({ role }) => role === "tool")).toHaveLength(2);
  });

  it("is told of agents inside, and of an end that is no answer", async () => {
    const helper = agent({ name: "helper", description: "Helps", model: () => "helped" });
    const boss = agent({
      name: "boss",
      model: scripted([{ calls: [{ name: "helper", arguments: { input: "help" } }] }, "Done."]),
      tools: [helper.asTool()],
    });
    const bounded = agent({
      name: "bounded",
      budget: { turns: 1 },
      tools: [fakeTool("look", "seen")],
      model: () => ({ calls: [{ name: "look", arguments: {} }] }),
    });
    const server = serving(runsFile(), { agents: [boss, bounded] });
    const one = page(server, "boss");
    await one.say("Go");
    const begun = one.events.find(({ type }) => type === "SUBAGENT_STARTED");
    expect(begun).toMatchObject({ name: "helper" });
    expect(String(begun?.["subagentRunId"])).not.toMatch(/^web\//);
    expect(one.types).toContain("SUBAGENT_FINISHED");
    const other = page(server, "bounded");
    await other.say("Go").catch(() => undefined);
    expect(other.events.at(-1)).toMatchObject({
      type: "RUN_ERROR",
      code: "exhausted",
      message: "The run exceeded budget of 1 turns.",
    });
  });
});

describe("what a page may not send", () => {
  const input = (more: object): Partial<RunAgentInput> => ({
    threadId: "t1",
    runId: "r1",
    messages: [{ id: "u1", role: "user", content: "Hi" }],
    ...more,
  });
  const tool = { name: "page_tool", description: "Of the page" };
  const cases: [string, object][] = [
    ["no thread", input({ threadId: "" })],
    ["a tool of the page that is none", input({ tools: [{ ...tool, name: "page tool" }] })],
    ["two of one name", input({ tools: [tool, tool] })],
    ["an answer to nothing", input({ resume: [{ interruptId: "x", status: "resolved" }] })],
    [
      "a thread that begins with the assistant",
      input({
        messages: [
          { id: "u1", role: "user", content: "Hi" },
          { id: "a1", role: "assistant", content: "Hello" },
        ],
      }),
    ],
    [
      "a file elsewhere",
      input({
        messages: [
          {
            id: "u1",
            role: "user",
            content: [{ type: "image", source: { type: "url", value: "https://x.example" } }],
          },
        ],
      }),
    ],
  ];
  it.each(cases)("%s", async (_what, body) => {
    const server = serving(runsFile(), { agents: [talker()] });
    const response = ask(server, "POST /v1/agui/talker", { body });
    expect(await told(response)).toMatchObject({ status: 400, code: "request-invalid" });
  });

  it("an agent that is not there for it", async () => {
    const server = serving(runsFile(), { agents: [talker(), payer()] });
    const response = ask(server, "POST /v1/agui/payer", { body: input({}), headers: shop });
    const detail = 'There is no agent "payer".';
    expect(await told(response)).toMatchObject({ status: 404, code: "request-unknown", detail });
  });

  it("takes what the page knows for words of the user that are not their wish", async () => {
    const heard: string[] = [];
    const listener = agent({
      name: "listener",
      model: ({ messages }) => {
        heard.push(JSON.stringify(messages));
        return "Heard.";
      },
    });
    const server = serving(runsFile(), { agents: [listener] });
    const context = [{ description: "The open page", value: "invoice 17" }];
    const { client } = page(server, "listener");
    const image = {
      type: "image" as const,
      source: { type: "data" as const, value: "aGk=", mimeType: "image/png" },
    };
    client.addMessage({ id: "u0", role: "user", content: [{ type: "text", text: "What is it?" }, image] });
    await client.runAgent({ context });
    expect(heard[0]).toContain("The open page: invoice 17");
    expect(heard[0]).toContain("image/png");
    const anew = page(server, "listener");
    await anew.client.runAgent();
    expect(anew.client.messages).toEqual(client.messages);
  });
});
