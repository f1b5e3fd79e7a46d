import { describe, expect, it } from "vitest";
import { sqliteRuns } from "../../src/sqlite.ts";
import { whileRead } from "../../src/server/mcp/while-read.ts";
import { eventStream, type Sent } from "../../src/server/sse.ts";
import { ask, runsFile, serving, talker, told, until, web } from "./scene.ts";

const never = new Promise<never>(() => undefined);
const start = { agent: "talker", input: "Hi", id: "a" };
const messages = [{ role: "user", content: "Hi" }];
const toAgent = {
  jsonrpc: "2.0",
  id: 1,
  method: "SendMessage",
  params: { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "Hi" }] } },
};

describe("a stream that its reader leaves", () => {
  it("ends its events, also where it was behind them", async () => {
    let ended = 0;
    async function* facts(): AsyncGenerator<Sent, void> {
      try {
        for (;;) yield { data: "{}" };
      } finally {
        ended += 1;
      }
    }
    const timer = () => () => undefined;
    const { body } = eventStream(facts(), { timer, onEnd: () => undefined, failure: () => undefined });
    const reader = body?.getReader();
    await reader?.read();
    await reader?.read();
    await reader?.cancel();
    expect(ended).toBe(1);
  });
});

describe("a place that is held while an answer is read", () => {
  const broken = (): Response =>
    new Response(new ReadableStream({ pull: (controller) => controller.error(new Error("broken")) }));

  it.each(["read", "cancelled", "gone before", "gone meanwhile", "failed", "empty", "broken"])(
    "is given back: %s",
    async (how) => {
      const gone = new AbortController();
      const request = new Request("http://localhost/", { signal: gone.signal });
      let free = 0;
      const take = () => () => void (free += 1);
      if (how === "gone before") gone.abort();
      const answer = whileRead(request, take, async () => {
        if (how === "failed") throw new Error("no answer");
        if (how === "broken") return broken();
        return how === "empty" ? new Response(null, { status: 202 }) : new Response("words");
      });
      if (how === "failed") await expect(answer).rejects.toThrow("no answer");
      else {
        const response = await answer;
        if (how === "gone meanwhile") gone.abort();
        if (how === "cancelled") await response.body?.cancel();
        else await response.text().catch(() => undefined);
      }
      expect(free).toBeGreaterThan(0);
    },
  );
});

describe("a stream that breaks off by a fault of the server", () => {
  const run = { agent: "talker", input: "Hi", id: "chat/talker/c/m", session: "chat/talker/c" };
  it.each([
    ["the events of a run", "GET /runs/chat%2Ftalker%2Fc%2Fm/events"],
    ["a chat", "POST /chat/talker"],
  ])("is told to whom its faults are told: %s", async (_what, path) => {
    const errors: unknown[] = [];
    const file = runsFile();
    const first = serving(file, { agents: [talker()] });
    await ask(first, "POST /runs", { body: run });
    await until(async () => (await told(ask(first, "GET /runs/chat%2Ftalker%2Fc%2Fm"))).end);
    await first.drain();
    const store = sqliteRuns(file);
    const broken = new Proxy(store, {
      get(target, name) {
        if (name === "records") return () => Promise.reject(new Error("the disk is gone"));
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const server = serving(file, {
      store: broken,
      agents: [talker()],
      work: false,
      onError: (error) => errors.push(error),
    });
    const chat = { id: "c", messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "Hi" }] }] };
    const response = await ask(server, path, path.startsWith("POST") ? { body: chat } : {});
    expect(await response.text()).toContain("the server failed");
    expect(errors).toMatchObject([{ message: "the disk is gone" }]);
    store.close();
  });
});

describe("a place among the open streams of a caller", () => {
  const bounded = { agents: [talker(never)], limits: { streams: 1 } };

  it("is not taken by a request for the head of a stream, which has no body", async () => {
    const server = serving(runsFile(), bounded);
    await ask(server, "POST /runs", { body: start });
    for (let again = 0; again < 2; again += 1) {
      const { status, headers, body } = await ask(server, "HEAD /runs/a/events");
      expect([status, headers.get("content-type"), body]).toEqual([200, "text/event-stream", null]);
    }
  });

  const page = { threadId: "t", runId: "r", messages: [{ id: "m", ...messages[0] }] };
  const chat = { id: "c", messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "Hi" }] }] };

  it.each<[string, string, object]>([
    ["a run", "POST /runs", { agent: "talker", input: "Hi" }],
    ["a completion", "POST /v1/chat/completions", { model: "talker", messages }],
    ["a streamed completion", "POST /v1/chat/completions", { model: "talker", messages, stream: true }],
    ["a response", "POST /v1/responses", { model: "talker", input: "Hi" }],
    ["a chat", "POST /chat/talker", chat],
    ["AG-UI", "POST /v1/agui/talker", page],
    ["A2A", "POST /v1/a2a/talker", toAgent],
  ])(
    "is there before a run is begun, which who is refused would begin again: %s",
    async (_what, path, body) => {
      const server = serving(runsFile(), bounded);
      const headers = { ...web, accept: "text/event-stream", "a2a-version": "1.0" };
      await ask(server, "POST /runs", { body: start, headers });
      expect((await ask(server, path, { body, headers })).status).toBe(429);
      expect((await told(ask(server, "GET /runs"))).runs).toHaveLength(1);
    },
  );

  it("is free again where no run is begun", async () => {
    const server = serving(runsFile(), bounded);
    for (const wanted of [
      { model: "talker", messages: [] },
      { model: "nobody", messages },
    ])
      for (let again = 0; again < 2; again += 1)
        expect((await ask(server, "POST /v1/chat/completions", { body: wanted })).status).not.toBe(429);
    const body = { agent: "nobody", input: "Hi" };
    const headers = { ...web, accept: "text/event-stream" };
    for (let again = 0; again < 2; again += 1)
      expect((await ask(server, "POST /runs", { body, headers })).status).toBe(400);
  });

  it.each<[string, string, object]>([
    ["a chat completion", "/v1/chat/completions", { model: "talker", messages }],
    ["a response", "/v1/responses", { model: "talker", input: "Hi" }],
    ["a task", "/v1/a2a/talker", toAgent],
  ])(
    "is free again when a client is gone that waited for all of %s, and nobody is told of a fault",
    async (_what, path, body) => {
      const errors: unknown[] = [];
      const server = serving(runsFile(), { ...bounded, onError: (error) => errors.push(error) });
      await ask(server, "POST /runs", { body: start });
      const gone = new AbortController();
      const headers = { ...web, "a2a-version": "1.0" };
      const init = { method: "POST", headers, body: JSON.stringify(body), signal: gone.signal };
      const answer = server.fetch(new Request(`http://localhost${path}`, init));
      const second = async () => (await ask(server, "HEAD /runs/a/events")).status;
      await until(async () => (await second()) === 429);
      gone.abort();
      await until(async () => (await second()) === 200);
      await answer;
      expect(errors).toEqual([]);
    },
  );
});
