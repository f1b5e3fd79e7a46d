import { createServer, type Server as HttpServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { getRequestListener } from "@hono/node-server";
import { rolldown } from "rolldown";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { runsClient, ServerError } from "../../src/client.ts";
import { type AgentEvent, isFact } from "../../src/index.ts";
import type { Server } from "../../src/server.ts";
import { payer, runsFile, serving, talker, until } from "../server/scene.ts";

const token = "web-token";

/** A server on a port, as another machine reaches it. */
async function listening(server: Pick<Server, "fetch">, port = 0): Promise<HttpServer> {
  const http = createServer((asked, answer) => void getRequestListener(server.fetch)(asked, answer)).listen(
    port,
    "127.0.0.1",
  );
  onTestFinished(() => {
    http.close();
    http.closeAllConnections();
  });
  await once(http, "listening");
  return http;
}

const portOf = (http: HttpServer): number => (http.address() as AddressInfo).port;

async function over(server: Pick<Server, "fetch">) {
  const http = await listening(server);
  return { http, runs: runsClient({ url: `http://127.0.0.1:${portOf(http)}/`, token: async () => token }) };
}

const words = (events: readonly AgentEvent[]): string =>
  events.map((event) => (event.type === "text-delta" ? event.text : "")).join("");

describe("a client of a server", () => {
  it.each([undefined, "https://agents.example", {}, { url: new URL("https://agents.example") }])(
    "is given its address as text: %j",
    (given) => {
      expect(() => runsClient(given as never)).toThrow("runsClient() needs a `url` as text");
    },
  );

  it("refuses a run in place of its id, and asks nobody", async () => {
    const fetch = vi.fn<() => Promise<Response>>(async () => Response.json({ questions: [], runs: [] }));
    const runs = runsClient({ url: "https://agents.example", fetch });
    const run = { id: "a", agent: "talker" } as never;
    const asked = [
      () => runs.show(run),
      () => runs.result(run),
      () => runs.waiting(run),
      () => runs.cancel(run),
      () => runs.erase(run),
      () => runs.list({ before: run }),
      () => Array.fromAsync(runs.events(run)),
    ];
    for (const each of asked) await expect(each()).rejects.toThrow("give `run.id`");
    expect(fetch).not.toHaveBeenCalled();
  });

  it("starts a run, hears its words, and reads what became of it", async () => {
    const { runs } = await over(serving(runsFile(), { agents: [talker(), payer()] }));
    expect(await runs.agents()).toEqual(["talker", "payer"]);
    expect(await runs.start("talker", "Hi", { id: "a/1" })).toMatchObject({ id: "a/1", agent: "talker" });
    const heard = await Array.fromAsync(runs.events("a/1"));
    expect(heard.at(-1)).toMatchObject({ type: "run-end", outcome: { type: "answered" } });
    expect(await runs.result("a/1")).toMatchObject({ output: "Hello there!" });
    expect(await Array.fromAsync(runs.events("a/1", { after: heard.length + 9 }))).toEqual([]);
    expect(await runs.list({ agent: "talker", status: undefined as never })).toMatchObject([{ id: "a/1" }]);
    expect(await runs.fork("a/1", { beforeTurn: 1, id: "b" })).toMatchObject({ fork: { run: "a/1" } });
    expect(await runs.retry("a/1")).toMatchObject({ status: "answered" });
    await runs.erase("a/1");
    await expect(runs.show("a/1")).rejects.toMatchObject({
      name: "ServerError",
      status: 404,
      code: "run-missing",
      message: expect.stringContaining('"a/1"'),
    });
  });

  it("answers a question with arguments in the place of the model's, and cancels", async () => {
    const paid: unknown[] = [];
    const { runs } = await over(serving(runsFile(), { agents: [payer(paid)] }));
    const { id } = await runs.start("payer", "Pay Ada");
    const result = runs.result(id);
    const question = await until(async () => (await runs.waiting())[0]);
    expect(await runs.waiting(id)).toEqual([question]);
    const { key, request } = question;
    const answer = { approved: true, hash: request.hash, arguments: { to: "Grace" } };
    await runs.answer(id, key, answer);
    await expect(runs.answer(id, key, answer)).rejects.toMatchObject({ code: "question-answered" });
    await expect(runs.settle(id, key, { happened: true })).rejects.toMatchObject({
      code: "call-not-unknown",
    });
    expect(await result).toMatchObject({ output: "Paid." });
    expect(paid).toEqual([{ to: "Grace" }]);
    await runs.start("payer", "Pay Ada", { id: "c" });
    await until(async () => (await runs.waiting("c"))[0]);
    expect(await runs.cancel("c", "enough")).toMatchObject({ status: "cancelled" });
    expect(await runs.result("c")).toMatchObject({ outcome: { type: "cancelled", reason: "enough" } });
  });

  it("reads on where it was after its server was killed and another one came in its place", async () => {
    const file = runsFile();
    const gate = Promise.withResolvers<void>();
    const first = serving(file, { agents: [talker(gate.promise)] });
    const { http, runs } = await over(first);
    await runs.start("talker", "Hi", { id: "a" });
    const heard: AgentEvent[] = [];
    const reading = (async () => {
      for await (const event of runs.events("a")) heard.push(event);
    })();
    await until(async () => heard.some(({ type }) => type === "text-delta"));
    const port = portOf(http);
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
    gate.resolve();
    await first.drain();
    await listening(serving(file, { agents: [talker()] }), port);
    await reading;
    const facts = heard.filter(isFact).map(({ seq }) => seq);
    expect(facts).toEqual(facts.map((_, index) => index + 1));
    expect(heard.at(-1)).toMatchObject({ type: "run-end", outcome: { content: "Hello there!" } });
  });

  it("leaves when its reader leaves, and the run goes on", async () => {
    const gate = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const server = serving(runsFile(), { agents: [talker(gate.promise)] });
    const { runs } = await over({
      fetch(request) {
        if (request.url.includes("/events")) request.signal.addEventListener("abort", () => closed.resolve());
        return server.fetch(request);
      },
    });
    await runs.start("talker", "Hi", { id: "a" });
    for await (const { type } of runs.events("a")) if (type === "text-delta") break;
    await closed.promise;
    const gone = new AbortController();
    const reading = Array.fromAsync(runs.events("a", { signal: gone.signal }));
    gone.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    gate.resolve();
    expect(await runs.result("a")).toMatchObject({ output: "Hello there!" });
  });
});

/** Servers that answer one request each. */
function answering(...answers: readonly (() => Response | Promise<Response>)[]) {
  const asked: string[] = [];
  const runs = runsClient({
    url: "http://far.example",
    async fetch({ url }) {
      asked.push(url);
      return (answers[asked.length - 1] ?? (() => Response.error()))();
    },
  });
  return { runs, asked };
}

const end = 'id: 2\ndata: {"type":"run-end","seq":2}\n\n';
const headers = { "content-type": "text/event-stream" };
const eventsFrom = (text: string) => () => new Response(text, { headers });

describe("reading events", () => {
  it("outlasts what passes: a proxy's page, a busy server, a failure in the middle, a cut event", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { runs, asked } = answering(
      eventsFrom('data: {"type":"run-start","seq":1}\n\ndata: {"type":"turn'),
      () => new Response("<h1>Bad gateway</h1>", { status: 502 }),
      () => new Response("{}", { status: 429, headers: { "retry-after": "20" } }),
      eventsFrom('event: error\ndata: {"status":503,"code":"database-failed","title":"x"}\n\n'),
      () => Promise.reject(new TypeError("fetch failed")),
      () => new Response(new ReadableStream(), { headers }), // silent for ever
      () => new Response("<h1>We are back soon</h1>"),
      eventsFrom(end),
    );
    const heard = Array.fromAsync(runs.events("a"));
    await vi.advanceTimersByTimeAsync(180_000);
    expect((await heard).map(({ type }) => type)).toEqual(["run-start", "run-end"]);
    expect(asked).toHaveLength(8);
    expect(asked[0]).toContain("after=0");
    expect(new Set(asked.slice(1))).toEqual(new Set(["http://far.example/runs/a/events?after=1"]));
  });

  it("ends with a failure of the server's own that lasts, and outlasts one that does not", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const failed = () =>
      Response.json({ code: "server-failed", title: "the server failed" }, { status: 500 });
    const often = (count: number) => Array.from({ length: count }, () => failed);
    const lasting = answering(eventsFrom('data: {"type":"run-start","seq":1}\n\n'), ...often(20));
    const unknown = answering(...often(20));
    const ends = [Array.fromAsync(lasting.runs.events("a")), unknown.runs.result("a")].map((end) =>
      expect(end).rejects.toMatchObject({ status: 500, code: "server-failed" }),
    );
    await vi.advanceTimersByTimeAsync(90_000);
    await Promise.all(ends);
    expect([lasting.asked.length, unknown.asked.length]).toEqual([13, 12]);
    const passing = answering(
      ...often(11),
      eventsFrom('data: {"type":"run-start","seq":1}\n\n'),
      ...often(11),
      () => new Response("<h1>Bad gateway</h1>", { status: 502 }),
      ...Array.from({ length: 20 }, () => () => new Response("<h1>Error</h1>", { status: 500 })), // a proxy's
      ...often(11),
      eventsFrom(end),
    );
    const outlasted = Array.fromAsync(passing.runs.events("a"));
    await vi.advanceTimersByTimeAsync(900_000);
    expect((await outlasted).map(({ type }) => type)).toEqual(["run-start", "run-end"]);
  });

  it("ends where no stream is at the address: a page, as servers of pages give it for any", async () => {
    const page = () => new Response("<h1>My app</h1>", { headers: { "content-type": "text/html" } });
    const { runs, asked } = answering(page);
    await expect(Array.fromAsync(runs.events("a"))).rejects.toThrow("no events but text/html");
    expect(asked).toHaveLength(1);
  });

  it("is told how long to wait in seconds, or by a date", async () => {
    const waitOf = async (said: string): Promise<number | undefined> => {
      const { runs } = answering(() => new Response("{}", { status: 429, headers: { "retry-after": said } }));
      const error: unknown = await runs.show("a").catch((thrown: unknown) => thrown);
      return error instanceof ServerError ? error.retryAfterMs : Number.NaN;
    };
    expect(await waitOf("20")).toBe(20_000);
    const inAnHour = (await waitOf(new Date(Date.now() + 3_600_000).toUTCString())) ?? 0;
    expect(inAnHour).toBeGreaterThan(3_000_000);
    expect(inAnHour).toBeLessThanOrEqual(3_600_000);
    expect(await waitOf("Wed, 21 Oct 2015 07:28:00 GMT")).toBe(0);
    expect(await waitOf("soon")).toBeUndefined();
  });

  it("waits for long where it is told a time that no timer has, and does not ask again and again", async () => {
    let asked = 0;
    const gone = new AbortController();
    const runs = runsClient({
      url: "http://localhost",
      async fetch() {
        asked += 1;
        return new Response("{}", { status: 503, headers: { "retry-after": "9999999999" } });
      },
    });
    const waiting = runs.result("r", { signal: gone.signal });
    await new Promise((resolve) => setTimeout(resolve, 200));
    gone.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    expect(asked).toBe(1);
  });

  it("ends with what will not pass", async () => {
    const refused = answering(() => Response.json({ code: "request-unauthorized" }, { status: 401 }));
    await expect(Array.fromAsync(refused.runs.events("a"))).rejects.toMatchObject({
      code: "request-unauthorized",
    });
    const broken = answering(
      eventsFrom('event: error\ndata: {"status":409,"code":"run-moved","title":"x"}\n\n'),
    );
    await expect(Array.fromAsync(broken.runs.events("a"))).rejects.toMatchObject({ code: "run-moved" });
    const unreachable = answering(() => Promise.reject(new TypeError("fetch failed")));
    await expect(Array.fromAsync(unreachable.runs.events("a"))).rejects.toThrow("fetch failed");
    const page = answering(() => new Response("<h1>Gone</h1>", { status: 410 }));
    await expect(page.runs.show("a")).rejects.toMatchObject({ status: 410, code: "http" });
    expect([refused, broken, unreachable, page].map(({ asked }) => asked.length)).toEqual([1, 1, 1, 1]);
  });

  it("ends with what the caller's own token function throws, also where it throws later", async () => {
    let tokens = 0;
    const runs = runsClient({
      url: "http://far.example",
      token() {
        tokens += 1;
        if (tokens > 1) throw new Error("signed out");
        return token;
      },
      fetch: async () => eventsFrom('data: {"type":"run-start","seq":1}\n\n')(),
    });
    await expect(Array.fromAsync(runs.events("a"))).rejects.toThrow("signed out");
    expect(tokens).toBe(2);
  });

  it("lets who waits for a result outlast a server that leaves when the run has ended", async () => {
    const { runs, asked } = answering(
      () => Response.json({ id: "a" }),
      eventsFrom(end),
      () => Response.json({ code: "server-leaving" }, { status: 503, headers: { "retry-after": "0" } }),
      () => Promise.reject(new TypeError("fetch failed")),
      () => Response.json({ id: "a", end: { output: "Hi" } }),
    );
    expect(await runs.result("a")).toEqual({ output: "Hi" });
    expect(asked.filter((url) => !url.includes("/events"))).toHaveLength(4);
    const gone = answering(
      () => Response.json({ id: "a" }),
      eventsFrom(end),
      () => Response.json({ code: "run-missing" }, { status: 404 }),
    );
    await expect(gone.runs.result("a")).rejects.toMatchObject({ code: "run-missing" });
    const unreachable = answering(() => Promise.reject(new TypeError("fetch failed")));
    await expect(unreachable.runs.result("a")).rejects.toThrow("fetch failed");
  });

  it("is not needed for the result of a run that has ended, whose agent may be there no more", async () => {
    const file = runsFile();
    const first = serving(file, { agents: [talker()] });
    const { runs } = await over(first);
    await runs.start("talker", "Hi", { id: "a" });
    await runs.result("a");
    await first.drain();
    const later = await over(serving(file, { agents: [payer()] }));
    expect(await later.runs.result("a")).toMatchObject({ output: "Hello there!" });
  });
});

describe("in a browser", () => {
  it("is one small file that asks for nothing of Node", async () => {
    const bundle = await rolldown({
      input: join(import.meta.dirname, "../../src/client.ts"),
      platform: "browser",
      external: [],
    });
    const { output } = await bundle.generate({ format: "iife", name: "writ", minify: true });
    await bundle.close();
    expect(output).toHaveLength(1);
    const { code, imports } = output[0];
    expect(imports).toEqual([]);
    expect(code).not.toMatch(/node:|\bprocess\b|\bBuffer\b/);
    expect(code.length).toBeLessThan(9400);
    const server = serving(runsFile(), { agents: [talker()] });
    const page = createContext({
      Request,
      Response,
      TextDecoder,
      AbortController,
      AbortSignal,
      URLSearchParams,
      setTimeout,
      clearTimeout,
      server,
      words,
    });
    const heard: unknown = await runInContext(
      `${code}; (async () => {
        const runs = writ.runsClient({ url: "http://localhost", token: "web-token", fetch: server.fetch });
        const { id } = await runs.start("talker", "Hi");
        const heard = [];
        for await (const event of runs.events(id)) heard.push(event);
        return words(heard) || heard.at(-1).outcome.content;
      })()`,
      page,
    );
    expect(heard).toBe("Hello there!");
  });
});
