import { describe, expect, it } from "vitest";
import { agent, isFact, type AgentEvent, tool } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";
import { serve } from "../../src/server.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import {
  ask,
  events,
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

const start = { agent: "talker", input: "Hi", id: "a/1" };
const stream = { ...web, accept: "text/event-stream" };

describe("a run over HTTP", () => {
  it("is started once for an id, and its end can be read", async () => {
    const server = serving(runsFile(), { agents: [talker()] });
    const first = await ask(server, "POST /runs", { body: start });
    expect(first.headers.get("location")).toBe("runs/a%2F1");
    expect(await told(first)).toMatchObject({ status: 201 });
    expect(await told(ask(server, "POST /runs", { body: start }))).toMatchObject({
      id: "a/1",
      agent: "talker",
    });
    const other = await told(ask(server, "POST /runs", { body: { ...start, input: "Ho" } }));
    const detail: unknown = expect.stringContaining('The run "a/1" was');
    expect(other).toMatchObject({ status: 409, code: "run-differs", detail });
    const run = await until(async () => {
      const it = await told(ask(server, "GET /runs/a%2F1"));
      return it.end !== undefined && it;
    });
    expect(run).toMatchObject({ id: "a/1", end: { output: "Hello there!", outcome: { type: "answered" } } });
    expect(Object.keys(run)).not.toContain("options");
    expect((await told(ask(server, "GET /runs"))).runs).toMatchObject([{ id: "a/1" }]);
    expect(await told(ask(server, "DELETE /runs/a%2F1"))).toEqual({ status: 204 });
    expect(await told(ask(server, "GET /runs/a%2F1"))).toMatchObject({ status: 404, code: "run-missing" });
  });

  it("withdraws the question of an earlier run of its session, of its own caller alone", async () => {
    const server = serving(runsFile(), { agents: [payer(), talker()] });
    const pays = { agent: "payer", input: "Pay Ada", session: "kim" };
    await ask(server, "POST /runs", { body: { ...pays, id: "pays" } });
    await until(async () => (await questionsOf(server)).length === 1);
    const body = { agent: "talker", input: "Hi", session: "kim", whenWaiting: "withdraw" };
    await ask(server, "POST /runs", { body: { ...body, id: "strange" }, headers: shop });
    expect(await questionsOf(server)).toHaveLength(1);
    await ask(server, "POST /runs", { body: { ...body, id: "greets" } });
    expect(await questionsOf(server)).toEqual([]);
    const wrong = await told(ask(server, "POST /runs", { body: { ...body, whenWaiting: "forget" } }));
    expect(wrong).toMatchObject({ status: 400, code: "request-invalid" });
  });

  it("is heard word by word, and a reader who comes back gets what was missed, each fact once", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serving(runsFile(), { agents: [talker(gate.promise)] });
    const heard: AgentEvent[] = [];
    for await (const event of events(await ask(server, "POST /runs", { body: start, headers: stream }))) {
      heard.push(event);
      if (event.type === "text-delta") break; // the reader is gone in the middle of the message
    }
    const last = String(heard.at(-1)?.seq);
    const again = { ...web, "last-event-id": last };
    const back: AgentEvent[] = [];
    for await (const event of events(await ask(server, "GET /runs/a%2F1/events", { headers: again }))) {
      back.push(event);
      if (event.type === "text-delta") gate.resolve();
    }
    expect(back[0]).toMatchObject({ type: "message-start" }); // the deltas of an unfinished message begin anew
    expect(back.flatMap((event) => (event.type === "text-delta" ? [event.text] : []))).toEqual([
      "Hello ",
      "there",
      "!",
    ]);
    const facts = [...heard, ...back].filter(isFact);
    expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, index) => index + 1));
    expect(facts.at(-1)).toMatchObject({ type: "run-end", outcome: { type: "answered" }, runId: "a/1" });
    const later = await Array.fromAsync(events(await ask(server, "GET /runs/a%2F1/events")));
    const shown = ({ at: _at, ...event }: AgentEvent) => event;
    expect(later.map(shown)).toEqual(facts.map(shown));
    const none = await ask(server, `GET /runs/a%2F1/events?after=${facts.length}`);
    expect(none.status).toBe(204); // an EventSource does not come back
  });

  it("waits for an answer, which comes once, through another process, while a reader listens", async () => {
    const file = runsFile();
    const paid: unknown[] = [];
    const here = serving(file, { agents: [payer(paid)] });
    const there = serving(file, { agents: [payer()], work: false });
    const body = { agent: "payer", input: "Pay Ada", id: "p" };
    const heard = Array.fromAsync(events(await ask(here, "POST /runs", { body, headers: stream })));
    const question = await until(async () => (await questionsOf(there))[0]);
    const { key, request } = question;
    expect(question).toMatchObject({ runId: "p", request: { tool: "pay", arguments: { to: "Ada" } } });
    const answer = (more: object) =>
      told(
        ask(there, "POST /runs/p/answers", { body: { key, approved: true, hash: request.hash, ...more } }),
      );
    expect(await answer({ hash: "another" })).toMatchObject({ status: 409, code: "question-changed" });
    expect(await answer({ for: "run", free: ["to"] })).toMatchObject({
      status: 409,
      code: "question-closed",
    });
    expect(await answer({ arguments: { to: [] } })).toMatchObject({ status: 400, code: "edit-invalid" });
    expect(await answer({ arguments: { to: [] }, hash: "another" })).toMatchObject({
      code: "question-changed",
    });
    expect(await answer({ arguments: { to: "Grace" } })).toEqual({ status: 204 });
    expect(await answer({})).toMatchObject({ status: 409, code: "question-answered" });
    expect((await heard).at(-1)).toMatchObject({
      type: "run-end",
      outcome: { type: "answered", content: "Paid." },
    });
    expect(paid).toEqual([{ to: "Grace" }]);
    const shown = ({ seq, type }: AgentEvent) => [seq, type];
    const recorded = await Array.fromAsync(events(await ask(there, "GET /runs/p/events")));
    expect((await heard).filter(isFact).map(shown)).toEqual(recorded.map(shown));
  });

  it("is sent the signal that a tool of it waits for, and shows what it waits for", async () => {
    const hear = tool({
      name: "hear",
      description: "",
      inputSchema: { type: "object" },
      effect: "read",
      execute: (_nothing, { waitFor }) => waitFor("word", { schema: { type: "string" } }),
    });
    const model = scripted([{ calls: [{ name: "hear" }] }, "Heard."]);
    const server = serving(runsFile(), {
      agents: [agent({ name: "hearer", model, tools: [hear] })],
    });
    await ask(server, "POST /runs", { body: { agent: "hearer", input: "Go", id: "h" } });
    const { request } = await until(async () => (await questionsOf(server))[0]);
    expect(request).toMatchObject({ waitsFor: { signal: "word", schema: { type: "string" } } });
    const send = (body: object) => told(ask(server, "POST /runs/h/signals", { body }));
    expect(await send({ name: "word", value: 1 })).toMatchObject({ status: 400, code: "signal-invalid" });
    expect(await send({ name: "word", value: "yes", id: "1" })).toEqual({ status: 204 });
    await until(async () => (await told(ask(server, "GET /runs/h"))).end);
    expect(await send({ name: "word", value: "yes", id: "1" })).toEqual({ status: 204 });
    expect(await send({ name: "word" })).toMatchObject({ status: 409, code: "run-ended" });
  });

  it("is followed where another process carries it out, and after that ended and the reader's process took it over", async () => {
    const file = runsFile();
    const store = sqliteRuns(file);
    const reader = serving(file, { agents: [payer()], work: false });
    const worker = serve({ store, agents: [payer()], principals });
    const body = { agent: "payer", input: "Pay Ada", id: "p" };
    const heard = Array.fromAsync(events(await ask(reader, "POST /runs", { body, headers: stream })));
    const question = await until(async () => (await questionsOf(reader, "/runs/p/questions"))[0]);
    await worker.drain();
    store.close();
    await ask(reader, "POST /runs/p/answers", {
      body: { key: question.key, hash: question.request.hash, approved: false, reason: "no" },
    });
    serving(file, { agents: [payer()] });
    const facts = (await heard).map(({ seq }) => seq);
    expect(facts).toEqual(facts.map((_, index) => index + 1));
    expect((await heard).at(-1)).toMatchObject({ type: "run-end", outcome: { type: "answered" } });
  });

  it("is cancelled while its model is asked, and every reader is told that end", async () => {
    const server = serving(runsFile(), { agents: [talker(new Promise(() => undefined))] });
    const heard = Array.fromAsync(events(await ask(server, "POST /runs", { body: start, headers: stream })));
    await until(async () => (await told(ask(server, "GET /runs/a%2F1"))).status && true);
    const run = await told(ask(server, "POST /runs/a%2F1/cancel", { body: { reason: "enough" } }));
    expect(run.end).toMatchObject({ outcome: { type: "cancelled", reason: "enough" } });
    expect((await heard).at(-1)).toMatchObject({
      type: "run-end",
      outcome: { type: "cancelled", reason: "enough" },
    });
  });
});

describe("a server that leaves", () => {
  it("ends its streams and takes nothing new; their readers go on at another one", async () => {
    const file = runsFile();
    const gate = Promise.withResolvers<void>();
    const first = serving(file, { agents: [talker(gate.promise)] });
    const heard: AgentEvent[] = [];
    const reading = (async () => {
      for await (const event of events(await ask(first, "POST /runs", { body: start, headers: stream })))
        heard.push(event);
    })();
    await until(async () => heard.some(({ type }) => type === "text-delta"));
    const drained = first.drain();
    await reading; // it ends although the run does not
    expect(heard.map(({ type }) => type)).not.toContain("run-end");
    expect(await told(ask(first, "GET /health"))).toMatchObject({ status: 503, code: "server-leaving" });
    expect(await told(ask(first, "POST /runs", { body: start }))).toMatchObject({ status: 503 });
    gate.resolve();
    await drained;
    const next = serving(file, { agents: [talker()] });
    const headers = { ...web, "last-event-id": String(heard.findLast(isFact)?.seq) };
    const rest = await Array.fromAsync(events(await ask(next, "GET /runs/a%2F1/events", { headers })));
    const facts = [...heard, ...rest].filter(isFact);
    expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_, index) => index + 1));
    expect(facts.at(-1)).toMatchObject({ outcome: { type: "answered", content: "Hello there!" } });
  });
});

describe("callers", () => {
  it("need a token that is theirs", async () => {
    const server = serving(runsFile(), { agents: [talker()] });
    for (const headers of [
      {},
      { authorization: "Bearer wrong" },
      { authorization: "Basic web-token" },
      { authorization: `Bearer ${"x".repeat(5000)}` },
    ]) {
      const response = await ask(server, "GET /runs", { headers: headers as Record<string, string> });
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      expect(await told(response)).toMatchObject({ status: 401, code: "request-unauthorized" });
    }
    expect(
      await told(ask(server, "GET /runs", { headers: { authorization: "Bearer old-token" } })),
    ).toMatchObject({ status: 200 });
    expect(await told(ask(server, "GET /health", { headers: {} }))).toMatchObject({ status: 200 });
  });

  it("see their own runs and agents alone, whatever ids others gave theirs", async () => {
    const server = serving(runsFile(), { agents: [talker(), payer()] });
    await ask(server, "POST /runs", { body: { agent: "payer", input: "x", id: "1" } });
    await until(async () => (await questionsOf(server))[0]);
    const asShop = (method: string, path: string, body?: unknown) =>
      told(ask(server, `${method} ${path}`, { body, headers: shop }));
    for (const id of ["1", "web%2F1", "..%2Fweb%2F1", "%2E%2E%2Fweb%2F1"]) {
      expect(await asShop("GET", `/runs/${id}`)).toMatchObject({ status: 404 });
      expect(await asShop("GET", `/runs/${id}/events`)).toMatchObject({ status: 404 });
      expect(await asShop("POST", `/runs/${id}/cancel`, {})).toMatchObject({ status: 404 });
      expect(await asShop("DELETE", `/runs/${id}`)).toMatchObject({ status: 404 });
    }
    expect((await asShop("GET", "/questions")).questions).toEqual([]);
    expect((await asShop("GET", "/runs")).runs).toEqual([]);
    expect((await asShop("GET", "/agents")).agents).toEqual([{ name: "talker" }]);
    const refused = await asShop("POST", "/runs", { agent: "payer", input: "x" });
    const unknown = await asShop("POST", "/runs", { agent: "nobody", input: "x" });
    expect(refused).toEqual(JSON.parse(JSON.stringify(unknown).replaceAll("nobody", "payer")));
    expect(await asShop("POST", "/runs", { agent: "talker", input: "x", id: "1" })).toMatchObject({
      status: 201,
      id: "1",
    });
    expect((await told(ask(server, "GET /runs/1"))).agent).toBe("payer");
  });

  it("are told of no machine and no process that carries out a run", async () => {
    const server = serving(runsFile(), { agents: [talker(new Promise(() => undefined))] });
    await ask(server, "POST /runs", { body: start });
    await until(async () =>
      JSON.stringify((await told(ask(server, "GET /runs"))).runs).includes('"status":"running"'),
    );
    const detail: unknown = expect.stringMatching(/^The run "a\/1" .* by a process of the server\.$/);
    const claimed = { status: 409, code: "run-claimed", detail };
    expect(await told(ask(server, "DELETE /runs/a%2F1"))).toMatchObject(claimed);
  });

  it("are whom a sign-in of the author's says, with runs and agents of their own", async () => {
    const told500: unknown[] = [];
    const server = serving(runsFile(), {
      agents: [talker(), payer()],
      async principals({ headers }) {
        const name = /session=(.+)/.exec(headers.get("cookie") ?? "")?.[1];
        if (name === "broken") throw new Error("the sessions are gone");
        return name === undefined ? undefined : { name, agents: ["talker"] };
      },
      onError: (error) => told500.push(error),
    });
    const as = (who: string) => ({ headers: { cookie: `session=${who}` } });
    const body = { agent: "talker", input: "x", id: "1" };
    expect(await told(ask(server, "POST /runs", { body, ...as("ada@example.com") }))).toMatchObject({
      status: 201,
    });
    expect(await told(ask(server, "GET /runs/1", as("ada@example.com")))).toMatchObject({ status: 200 });
    expect(await told(ask(server, "GET /runs/1", as("bob@example.com")))).toMatchObject({ status: 404 });
    const payment = { agent: "payer", input: "x" };
    expect(await told(ask(server, "POST /runs", { body: payment, ...as("bob") }))).toMatchObject({
      status: 400,
    });
    expect(await told(ask(server, "GET /runs", { headers: {} }))).toMatchObject({
      status: 401,
      code: "request-unauthorized",
    });
    for (const wrong of ["ada/1", "a b", "broken", "x".repeat(201)]) {
      const response = await told(ask(server, "GET /runs", as(wrong)));
      expect(response).toMatchObject({ status: 500 });
      expect(JSON.stringify(response)).not.toMatch(/sessions are gone|without `/);
    }
    expect(told500.map(String)).toEqual([
      expect.stringContaining("at most 200 characters without `/` and spaces"),
      expect.stringContaining("at most 200 characters without `/` and spaces"),
      "Error: the sessions are gone",
      expect.stringContaining("at most 200 characters without `/` and spaces"),
    ]);
  });

  it("without tokens reach it by the names of this machine alone", async () => {
    const server = serving(runsFile(), { agents: [talker()], principals: undefined });
    expect(await told(ask(server, "GET /runs", { headers: {} }))).toMatchObject({ status: 200 });
    const rebound = await server.fetch(new Request("http://evil.example/runs"));
    expect(await told(rebound)).toMatchObject({ status: 403, code: "request-forbidden" });
  });

  it("in a browser come from its own pages or from those that were named", async () => {
    const server = serving(runsFile(), { agents: [talker()], origins: ["https://app.example"] });
    const from = (origin: string, method = "GET") =>
      server.fetch(new Request("http://localhost/runs", { method, headers: { ...web, origin } }));
    expect((await from("https://evil.example")).status).toBe(403);
    expect((await from("null")).status).toBe(403);
    expect((await from("http://localhost")).status).toBe(200);
    const allowed = await from("https://app.example");
    expect(allowed.status).toBe(200);
    expect(allowed.headers.get("access-control-allow-origin")).toBe("https://app.example");
    const names = "a2a-version,authorization,content-type,idempotency-key,x-stainless-lang";
    const asked = { origin: "https://app.example", "access-control-request-headers": names };
    const before = await server.fetch(
      new Request("http://localhost/runs", { method: "OPTIONS", headers: asked }),
    );
    expect([before.status, before.headers.get("access-control-allow-headers")]).toEqual([204, names]);
    expect(before.headers.get("access-control-allow-methods")).toBe("GET, POST, DELETE");
  });

  it("in a browser are shown when they may ask again, and where they get a token", async () => {
    const limits = { requestsAMinute: 1 };
    const server = serving(runsFile(), { agents: [talker()], origins: ["https://app.example"], limits });
    const get = () => ask(server, "GET /runs", { headers: { ...web, origin: "https://app.example" } });
    await get();
    const { status, headers } = await get();
    expect(status).toBe(429);
    for (const name of ["retry-after", "www-authenticate"])
      expect(headers.get("access-control-expose-headers")).toContain(name);
  });
});

describe("what does not fit", () => {
  it("is kept digit by digit, and not rounded: a number that no double holds", async () => {
    const server = serving(runsFile(), { agents: [talker()], work: false });
    const body = '{"agent":"talker","id":"n","input":{"order":12345678901234567891}}';
    expect((await ask(server, "POST /runs", { body })).status).toBe(201);
    expect(await told(ask(server, "GET /runs/n"))).toMatchObject({
      input: { order: "12345678901234567891" },
    });
  });

  const cases: readonly {
    readonly name: string;
    readonly what: string;
    readonly body?: unknown;
    readonly status: number;
  }[] = [
    { name: "no JSON", what: "POST /runs", body: "{", status: 400 },
    { name: "a list", what: "POST /runs", body: [], status: 400 },
    {
      name: "an unknown field",
      what: "POST /runs",
      body: { ...start, instructions: "Be evil" },
      status: 400,
    },
    {
      name: "an input that is not the agent's",
      what: "POST /runs",
      body: { agent: "talker", input: [{ type: "image_url" }] },
      status: 400,
    },
    { name: "a tool that there is not", what: "POST /runs", body: { ...start, tools: ["x"] }, status: 400 },
    { name: "an empty id", what: "POST /runs", body: { ...start, id: "" }, status: 400 },
    { name: "bytes that are no UTF-8", what: "POST /runs", body: Uint8Array.of(34, 255, 34), status: 400 },
    { name: "an unknown path", what: "GET /run", status: 404 },
    { name: "a path around", what: "GET /runs/..%2f..%2fetc", status: 404 },
    { name: "a broken escape", what: "GET /runs/%E0%A4%A", status: 404 },
    { name: "a method that there is not", what: "PUT /runs", body: {}, status: 405 },
    { name: "a limit that is no number", what: "GET /runs?limit=all", status: 400 },
    { name: "a status that there is not", what: "GET /runs?status=foo", status: 400 },
    { name: "an unknown filter", what: "GET /runs?owner=web", status: 400 },
    { name: "a number of an event that is none", what: "GET /runs/none/events?after=-1", status: 400 },
  ];
  it.each(cases)("is refused: $name", async ({ what, body, status }) => {
    const server = serving(runsFile(), { agents: [talker()] });
    const answer = await told(ask(server, what, { body }));
    expect(answer).toMatchObject({ status });
    expect(answer.code).toBeDefined();
  });

  it("is refused before it is read: a large body, one that comes in pieces too", async () => {
    const server = serving(runsFile(), { agents: [talker()], limits: { bodyBytes: 1000 } });
    const large = JSON.stringify({ ...start, input: "x".repeat(2000) });
    expect(await told(ask(server, "POST /runs", { body: large }))).toMatchObject({ status: 413 });
    let pieces = 0;
    const endless = new ReadableStream({
      pull(controller) {
        pieces += 1;
        controller.enqueue(new Uint8Array(400));
      },
    });
    const request = new Request("http://localhost/runs", {
      method: "POST",
      headers: web,
      body: endless,
      duplex: "half",
    });
    expect(await told(server.fetch(request))).toMatchObject({ status: 413, code: "request-too-large" });
    expect(pieces).toBeLessThan(10);
  });

  it("is refused: more requests than a minute has, and more streams than are open at a time; others are not held up", async () => {
    const server = serving(runsFile(), {
      agents: [talker(new Promise(() => undefined))],
      limits: { requestsAMinute: 3, streams: 1 },
    });
    const open = await ask(server, "POST /runs", { body: start, headers: stream });
    const second = await ask(server, "GET /runs/a%2F1/events");
    expect([second.status, second.headers.get("retry-after")]).toEqual([429, "1"]);
    await open.body?.cancel();
    expect((await ask(server, "GET /runs/a%2F1/events")).status).toBe(200); // its place is free again
    const many = await ask(server, "GET /runs");
    expect([many.status, many.headers.get("retry-after")]).toEqual([429, "20"]);
    expect((await ask(server, "GET /runs", { headers: shop })).status).toBe(200);
    for (let again = 0; again < 5; again += 1) expect((await ask(server, "GET /health")).status).toBe(200);
  });

  it("tells nothing of the server's own troubles", async () => {
    const file = runsFile();
    const errors: unknown[] = [];
    const store = { ...sqliteRuns(file), read: async () => Promise.reject(new Error("secret /etc/passwd")) };
    const server = serving(file, { store, agents: [], work: false, onError: (error) => errors.push(error) });
    const answer = await told(ask(server, "GET /runs/x"));
    expect(answer).toEqual({
      type: "about:blank",
      title: "the server failed",
      status: 500,
      code: "server-failed",
    });
    expect(String(errors)).toContain("secret");
  });
});

describe("options of serve()", () => {
  it.each([
    [{ path: "agents" }, "path"],
    [{ principals: [{ name: "a/b", tokens: [] }] }, "name"],
    [{ principals: [{ name: "a", tokens: ["plain"] }] }, "tokens"],
    [{ principals: [principals[0], principals[0]] }, "web"],
    [{ origins: ["app.example"] }, "origins"],
    [{ limits: { streams: 0 } }, "streams"],
    [{ store: undefined }, "store"],
    [{ agent: [] }, "agents"],
  ])("say what does not fit: %j", (options, named) => {
    const store = sqliteRuns(":memory:");
    expect(() => serve({ store, work: false, ...options } as never)).toThrow(named);
    store.close();
  });
});
