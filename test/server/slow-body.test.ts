import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { listening } from "../../src/cli/listening.ts";
import { memoryRuns } from "../../src/durable.ts";
import { serve, type ServerLimits } from "../../src/server.ts";
import { talker } from "./scene.ts";

interface Listened {
  readonly url: string;
  /** Begins a request by hand. */
  readonly begin: (text: string) => Socket;
  readonly faults: readonly unknown[];
}

/** A server at a port, as `writ serve` has it. */
async function listened(limits: ServerLimits): Promise<Listened> {
  const faults: unknown[] = [];
  const onError = (error: unknown) => faults.push(error);
  const server = serve({ store: memoryRuns(), agents: [talker()], limits, onError });
  const listener = await listening(0, "127.0.0.1");
  listener.answer(server.fetch);
  const sockets: Socket[] = [];
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await Promise.all([listener.close(), server.drain({ graceMs: 0 })]);
  });
  const { address: url } = listener;
  const begin = (written: string): Socket => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("error", () => undefined); // it is cut while it writes
    socket.write(written);
    sockets.push(socket);
    return socket;
  };
  return { url, begin, faults };
}

const head = "POST /runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";
const body = `${head}Content-Length: 400\r\n\r\n`;

/** All that comes to a socket until it is closed: one that still writes when it is cut gets an error after the answer. */
async function text(socket: Socket): Promise<string> {
  let told = "";
  socket.on("data", (chunk) => (told += String(chunk)));
  await new Promise((resolve) => void socket.once("close", resolve));
  return told;
}

/** Writes the same again and again, until the socket is closed. */
function trickle(socket: Socket, written: string): Socket {
  const writing = setInterval(() => socket.write(written), 50);
  socket.once("close", () => clearInterval(writing));
  return socket;
}

describe("a client whose request comes slowly", () => {
  it.each([
    ["stops in the middle of the body", ({ begin }: Listened) => begin(`${body}{"agent`)],
    ["sends the body byte by byte", ({ begin }: Listened) => trickle(begin(body), " ")],
  ])("gets 408 and is cut where it %s", async (_how, ask) => {
    const server = await listened({ bodyMs: 400 });
    const answer = await text(ask(server)); // to the end of the connection
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('"code":"request-slow"');
    expect(server.faults).toEqual([]);
  });

  it("keeps nobody from being answered meanwhile", async () => {
    const { url, begin } = await listened({});
    const waiting = Array.from({ length: 200 }, () => begin(`${body}{`));
    await Promise.all(waiting.map((socket) => once(socket, "connect")));
    const asked = { agent: "talker", input: "Hi", id: "r" };
    const headers = { "content-type": "application/json" };
    const started = await fetch(`${url}/runs`, { method: "POST", headers, body: JSON.stringify(asked) });
    expect(started.status).toBe(201);
    expect(await (await fetch(`${url}/runs/r/events`)).text()).toContain("run-end");
  });

  it("is no fault of the server where it goes in the middle of its body", async () => {
    const { begin, faults, url } = await listened({});
    const socket = begin(`${body}{"agent`);
    await once(socket, "connect");
    await fetch(`${url}/health`);
    socket.destroy();
    await once(socket, "close");
    expect((await fetch(`${url}/health`)).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(faults).toEqual([]);
  });

  it("gets 408 by its headers, too, where these come line by line", async () => {
    const { begin, faults } = await listened({});
    const answer = await text(trickle(begin(head), "a: b\r\n"));
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(faults).toEqual([]);
  });
});

describe("a client that stops reading its answer", () => {
  it("holds up the end of the listener no longer than a moment, once all else is over", async () => {
    const listener = await listening(0, "127.0.0.1");
    const gone = Promise.withResolvers<unknown>();
    const bytes = new Uint8Array(1_000_000);
    const body = () =>
      new ReadableStream({ pull: (controller) => controller.enqueue(bytes), cancel: gone.resolve });
    listener.answer(async () => new Response(body()));
    const socket = connect(Number(new URL(listener.address).port), "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    socket.write("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    await once(socket, "readable"); // and nothing is read
    const over = Promise.withResolvers<void>();
    let isClosed = false;
    const closed = listener.close(over.promise).then(() => (isClosed = true));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(isClosed).toBe(false);
    over.resolve();
    await closed;
    await gone.promise;
  });
});

describe("a body that comes slowly, wherever the handler is mounted", () => {
  it.each(["/runs", "/mcp", "/v1/chat/completions", "/chat/talker", "/v1/agui/talker", "/v1/a2a/talker"])(
    "is answered with 408: %s",
    async (path) => {
      const faults: unknown[] = [];
      const onError = (error: unknown) => faults.push(error);
      const server = serve({
        store: memoryRuns(),
        agents: [talker()],
        mcp: {},
        limits: { bodyMs: 300 },
        onError,
      });
      onTestFinished(() => server.drain({ graceMs: 0 }));
      let isLeft = false;
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode('{"jsonrpc":')),
        cancel: () => void (isLeft = true),
      });
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
      const request = new Request(`http://localhost${path}`, {
        method: "POST",
        headers,
        body,
        duplex: "half",
      });
      expect((await server.fetch(request)).status).toBe(408);
      expect(isLeft).toBe(true);
      expect(faults).toEqual([]);
    },
  );
});

describe("a client with too many headers", () => {
  it("is refused with 431", async () => {
    const { begin, faults } = await listened({});
    const headers = Array.from({ length: 2_000 }, (_, index) => `X-${index}: 1\r\n`).join("");
    expect(await text(begin(`${head}${headers}\r\n`))).toMatch(/^HTTP\/1\.1 431 /);
    expect(faults).toEqual([]);
  });

  it.each([
    ["10 000 of them", Array.from({ length: 10_000 }, (_, index) => `X-${index}: 1\r\n`).join("")],
    ["one of a megabyte", `X: ${"a".repeat(1_000_000)}\r\n`],
  ])("is cut while it still writes, and others are answered: %s", async (_what, headers) => {
    const { url, begin, faults } = await listened({});
    const socket = begin(`${head}${headers}\r\n`);
    socket.resume();
    await new Promise((resolve) => void socket.once("close", resolve));
    expect((await fetch(`${url}/health`)).status).toBe(200);
    expect(faults).toEqual([]);
  });
});
