import { describe, expect, it, onTestFinished, vi } from "vitest";
import { agent, tool } from "../../src/index.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import { begin, initialize, revision, send } from "./mcp-scene.ts";
import { ask, type AskOptions, payer, questionsOf, runsFile, serving, shop, talker, told } from "./scene.ts";

const secret = "postgres://boss:hunter2@db.internal";

describe("the MCP endpoint", () => {
  it("answers what is wrong with the right status, and gives no detail away [MCP-server]", async () => {
    const server = serving(runsFile(), {
      agents: [talker()],
      mcp: {},
      limits: { bodyBytes: 10_000 },
    });
    const session = await begin(server);
    const inSession = { "mcp-session-id": session };
    const list = { jsonrpc: "2.0", id: 2, method: "tools/list", params: {} };
    const modern = (meta: object) => ({ ...list, params: { _meta: meta } });
    const bare = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
    const wrong: readonly [string, string, AskOptions, number][] = [
      ["no token", "POST /mcp", { body: initialize, headers: { authorization: "" } }, 401],
      ["a guessed token", "POST /mcp", { body: initialize, headers: { authorization: "Bearer guess" } }, 401],
      [
        "no token for a session",
        "POST /mcp",
        { body: list, headers: { ...inSession, authorization: "" } },
        401,
      ],
      ["no JSON", "POST /mcp", { body: "{ nonsense", headers: inSession }, 400],
      ["no JSON, no session", "POST /mcp", { body: "{ nonsense" }, 400],
      ["no message", "POST /mcp", { body: { hello: 1 }, headers: inSession }, 400],
      ["an empty body", "POST /mcp", { body: "", headers: inSession }, 400],
      ["a huge body", "POST /mcp", { body: { ...list, pad: "x".repeat(20_000) }, headers: inSession }, 413],
      ["a huge body, no session", "POST /mcp", { body: { ...initialize, pad: "x".repeat(20_000) } }, 413],
      [
        "another content type",
        "POST /mcp",
        { body: list, headers: { ...inSession, "content-type": "text/plain" } },
        415,
      ],
      [
        "no event stream accepted",
        "POST /mcp",
        { body: list, headers: { ...inSession, accept: "text/html" } },
        406,
      ],
      ["an unknown session", "POST /mcp", { body: list, headers: { "mcp-session-id": "guess" } }, 404],
      ["the session of another", "POST /mcp", { body: list, headers: { ...inSession, ...shop } }, 404],
      ["its end by another", "DELETE /mcp", { headers: { ...inSession, ...shop } }, 404],
      ["no session", "POST /mcp", { body: list }, 400],
      ["a stream of no session", "GET /mcp", {}, 400],
      ["another method", "PUT /mcp", { body: list, headers: inSession }, 405],
      [
        "a revision that is none",
        "POST /mcp",
        { body: list, headers: { ...inSession, "mcp-protocol-version": "1999-01-01" } },
        400,
      ],
      [
        "a later revision",
        "POST /mcp",
        { body: modern({ "io.modelcontextprotocol/protocolVersion": "2099-01-01" }) },
        400,
      ],
      [
        "half an envelope",
        "POST /mcp",
        { body: modern(bare), headers: { "mcp-protocol-version": "2026-07-28" } },
        400,
      ],
      ["a longer path", "POST /mcp/more", { body: list }, 404],
    ];
    for (const [what, request, options, status] of wrong) {
      const response = await send(server, request, options);
      const text = await response.text();
      expect({ what, status: response.status, text }).toMatchObject({ what, status });
      expect(text).not.toMatch(/\/work|\.ts|node_modules|at \w+ \(/);
    }
    expect((await send(server, "DELETE /mcp", { headers: inSession })).status).toBe(200);
    expect((await send(server, "POST /mcp", { body: list, headers: inSession })).status).toBe(404);
  });

  it.each(["in a session", "without one"])(
    "takes integers that a double cannot hold as the strings of their digits, as those of models, %s",
    async (way) => {
      const seen: unknown[] = [];
      const keep = (name: string, type: string) =>
        tool({
          name,
          description: "",
          inputSchema: { type: "object", properties: { id: { type } }, required: ["id"] },
          effect: "none",
          execute: (args) => void seen.push(args),
        });
      const clerk = agent({
        name: "clerk",
        model: () => "",
        tools: [keep("text", "string"), keep("whole", "integer")],
      });
      const server = serving(runsFile(), { agents: [clerk], mcp: { tools: true } });
      const session = way === "in a session" ? await begin(server) : undefined;
      const call = async (name: string, id: string) => {
        const meta = session === undefined ? `,"_meta":${JSON.stringify(revision)}` : "";
        const params = `{"name":"${name}","arguments":{"id":${id}}${meta}}`;
        const body = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":${params}}`;
        const modern = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name };
        const headers = session === undefined ? modern : { "mcp-session-id": session };
        return (await send(server, "POST /mcp", { body, headers })).text();
      };
      expect(await call("text", "9007199254740993")).toContain('"id":3');
      expect(await call("whole", "9007199254740993")).toContain(
        "id: 9007199254740993 is too large to be exact",
      );
      expect(await call("whole", "9007199254740991")).not.toContain("must be");
      expect(seen).toEqual([{ id: "9007199254740993" }, { id: 9_007_199_254_740_991 }]);
    },
  );

  it("keeps its own troubles to itself", async () => {
    const failures: unknown[] = [];
    const store = sqliteRuns(runsFile());
    onTestFinished(() => store.close());
    const failing = new Proxy(store, {
      get(target, name) {
        if (name === "begin") return () => Promise.reject(new Error(secret));
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const onError = (error: unknown) => failures.push(error);
    const server = serving(runsFile(), { agents: [talker()], store: failing, mcp: {}, onError });
    const headers = { "mcp-session-id": await begin(server) };
    const call = {
      jsonrpc: "2.0",
      id: 3,
      method: "tools/call",
      params: { name: "talker", arguments: { input: "Hi" } },
    };
    const said = await (await send(server, "POST /mcp", { body: call, headers })).text();
    expect(said).toContain("the server failed");
    expect(said).not.toContain("hunter2");
    expect(String(failures)).toContain("hunter2");
  });

  it("tells clients where they sign in [H21]", async () => {
    const server = serving(runsFile(), {
      agents: [talker()],
      principals: ({ headers }) =>
        headers.get("authorization") === "Bearer theirs" ? { name: "ada" } : undefined,
      mcp: {
        authorization: {
          resource: "https://agents.example/mcp",
          servers: ["https://login.example"],
          scopes: ["agents"],
        },
      },
    });
    const refused = await send(server, "POST /mcp", { body: initialize });
    expect(refused.status).toBe(401);
    const place = "https://agents.example/.well-known/oauth-protected-resource/mcp";
    expect(refused.headers.get("www-authenticate")).toBe(`Bearer resource_metadata="${place}"`);
    const path = new URL(place).pathname;
    expect(await told(ask(server, `GET ${path}`, { headers: {} }))).toEqual({
      status: 200,
      resource: "https://agents.example/mcp",
      authorization_servers: ["https://login.example"],
      bearer_methods_supported: ["header"],
      scopes_supported: ["agents"],
    });
    const taken = await send(server, "POST /mcp", {
      body: initialize,
      headers: { authorization: "Bearer theirs" },
    });
    expect(taken.status).toBe(200);
    expect(() =>
      serving(runsFile(), {
        agents: [talker()],
        principals: undefined as never,
        mcp: { authorization: { resource: "https://agents.example/mcp", servers: [] } },
      }),
    ).toThrow("needs `principals`");
  });

  it("keeps the agents that carry out single calls to itself, and their runs with the caller", async () => {
    const server = serving(runsFile(), { agents: [payer()], mcp: { tools: ["pay"], approvals: "wait" } });
    expect((await told(ask(server, "GET /agents"))).agents).toEqual([{ name: "payer" }]);
    const body = { agent: "payer.pay", input: '{"to":"me"}' };
    expect((await ask(server, "POST /runs", { body })).status).toBe(400);
    const session = await begin(server);
    const call = {
      jsonrpc: "2.0",
      id: 3,
      method: "tools/call",
      params: { name: "pay", arguments: { to: "Ada" } },
    };
    // Initialized with elicitation, but nobody fills in the form: the question waits for whoever answers first.
    const stream = await send(server, "POST /mcp", { body: call, headers: { "mcp-session-id": session } });
    const reader = stream.body?.getReader();
    await reader?.read();
    const [question] = await questionsOf(server);
    expect(question?.request).toMatchObject({ tool: "pay", arguments: { to: "Ada" } });
    expect(question?.request.values.some(({ bound }) => bound)).toBe(false);
    await send(server, "DELETE /mcp", { headers: { "mcp-session-id": session } });
    await reader?.cancel();
  });

  it.each(["elsewhere", "wait"] as const)(
    "takes answers that nobody asked the client for only where it may be asked: %s",
    async (approvals) => {
      const server = serving(runsFile(), { agents: [payer()], mcp: { tools: ["pay"], approvals } });
      const post = async (params: object) => {
        const call = { name: "pay", arguments: { to: "Ada" }, ...params, _meta: revision };
        const body = { jsonrpc: "2.0", id: 3, method: "tools/call", params: call };
        const headers = {
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": "pay",
        };
        return (await send(server, "POST /mcp", { body, headers })).text();
      };
      const first = await post({});
      expect(first).toContain(approvals === "elsewhere" ? "waits until somebody else" : "input_required");
      const [question] = await questionsOf(server);
      const answers = {
        [`${question?.key} ${question?.request.hash}`]: { action: "accept", content: { approved: true } },
      };
      const forged = await post({ inputResponses: answers, requestState: `1 ${question?.runId}` });
      expect(forged).toContain(approvals === "elsewhere" ? "waits until somebody else" : "paid");
      const others = await post({ inputResponses: answers, requestState: "1 of-nobody" });
      expect(others).toContain("of-nobody");
      expect(others).not.toContain("paid");
    },
  );

  it.each<[string, string, object | undefined, Record<string, string>]>([
    ["in a session", "GET /mcp", undefined, {}],
    [
      "without one",
      "POST /mcp",
      {
        jsonrpc: "2.0",
        id: 3,
        method: "tools/call",
        params: { name: "talker", arguments: { input: "Hi" }, _meta: { ...revision, progressToken: "p" } },
      },
      { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "talker" },
    ],
  ])("says something on its streams before Bun ends them, %s", async (...[, what, body, headers]) => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const server = serving(runsFile(), { agents: [talker(new Promise(() => undefined))], mcp: {} });
    const of: Record<string, string> =
      body === undefined ? { "mcp-session-id": await begin(server) } : headers;
    const stream = await send(server, what, { body, headers: of });
    expect(stream.headers.get("content-type")).toMatch(/^text\/event-stream/);
    vi.advanceTimersByTime(9_000);
    const decoder = new TextDecoder();
    let heard = "";
    for await (const bytes of stream.body ?? []) {
      heard += decoder.decode(bytes, { stream: true });
      if (/^: ?keepalive/m.test(heard)) break;
    }
    expect(heard).toMatch(/^: ?keepalive/m);
  });

  it("is used by the pages that are listed, and by no others [MCP-server]", async () => {
    const server = serving(runsFile(), { agents: [talker()], mcp: {}, origins: ["https://app.example"] });
    const origin = { origin: "https://app.example" };
    const names = { "access-control-request-headers": "content-type,mcp-session-id" };
    const asked = await send(server, "OPTIONS /mcp", { headers: { ...origin, ...names } });
    expect(asked.status).toBe(204);
    expect(asked.headers.get("access-control-allow-headers")).toContain("mcp-session-id");
    const began = await send(server, "POST /mcp", { body: initialize, headers: origin });
    expect(began.headers.get("access-control-expose-headers")).toContain("mcp-session-id");
    const evil = { origin: "https://evil.example" };
    expect((await send(server, "POST /mcp", { body: initialize, headers: evil })).status).toBe(403);
  });

  it("is not there where nobody offers it", async () => {
    const server = serving(runsFile(), { agents: [talker()] });
    expect((await send(server, "POST /mcp", { body: initialize })).status).toBe(404);
  });
});
