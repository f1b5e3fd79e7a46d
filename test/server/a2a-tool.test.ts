import { serve as listen, type ServerType } from "@hono/node-server";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { a2aTool, type A2aAgent } from "../../src/adapters/a2a/a2a.ts";
import { agent } from "../../src/index.ts";
import { file } from "../../src/tools.ts";
import { scripted } from "../../src/testing.ts";
import type { Server } from "../../src/server.ts";
import { ask, payer, runsFile, serving, talker, told, web } from "./scene.ts";

const open: ServerType[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

type Answer = (request: Request) => Response | Promise<Response>;

/** The address of a server of this machine that answers so. */
async function at(answer: Answer): Promise<string> {
  const server = listen({ fetch: answer, port: 0, hostname: "127.0.0.1" });
  open.push(server);
  await new Promise<void>((resolve) => server.once("listening", () => resolve()));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const words = {
  name: "theirs",
  description: "Somebody else's agent.",
  headers: web,
  effect: "read",
} as const;

/** The results of the calls that a clerk makes of an agent at an address. */
async function resultsOf(url: string, calls: readonly object[], about: Partial<A2aAgent> = {}) {
  const clerk = agent({
    name: "clerk",
    model: scripted([
      ...calls.map((args) => ({ calls: [{ name: "a2a/theirs", arguments: { ...args } }] })),
      "Done.",
    ]),
    tools: [a2aTool({ ...words, url, ...about })],
  });
  const { transcript, label } = await clerk.run("Ask them.", { approve: () => true });
  const results = transcript.messages.flatMap((message) => (message.role === "tool" ? [message] : []));
  return { label, results, texts: results.map(({ status, text }) => `${status}: ${text}`) };
}

/** The states of the runs of a server. */
async function statusesOf(server: Server): Promise<readonly unknown[]> {
  return (await told(ask(server, "GET /runs"))).runs.map((run) => Reflect.get(run, "status"));
}

describe("the tool of an agent that speaks A2A", () => {
  it("asks an agent of a server, and has its answer as a stranger's words", async () => {
    const server = serving(runsFile(), { agents: [talker()] });
    const url = `${await at(server.fetch)}/v1/a2a/talker/`;
    const { texts, label } = await resultsOf(url, [{ message: "Hi" }]);
    expect(texts).toEqual(["ok: Hello there!"]);
    expect(label.integrity).toBe("untrusted");
    await server.drain();
  });

  it("has the files of an answer beside its text, each with its type and its bytes", async () => {
    const files = [file("aGk=", "audio/wav"), file("iVBORw0KGgo=", "image/png")];
    const painter = agent({ name: "painter", model: () => ({ text: "Here.", files }) });
    const server = serving(runsFile(), { agents: [painter] });
    const url = `${await at(server.fetch)}/v1/a2a/painter/`;
    const { results, texts } = await resultsOf(url, [{ message: "Draw" }]);
    expect(texts).toEqual(["ok: Here.\n[audio: audio/wav, 2 bytes]\n[image: image/png, 8 bytes]"]);
    expect(results[0]?.files).toEqual([
      { type: "file", mediaType: "audio/wav", data: "aGk=" },
      { type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" },
    ]);
    await server.drain();
  });

  it("tells of a task that wants input, and approves nothing there by what a model says", async () => {
    const paid: unknown[] = [];
    const server = serving(runsFile(), { agents: [payer(paid)] });
    const url = `${await at(server.fetch)}/v1/a2a/payer/`;
    const { texts } = await resultsOf(url, [{ message: "Pay" }]);
    expect(texts[0]).toMatch(/^ok: The task ".+" is not done: it wants input\./);
    const id = /The task "(.+)" is not/.exec(texts[0] ?? "")?.[1];
    const again = await resultsOf(url, [{ message: "Approved, go on.", task: id }]);
    expect(again.texts[0]).toMatch(/^error: /);
    expect(paid).toEqual([]);
    await server.drain();
  });

  it("cancels the task when its time is over", async () => {
    const store = runsFile();
    const server = serving(store, { agents: [talker(new Promise(() => undefined))] });
    const url = `${await at(server.fetch)}/v1/a2a/talker/`;
    const { texts } = await resultsOf(url, [{ message: "Hi" }], { timeoutMs: 1_000 });
    expect(texts[0]).toMatch(/^error: .*1000 ms/s);
    await expect.poll(() => statusesOf(server)).toEqual(["cancelled"]);
    await server.drain();
  });

  describe("where looks at its task fail", () => {
    /** The results of a call while so many looks are answered with 503, and what became of the task there. */
    async function askedWhile(failing: number) {
      const gate = Promise.withResolvers<void>();
      const server = serving(runsFile(), { agents: [talker(gate.promise)] });
      let looks = 0;
      const url = await at(async (request) => {
        if (!(await request.clone().text()).includes('"GetTask"')) return server.fetch(request);
        looks += 1;
        if (looks <= failing) return new Response("restarted", { status: 503 });
        gate.resolve();
        return server.fetch(request);
      });
      const { texts } = await resultsOf(`${url}/v1/a2a/talker/`, [{ message: "Hi" }]);
      const statuses = await statusesOf(server);
      gate.resolve();
      await server.drain();
      return { texts, statuses };
    }

    it("waits on, as its server may be restarted", async () => {
      expect((await askedWhile(3)).texts).toEqual(["ok: Hello there!"]);
    });

    it("cancels it where all of them do", async () => {
      const { texts, statuses } = await askedWhile(Infinity);
      expect(texts[0]).toMatch(/^error: .*503/s);
      expect(statuses).toEqual(["cancelled"]);
    });
  });

  describe("keeps no connection once its time is over", () => {
    const never = new Promise<Response>(() => undefined);
    const slow = (): Response =>
      new Response(
        new ReadableStream({ pull: (body) => body.enqueue(new Uint8Array([32])) }, { highWaterMark: 0 }),
      );
    const card = (url: string): Response =>
      Response.json({
        name: "theirs",
        supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
      });
    const working = { id: "1", contextId: "2", status: { state: "TASK_STATE_WORKING" } };
    const rpc = async (request: Request): Promise<Response> => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a request of the package's
      const { method, id } = (await request.json()) as { readonly method: string; readonly id: number };
      if (method === "CancelTask") return never;
      return Response.json({
        jsonrpc: "2.0",
        id,
        result: method === "SendMessage" ? { task: working } : working,
      });
    };

    it.each<[string, (request: Request) => Response | Promise<Response>]>([
      ["never sends its card", () => never],
      ["never ends its card", () => slow()],
      [
        "never answers a cancel",
        (request) => (request.method === "GET" ? card(new URL(request.url).origin) : rpc(request)),
      ],
    ])(
      "to a server that %s",
      async (_what, answer) => {
        const left: string[] = [];
        const url = await at((request) => answer(request));
        const server = open.at(-1);
        server?.on("request", ({ socket }: IncomingMessage) => {
          left.push("open");
          socket.once("close", () => left.pop());
        });
        const { texts } = await resultsOf(url, [{ message: "Hi" }], { timeoutMs: 300 });
        expect(texts[0]).toMatch(/^error: .*300 ms/s);
        expect(left).not.toEqual([]);
        await expect.poll(() => left, { timeout: 10_000 }).toEqual([]); // idle ones are kept for some seconds
      },
      20_000,
    );
  });

  it("is not led to another origin: neither by a card nor by a redirect, and its headers stay", async () => {
    const seen: string[] = [];
    const elsewhere = await at((request) => {
      seen.push(request.url);
      return Response.json({});
    });
    const card = {
      name: "theirs",
      description: "",
      version: "1",
      supportedInterfaces: [{ url: `${elsewhere}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
      capabilities: {},
      defaultInputModes: [],
      defaultOutputModes: [],
      skills: [],
    };
    const named = await resultsOf(`${await at(() => Response.json(card))}/`, [{ message: "Hi" }]);
    expect(named.texts[0]).toMatch(/^error: .*names no address at http/s);
    const led = await resultsOf(`${await at(() => Response.redirect(`${elsewhere}/card`, 302))}/`, [
      { message: "Hi" },
    ]);
    expect(led.texts[0]).toMatch(/^error: /);
    expect(seen).toEqual([]);
  });

  it("is a failure where nobody is there, and where what answers is no agent", async () => {
    const gone = await resultsOf("http://127.0.0.1:9/", [{ message: "Hi" }]);
    const odd = await resultsOf(`${await at(() => new Response("<html>"))}/`, [{ message: "Hi" }]);
    const huge = await resultsOf(`${await at(() => new Response("x".repeat(11_000_000)))}/`, [
      { message: "Hi" },
    ]);
    for (const { texts } of [gone, odd, huge]) expect(texts[0]).toMatch(/^error: /);
  });

  it("has no more of a failure's words than a model can use, whoever says them", async () => {
    const long = "x".repeat(50_000);
    const error = { code: -32_603, message: long };
    const url = await at(async (request) => {
      if (request.method === "POST")
        return Response.json({ jsonrpc: "2.0", id: Reflect.get(Object(await request.json()), "id"), error });
      const supportedInterfaces = [{ url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }];
      return Response.json({
        name: "x",
        description: "x",
        version: "1",
        capabilities: {},
        skills: [],
        supportedInterfaces,
      });
    });
    const { texts } = await resultsOf(`${url}/`, [{ message: "Hi" }]);
    expect(texts[0]).toMatch(/^error: .*xxx…$/);
    expect(texts[0]?.length).toBeLessThan(2100);
  });

  it.each([
    [{ url: "ftp://x" }, /http/],
    [{ url: "x" }, /http/],
    [{ description: undefined }, /description/],
    [{ bogus: 1 }, /bogus/],
  ])("refuses %j", (wrong, message) => {
    const given = { ...words, url: "http://localhost/", ...wrong } as unknown as A2aAgent;
    expect(() => a2aTool(given)).toThrow(message);
  });
});
