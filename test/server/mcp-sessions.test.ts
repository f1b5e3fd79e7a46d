import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Server } from "../../src/server.ts";
import { begin, initialize, revision, send } from "./mcp-scene.ts";
import { ask, runsFile, serving, shop, talker, told, until } from "./scene.ts";

const list = { jsonrpc: "2.0", id: 2, method: "tools/list", params: {} };
const inSession = (id: string) => ({ headers: { "mcp-session-id": id } });

/** The status of a request in a session, all of whose answer is read. */
async function asked(server: Server, id: string): Promise<number> {
  const response = await send(server, "POST /mcp", { body: list, ...inSession(id) });
  await response.text();
  return response.status;
}

/** One who may take two hours, and takes longer. */
const patient = talker(new Promise(() => undefined)).with(() => ({ budget: { durationMs: 7_200_000 } }));
const bounded = { agents: [talker()], mcp: {}, limits: { streams: 2 } };

it("counts the calls of MCP clients without a session as open streams, while they are read", async () => {
  const server = serving(runsFile(), {
    agents: [talker(new Promise(() => undefined))],
    mcp: {},
    limits: { streams: 1 },
  });
  const modern = { "mcp-protocol-version": "2026-07-28" };
  const call = {
    body: {
      ...list,
      method: "tools/call",
      params: { name: "talker", arguments: { input: "Hi" }, _meta: { ...revision, progressToken: "p" } },
    },
    headers: { ...modern, "mcp-method": "tools/call", "mcp-name": "talker" },
  };
  const names = {
    body: { ...list, params: { _meta: revision } },
    headers: { ...modern, "mcp-method": "tools/list" },
  };
  for (let round = 0; round < 2; round += 1) {
    const stream = await send(server, "POST /mcp", call);
    expect((await send(server, "POST /mcp", call)).status).toBe(429);
    expect((await ask(server, "GET /runs")).status).toBe(200);
    await stream.body?.cancel();
    const offered = await send(server, "POST /mcp", names);
    expect(await offered.text()).toContain("talker");
  }
  expect((await told(ask(server, "GET /runs"))).runs).toHaveLength(2);
});

describe("the sessions of MCP clients", () => {
  it("count as open streams while something of them is open, and not when their clients have gone", async () => {
    const server = serving(runsFile(), bounded);
    for (let round = 0; round < 5; round += 1) await begin(server);
    const [one, two] = [await begin(server), await begin(server)];
    const stream = await send(server, "GET /mcp", inSession(one));
    const gone = new AbortController();
    const headers = { authorization: "Bearer web-token", accept: "text/event-stream", "mcp-session-id": two };
    const cut = await server.fetch(new Request("http://localhost/mcp", { headers, signal: gone.signal }));
    expect([stream.status, cut.status]).toEqual([200, 200]);
    expect((await send(server, "POST /mcp", { body: initialize })).status).toBe(429);
    expect((await send(server, "POST /mcp", { body: initialize, headers: shop })).status).toBe(200);
    expect(await asked(server, one)).toBe(200); // its place is taken already
    gone.abort();
    await until(async () => (await asked(server, two)) === 200);
    await stream.body?.cancel();
    await begin(server);
    await begin(server);
    expect((await ask(server, "GET /runs/none/events")).status).toBe(404);
  });

  it("give way, those first that were unused for longest, but for those in which something is open", async () => {
    const server = serving(runsFile(), bounded);
    const [busy, unused] = [await begin(server), await begin(server)];
    const stream = await send(server, "GET /mcp", inSession(busy));
    const third = await begin(server);
    expect(await Promise.all([busy, unused, third].map((id) => asked(server, id)))).toEqual([200, 404, 200]);
    await stream.body?.cancel();
    await begin(server);
    expect([await asked(server, busy), await asked(server, third)]).toEqual([404, 200]);
    for (let round = 0; round < 5; round += 1)
      expect((await send(server, "POST /mcp", { body: "nonsense" })).status).toBe(400);
    expect(await asked(server, third)).toBe(200);
  });

  it("are not ended by others, nor by time, while a call is at work whose connection was cut", async () => {
    const server = serving(runsFile(), { ...bounded, agents: [patient] });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const session = await begin(server);
    const params = { name: "talker", arguments: { input: "Hi" } };
    const call = { jsonrpc: "2.0", id: 3, method: "tools/call", params };
    const answer = await send(server, "POST /mcp", { body: call, ...inSession(session) });
    const statuses = async () =>
      (await told(ask(server, "GET /runs"))).runs.map((run) => Reflect.get(run, "status"));
    await vi.waitFor(async () => expect(await statuses()).toEqual(["running"]));
    await answer.body?.cancel();
    for (let round = 0; round < 4; round += 1) await begin(server);
    await vi.advanceTimersByTimeAsync(4_000_000);
    expect(await statuses()).toEqual(["running"]);
    expect(await asked(server, session)).toBe(200);
  });

  it("are not there any more for a caller who may use other agents by now: the next one has these", async () => {
    const agents = ["talker"]; // the list of the application itself, which changes it
    const server = serving(runsFile(), { ...bounded, principals: () => ({ name: "web", agents }) });
    const session = await begin(server);
    expect(await asked(server, session)).toBe(200);
    agents.pop();
    expect(await asked(server, session)).toBe(404);
    const next = await begin(server);
    const offered = await send(server, "POST /mcp", { body: list, ...inSession(next) });
    expect(await offered.text()).not.toContain("talker");
  });

  it("end an hour after something of them was open", async () => {
    const server = serving(runsFile(), bounded);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const [one, two] = [await begin(server), await begin(server)];
    const stream = await send(server, "GET /mcp", inSession(one));
    await vi.advanceTimersByTimeAsync(3_700_000);
    expect([await asked(server, one), await asked(server, two)]).toEqual([200, 404]);
    await stream.body?.cancel();
    await vi.advanceTimersByTimeAsync(3_500_000);
    expect(await asked(server, one)).toBe(200);
    await vi.advanceTimersByTimeAsync(3_700_000);
    expect(await asked(server, one)).toBe(404);
  });
});
