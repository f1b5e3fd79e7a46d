import { describe, expect, it } from "vitest";
import { eventStream, type Sent } from "../../src/server/sse.ts";
import { ask, runsFile, serving, talker, until, web } from "./scene.ts";

const never = new Promise<never>(() => undefined);
const start = { agent: "talker", input: "Hi", id: "a" };
const messages = [{ role: "user", content: "Hi" }];

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

  it.each<[string, string, object]>([
    ["a chat completion", "/v1/chat/completions", { model: "talker", messages }],
    ["a response", "/v1/responses", { model: "talker", input: "Hi" }],
    [
      "a task",
      "/v1/a2a/talker",
      {
        jsonrpc: "2.0",
        id: 1,
        method: "SendMessage",
        params: { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "Hi" }] } },
      },
    ],
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
