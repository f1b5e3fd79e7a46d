import { getToolName, isToolUIPart, type UIMessage, validateUIMessages } from "ai";
import { describe, expect, it, onTestFinished } from "vitest";
import { agent, session, tool } from "../../src/index.ts";
import type { Server } from "../../src/server.ts";
import { sqliteSessions } from "../../src/sqlite.ts";
import { fakeTool } from "../../src/testing.ts";
import { Page } from "./chat-page.ts";
import {
  ask,
  payer,
  principals,
  questionsOf,
  runsFile,
  serving,
  shop,
  talker,
  told,
  until,
  web,
} from "./scene.ts";

const shown = (message: UIMessage | undefined) =>
  message?.parts.map((part) =>
    part.type === "text"
      ? part.text
      : isToolUIPart(part)
        ? [
            getToolName(part),
            part.state,
            ...("output" in part && part.output !== undefined ? [part.output] : []),
          ]
        : part.type,
  );

/** The id of the first question in the last message. */
const askedIn = ({ lastMessage }: Page) => lastMessage?.parts.find(isToolUIPart)?.approval?.id ?? "";

describe("useChat's own client", () => {
  it("is told text as it is written, and keeps its messages", async () => {
    const server = serving(runsFile(), { agents: [talker()] });
    const page = new Page(server, "talker");
    await page.sendMessage({ text: "Hi" });
    expect(page.error).toBeUndefined();
    expect(page.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(shown(page.lastMessage)).toEqual(["step-start", "Hello there!"]);
    expect(page.seen.some((messages) => JSON.stringify(messages).includes('"Hello "'))).toBe(true);
  });

  it("is told of a server that leaves in the middle, and finds the whole answer at the next one", async () => {
    const file = runsFile();
    const gate = Promise.withResolvers<void>();
    const server = serving(file, { agents: [talker(gate.promise)] });
    const page = new Page(server, "talker");
    const sent = page.sendMessage({ text: "Hi" });
    await until(async () => shown(page.lastMessage)?.includes("Hello "));
    const drained = server.drain();
    await sent;
    expect([page.status, page.error?.message]).toEqual(["error", "server leaving"]);
    gate.resolve();
    await drained;
    const { messages } = await told(ask(serving(file, { agents: [talker()] }), "GET /chat/talker/c1"));
    expect(messages?.map((message) => shown(message)?.at(-1))).toEqual(["Hi", "Hello there!"]);
  });

  it("is told to come again where it comes back while the server leaves: there is something to come back to", async () => {
    const file = runsFile();
    const gate = Promise.withResolvers<void>();
    const server = serving(file, { agents: [talker(gate.promise)] });
    const page = new Page(server, "talker");
    const sent = page.sendMessage({ text: "Hi" });
    await until(async () => shown(page.lastMessage)?.includes("Hello "));
    const drained = server.drain();
    await sent;
    const { status, headers } = await ask(server, "GET /chat/talker/c1/stream");
    expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
    await page.resumeStream();
    expect([page.status, page.error?.message]).toEqual(["error", expect.stringContaining("server-leaving")]);
    gate.resolve();
    await drained;
  });

  it("answers a question that a later message left behind once the page has read its messages anew", async () => {
    const paid: unknown[] = [];
    const server = serving(runsFile(), { agents: [payer(paid)] });
    const page = new Page(server, "payer");
    await page.sendMessage({ text: "Pay Ada" });
    await page.sendMessage({ text: "Pay Bob" });
    page.messages = (await told(ask(server, "GET /chat/payer/c1"))).messages ?? [];
    for (const question of [1, 2]) {
      await page.resumeStream();
      await page.addToolApprovalResponse({ id: askedIn(page), approved: true });
      await until(async () => page.status === "ready" && paid.length === question);
    }
    const { messages } = await told(ask(server, "GET /chat/payer/c1"));
    expect(messages?.map((message) => shown(message)?.at(-1))).toEqual([
      "Pay Ada",
      "Paid.",
      "Pay Bob",
      "Paid.",
    ]);
  });

  it("shows a call, asks before it, and goes on in the same message with edited arguments", async () => {
    const paid: unknown[] = [];
    const server = serving(runsFile(), { agents: [payer(paid)] });
    const edits: Record<string, object> = {};
    const page = new Page(server, "payer", { body: { arguments: edits } });
    await page.sendMessage({ text: "Pay Ada" });
    expect(shown(page.lastMessage)).toEqual(["step-start", ["pay", "approval-requested"]]);
    const id = askedIn(page);
    edits[id] = { to: "Grace" };
    await page.addToolApprovalResponse({ id, approved: true });
    await until(
      async () =>
        page.status === "ready" && page.messages.length === 2 && shown(page.lastMessage)?.includes("Paid."),
    );
    expect(shown(page.lastMessage)).toEqual([
      "step-start",
      ["pay", "output-available", "paid"],
      "step-start",
      "Paid.",
    ]);
    expect(paid).toEqual([{ to: "Grace" }]);
  });

  it("is told that a person said no, and sends the same answer twice without harm", async () => {
    const paid: unknown[] = [];
    const server = serving(runsFile(), { agents: [payer(paid)] });
    const page = new Page(server, "payer");
    await page.sendMessage({ text: "Pay Ada" });
    const id = askedIn(page);
    await page.addToolApprovalResponse({ id, approved: false, reason: "not today" });
    await until(async () => page.status === "ready" && shown(page.lastMessage)?.includes("Paid."));
    expect(shown(page.lastMessage)).toContainEqual(["pay", "output-denied"]);
    const answered = structuredClone(page.lastMessage);
    for (const one of answered?.parts.filter(isToolUIPart) ?? [])
      Object.assign(one, { state: "approval-responded", approval: { id, approved: true } });
    const again = await ask(server, "POST /chat/payer", { body: { id: "c1", messages: [answered] } });
    expect(await again.text()).toContain("Paid.");
    expect(paid).toEqual([]);
  });

  it("asks all questions of a turn at once, beside the results of the other calls, and goes on when all are answered", async () => {
    const calls = [
      { name: "pay", arguments: { to: "Ada" } },
      { name: "look", arguments: { to: "Bob" } },
      { name: "pay", arguments: { to: "Bob" } },
    ];
    const clerk = agent({
      name: "clerk",
      tools: [fakeTool("pay", "paid"), fakeTool("look", "seen")],
      policy: ({ tool: name }) =>
        name === "look"
          ? { verdict: "allow", rule: "free", reason: "" }
          : { verdict: "ask", rule: "money", reason: "money leaves" },
      model: ({ messages }) => (messages.some(({ role }) => role === "tool") ? "Done." : { calls }),
    });
    const server = serving(runsFile(), { agents: [clerk] });
    const page = new Page(server, "clerk");
    await page.sendMessage({ text: "Pay both" });
    expect(shown(page.lastMessage)).toEqual([
      "step-start",
      ["pay", "approval-requested"],
      ["look", "output-available", "seen"],
      ["pay", "approval-requested"],
    ]);
    const ids =
      page.lastMessage?.parts.flatMap((part) => ("approval" in part ? [String(part.approval?.id)] : [])) ??
      [];
    await page.addToolApprovalResponse({ id: ids[0] ?? "", approved: true });
    await page.addToolApprovalResponse({ id: ids[1] ?? "", approved: false });
    await until(async () => page.status === "ready" && shown(page.lastMessage)?.includes("Done."));
    expect(shown(page.lastMessage)).toEqual([
      "step-start",
      ["pay", "output-available", "paid"],
      ["look", "output-available", "seen"],
      ["pay", "output-denied"],
      "step-start",
      "Done.",
    ]);
  });

  it("shows the questions of an agent inside as calls of their own, whatever ids models give, and goes on with each answer", async () => {
    const paid: unknown[] = [];
    const boss = agent({
      name: "boss",
      model: ({ messages }) => {
        const count = messages.filter(({ role }) => role === "tool").length;
        const calls = [{ name: "payer", arguments: { input: `Pay ${count}` } }];
        return count === 2 ? "Done." : { text: `Step ${count}.`, calls };
      },
      tools: [payer(paid).asTool()],
      policy: () => ({ verdict: "allow", rule: "free", reason: "" }),
    });
    const page = new Page(serving(runsFile(), { agents: [boss] }), "boss");
    await page.sendMessage({ text: "Pay twice" });
    for (const step of [0, 1]) {
      const part = await until(
        async () =>
          page.status === "ready" &&
          page.lastMessage?.parts.find((one) => "state" in one && one.state === "approval-requested"),
      );
      expect(shown(page.lastMessage)?.slice(5 * step)).toEqual([
        "step-start",
        `Step ${step}.`,
        ["payer", "input-available"],
        "step-start",
        ["pay", "approval-requested"],
      ]);
      const id = "approval" in part ? (part.approval?.id ?? "") : "";
      await page.addToolApprovalResponse({ id, approved: true });
    }
    await until(async () => page.status === "ready" && shown(page.lastMessage)?.includes("Done."));
    expect(shown(page.lastMessage)).toHaveLength(12);
    expect(paid).toHaveLength(2);
  });

  it("is asked nothing by a call that was approved and waits for a signal, and does not send its answer again and again", async () => {
    const hear = tool({
      name: "hear",
      description: "",
      inputSchema: { type: "object" },
      effect: "read",
      execute: (_nothing, { waitFor }) => waitFor("word"),
    });
    const hearer = agent({
      name: "hearer",
      model: () => ({ calls: [{ name: "hear", arguments: {} }] }),
      tools: [hear],
      policy: () => ({ verdict: "ask", rule: "ears", reason: "it listens" }),
    });
    const server = serving(runsFile(), { agents: [hearer] });
    let count = 0;
    const fetch = (request: Request): Promise<Response> => {
      count += 1;
      return server.fetch(request);
    };
    const page = new Page({ fetch }, "hearer");
    await page.sendMessage({ text: "Listen" });
    const id = askedIn(page);
    await page.addToolApprovalResponse({ id, approved: true });
    await until(async () => (await questionsOf(server))[0]?.request.waitsFor !== undefined);
    await until(async () => page.status === "ready");
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(count).toBe(2);
  });

  it("comes back to a stream after the page was loaded anew, in the middle of a message and while a question waits", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serving(runsFile(), { agents: [talker(gate.promise), payer()] });
    const first = new Page(server, "talker");
    void first.sendMessage({ text: "Hi" });
    await until(async () => shown(first.lastMessage)?.includes("Hello "));
    const user = first.messages.slice(0, 1);
    const second = new Page(server, "talker", { messages: user });
    const resumed = second.resumeStream();
    await until(async () => shown(second.lastMessage)?.includes("Hello "));
    gate.resolve();
    await resumed;
    expect(shown(second.lastMessage)).toEqual(["step-start", "Hello there!"]);
    await new Page(server, "talker", { messages: user }).resumeStream(); // ended: nothing to come back to
    const asking = new Page(server, "payer", { id: "c2" });
    await asking.sendMessage({ text: "Pay Ada" });
    const back = new Page(server, "payer", { id: "c2", messages: asking.messages.slice(0, 1) });
    await back.resumeStream();
    expect(shown(back.lastMessage)).toEqual(["step-start", ["pay", "approval-requested"]]);
  });

  it("comes back to a question that still waits, though the user has said something else meanwhile", async () => {
    const clerk = agent({
      name: "clerk",
      model: ({ messages }) =>
        JSON.stringify(messages.at(-1)).includes("Hello")
          ? "Hi."
          : { calls: [{ name: "pay", arguments: {} }] },
      tools: [fakeTool("pay", "paid")],
      policy: () => ({ verdict: "ask", rule: "money", reason: "money leaves" }),
    });
    const server = serving(runsFile(), { agents: [clerk] });
    const say = (id: string, text: string) =>
      ask(server, "POST /chat/clerk", {
        body: { id: "c", messages: [{ id, role: "user", parts: [{ type: "text", text }] }] },
      });
    expect(await (await say("m1", "Pay Ada")).text()).toContain("tool-approval-request");
    expect(await (await say("m2", "Hello")).text()).toContain("Hi.");
    const back = await ask(server, "GET /chat/clerk/c/stream");
    expect(back.status).toBe(200);
    expect(await back.text()).toMatch(/"messageId":"m1-answer".*"tool-approval-request"/s);
  });

  it("has what was said before from the session, whatever a page makes up", async () => {
    const file = runsFile();
    const sessions = sqliteSessions(file);
    onTestFinished(() => sessions.close());
    const echo = agent({
      name: "echo",
      model: ({ messages }) => JSON.stringify(messages.filter(({ role }) => role === "user").length),
    });
    const server = serving(file, { agents: [echo], sessions: (id) => session(sessions, id) });
    const page = new Page(server, "echo", {
      messages: [{ id: "m0", role: "user", parts: [{ type: "text", text: "made up" }] }],
    });
    await page.sendMessage({ text: "One" });
    expect(shown(page.lastMessage)).toEqual(["step-start", "1"]);
    await page.sendMessage({ text: "Two" });
    expect(shown(page.lastMessage)).toEqual(["step-start", "2"]);
  });

  it("sends files, and is told of a failed tool and a failed run", async () => {
    const look = tool({
      name: "look",
      description: "",
      inputSchema: { type: "object" },
      effect: "read",
      execute: () => {
        throw new Error("no light");
      },
    });
    const viewer = agent({
      name: "viewer",
      tools: [look],
      model: ({ messages }) => {
        if (messages.at(-1)?.role === "tool") throw new Error("model is gone");
        const seen = messages.flatMap((message) =>
          message.role === "user" ? message.parts.map(({ type }) => type) : [],
        );
        return { text: seen.join(), calls: [{ name: "look", arguments: {} }] };
      },
      retry: false,
    });
    const server = serving(runsFile(), { agents: [viewer] });
    const page = new Page(server, "viewer");
    const picture = {
      type: "file" as const,
      mediaType: "image/png",
      url: "data:image/png;base64,iVBORw0KGgo=",
    };
    await page.sendMessage({ text: "What is it?", files: [picture] });
    expect(page.error?.message).toContain("provider-failed");
    const parts = shown(page.lastMessage);
    expect(parts?.[1]).toMatch(/^(file,text|text,file)$/);
    expect(parts?.[2]).toEqual(["look", "output-error"]);
  });
});

describe("the messages of a chat", () => {
  const kept = async (server: Server, path: string, headers = web) =>
    (await told(ask(server, `GET /chat/${path}`, { headers }))).messages ?? [];

  it("are those that the page had, and a page that begins with them goes on", async () => {
    const paid: unknown[] = [];
    const server = serving(runsFile(), { agents: [payer(paid)] });
    const page = new Page(server, "payer");
    const picture = {
      type: "file" as const,
      mediaType: "image/png",
      url: "data:image/png;base64,iVBORw0KGgo=",
    };
    await page.sendMessage({ text: "Pay Ada", files: [picture] });
    const [question] = page.messages;
    expect(await kept(server, "payer/c1")).toEqual([question]); // the answer is at work: its stream tells it
    const id = askedIn(page);
    await page.addToolApprovalResponse({ id, approved: true });
    await until(async () => page.status === "ready" && shown(page.lastMessage)?.includes("Paid."));
    const messages = await kept(server, "payer/c1");
    expect(await validateUIMessages({ messages })).toEqual(messages);
    expect(messages.map(({ id: own }) => own)).toEqual(page.messages.map(({ id: own }) => own));
    expect(messages.map(shown)).toEqual(page.messages.map(shown));
    expect(messages[0]?.parts).toEqual(question?.parts);
    const run = `chat/payer/c1/${question?.id}`;
    expect(messages[1]?.metadata).toMatchObject({
      run,
      outcome: "answered",
      usage: { outputTokens: expect.any(Number) },
    });
    expect((await told(ask(server, `GET /runs/${encodeURIComponent(run)}`))).id).toBe(run);

    const later = new Page(server, "payer", { messages });
    await later.sendMessage({ text: "Pay Bob" });
    expect(later.messages.map(shown).at(-1)).toEqual(["step-start", ["pay", "approval-requested"]]);
    expect((await kept(server, "payer/c1")).map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(await kept(server, `payer/c1?before=${later.messages.at(-2)?.id}`)).toEqual(messages);
  });

  it("tell of refused and failed calls, and are nobody else's", async () => {
    const server = serving(runsFile(), { agents: [payer()], principals });
    const page = new Page(server, "payer");
    await page.sendMessage({ text: "Pay Ada" });
    const id = askedIn(page);
    await page.addToolApprovalResponse({ id, approved: false });
    await until(async () => page.status === "ready" && shown(page.lastMessage)?.includes("Paid."));
    const messages = await kept(server, "payer/c1");
    expect(await validateUIMessages({ messages })).toEqual(messages);
    expect(shown(messages[1])).toContainEqual(["pay", "output-denied"]);
    expect(await kept(server, "payer/c2")).toEqual([]);
    for (const asked of ["GET /chat/payer/c1", "GET /chat/payer/c1/stream"]) {
      expect(await told(ask(server, asked, { headers: shop }))).toMatchObject({ status: 404 });
      expect(await told(ask(server, asked, { headers: {} }))).toMatchObject({ status: 401 });
    }
  });

  it("are shown where others began runs in its session, with inputs of their own", async () => {
    const server = serving(runsFile(), { agents: [talker()] });
    const session = "chat/talker/c1";
    const inputs = [
      "Hi",
      [{ role: "user", content: "Hi" }],
      [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    ];
    for (const [place, input] of inputs.entries()) {
      const body = { agent: "talker", input, session, id: `${session}/m${place}` };
      expect(await told(ask(server, "POST /runs", { body }))).toMatchObject({ status: 201 });
    }
    await ask(server, "POST /runs", { body: { agent: "talker", input: "Hi", session, id: "elsewhere" } });
    const stream = await ask(server, "GET /chat/talker/c1/stream");
    expect(await stream.text()).not.toContain('"messageId":"-answer"');
    const asked = (await kept(server, "talker/c1")).filter(({ role }) => role === "user");
    expect(asked.map(({ id }) => id)).toEqual(["m0", "m1", "m2"]);
    expect(asked.map(shown)).toEqual([["Hi"], ['[{"role":"user","content":"Hi"}]'], ["Hi"]]);
  });

  it("have the words of an answer whose agent is another one by now", async () => {
    const file = runsFile();
    const first = serving(file, { agents: [talker()] });
    const page = new Page(first, "talker");
    await page.sendMessage({ text: "Hi" });
    await first.drain();
    const changed = agent({ name: "talker", instructions: "Be brief.", model: () => "Changed." });
    const messages = await kept(serving(file, { agents: [changed] }), "talker/c1");
    expect(messages.map((message) => shown(message)?.at(-1))).toEqual(["Hi", "Hello there!"]);
  });
});

describe("what a page sends that is no chat", () => {
  const user = { id: "m", role: "user", parts: [{ type: "text", text: "Hi" }] };
  it.each([
    ["no messages", { id: "c", messages: [] }, 400],
    ["an answer of its own making", { id: "c", messages: [{ id: "m", role: "assistant", parts: [] }] }, 400],
    [
      "an approval that was not asked",
      {
        id: "c",
        messages: [
          {
            id: "m",
            role: "assistant",
            parts: [
              { type: "dynamic-tool", state: "approval-responded", approval: { id: "x", approved: true } },
            ],
          },
        ],
      },
      400,
    ],
    [
      "an approval of another's run",
      {
        id: "c",
        messages: [
          {
            id: "m",
            role: "assistant",
            parts: [
              {
                type: "dynamic-tool",
                state: "approval-responded",
                approval: {
                  id: Buffer.from(JSON.stringify({ run: "shop/1", key: "k", hash: "h", after: 0 })).toString(
                    "base64url",
                  ),
                  approved: true,
                },
              },
            ],
          },
        ],
      },
      400,
    ],
    ["an answer to be written anew", { id: "c", messages: [user], trigger: "regenerate-message" }, 400],
    [
      "a file from an address",
      {
        id: "c",
        messages: [
          { ...user, parts: [{ type: "file", mediaType: "image/png", url: "https://evil.example/x.png" }] },
        ],
      },
      400,
    ],
  ])("is refused: %s", async (_name, body, status) => {
    const server = serving(runsFile(), { agents: [talker()] });
    expect(await told(ask(server, "POST /chat/talker", { body }))).toMatchObject({
      status,
      code: "request-invalid",
    });
    const unknown = { id: "c", messages: [user] };
    expect(await told(ask(server, "POST /chat/nobody", { body: unknown }))).toMatchObject({ status: 404 });
  });
});
