import { describe, expect, it, onTestFinished, vi } from "vitest";
import { memoryRuns, type NewRun } from "../../src/durable.ts";
import { agent, tool } from "../../src/index.ts";
import type { Json } from "../../src/util/json.ts";
import { connect, revisions } from "./mcp-scene.ts";
import { ask, payer, questionsOf, runsFile, serving, told, until } from "./scene.ts";

/** A tool that waits for a signal, sleeps, or does what else it is told to. */
const waiter = tool({
  name: "wait",
  description: "Waits",
  inputSchema: { type: "object", properties: { for: { type: "string" } }, required: ["for"] },
  effect: "read",
  async execute({ for: what }, { waitFor, sleepUntil }) {
    if (typeof what === "string" && what !== "time") return await waitFor(what);
    await sleepUntil(Date.now() + 50);
    return "slept";
  },
});

const waiting = (approvals: "refuse" | "wait") =>
  serving(runsFile(), {
    agents: [agent({ name: "patient", model: () => "", tools: [waiter] })],
    mcp: { tools: true, approvals },
  });

describe.each(revisions)("a tool that waits, to MCP clients of %s", (revision) => {
  it.each([true, false])(
    "asks nobody whether a time or a signal may be: the call goes on by itself; the client can ask: %s",
    async (canAsk) => {
      let asked = 0;
      const elicit = () => {
        asked += 1;
        return { action: "accept", content: { approved: true } };
      };
      const server = waiting("refuse");
      const client = await connect(server, revision, canAsk ? { elicit } : {});
      const call = (what: string) => client.callTool({ name: "wait", arguments: { for: what } });
      expect(await call("time")).toMatchObject({ content: [{ text: "slept" }] });
      const paid = call("paid");
      const [question] = await until(async () => {
        const questions = await questionsOf(server);
        return questions.length > 0 && questions;
      });
      const body = { name: "paid", value: "by Ada" };
      expect((await ask(server, `POST /runs/${question?.runId}/signals`, { body })).status).toBe(204);
      expect(await paid).toMatchObject({ content: [{ text: "by Ada" }] });
      expect(asked).toBe(0);
    },
  );

  it("is left waiting where the author says so, and what it waits for is told", async () => {
    const server = waiting("wait");
    const client = await connect(server, revision);
    const left = await client.callTool({ name: "wait", arguments: { for: "paid" } });
    expect(JSON.stringify(left)).toMatch(/waits in wait \(its tool waits for the signal .*paid/);
    const [question] = await questionsOf(server);
    const body = { name: "paid", value: "by Ada" };
    await ask(server, `POST /runs/${question?.runId}/signals`, { body });
    const run = question?.runId;
    await until(async () => (await told(ask(server, `GET /runs/${run}`))).end);
    const later = await client.callTool({ name: "run_result", arguments: { run } });
    expect(later).toMatchObject({ content: [{ text: "by Ada" }] });
  });
});

describe.each(revisions)("the progress of a call, to MCP clients of %s", (revision) => {
  it("increases with each notification, whatever the tool tells", async () => {
    const steps: readonly Json[] = [
      { progress: 0, total: 4 },
      { progress: 2 },
      { progress: 2, message: "still" },
      { progress: 1 },
      "look",
    ];
    const busy = tool({
      name: "busy",
      description: "Tells a lot",
      inputSchema: { type: "object" },
      effect: "read",
      async execute(_args, { progress }) {
        for (const step of [...steps, { progress: 4 }]) {
          progress(step);
          await new Promise((resolve) => setTimeout(resolve, 20)); // what is told at once is told together
        }
        return "done";
      },
    });
    const mind = agent({ name: "mind", model: () => "", tools: [busy] });
    const client = await connect(serving(runsFile(), { agents: [mind], mcp: { tools: true } }), revision);
    const seen: { readonly progress: number; readonly message?: string }[] = [];
    await client.callTool({ name: "busy", arguments: {} }, { onprogress: (step) => seen.push(step) });
    const values = seen.map(({ progress }) => progress);
    expect(values.length).toBeGreaterThan(4);
    expect(values).toEqual([...new Set(values)].toSorted((one, other) => one - other));
    expect([values[0], values[1], values.at(-1)]).toEqual([0, 2, 4]);
    expect(seen[2]?.message).toBe("still");
    expect(values[2]).toBeCloseTo(2);
  });
});

describe.each(revisions)("a call of which nothing is heard, to MCP clients of %s", (revision) => {
  /** Lets the 10 seconds after which a client is told again pass at once, and counts the timers for them. */
  function quicker(): () => number {
    const { setTimeout: real } = globalThis;
    let begun = 0;
    const spied = vi.spyOn(globalThis, "setTimeout").mockImplementation((fire, ms) => {
      if (ms === 10_000) begun += 1;
      return real(fire, ms === 10_000 ? 20 : ms);
    });
    onTestFinished(() => spied.mockRestore());
    return () => begun;
  }

  async function silent(step?: Json) {
    const gate = Promise.withResolvers<string>();
    const slow = tool({
      name: "slow",
      description: "Tells nothing",
      inputSchema: { type: "object" },
      effect: "read",
      execute(_args, { progress }) {
        if (step !== undefined) progress(step);
        return gate.promise;
      },
    });
    const mind = agent({ name: "mind", model: () => "", tools: [slow] });
    const server = serving(runsFile(), { agents: [mind], mcp: { tools: true } });
    return { client: await connect(server, revision), gate };
  }

  it.each([
    [undefined, { progress: 0 }],
    [
      { progress: 3, total: 7, message: "counting" },
      { progress: 3, total: 7, message: "counting" },
    ],
  ])("tells the last progress again, a little higher, until it ends: %j", async (step, first) => {
    const { client, gate } = await silent(step);
    const begun = quicker();
    const seen: { readonly progress: number; readonly total?: number; readonly message?: string }[] = [];
    const call = client.callTool({ name: "slow", arguments: {} }, { onprogress: (told) => seen.push(told) });
    await expect.poll(() => seen.length).toBeGreaterThan(4);
    gate.resolve("done");
    expect(await call).toMatchObject({ content: [{ text: "done" }] });
    const values = seen.map(({ progress }) => progress);
    expect(values).toEqual([...new Set(values)].toSorted((one, other) => one - other));
    expect(seen[0]).toEqual(first);
    for (const each of seen) expect({ ...each, progress: Math.round(each.progress) }).toEqual(first);
    expect(values.at(-1)).toBeCloseTo(first.progress);
    const after = begun();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(begun()).toBe(after);
  });

  it("tells nothing to a client that does not want to be told", async () => {
    const { client, gate } = await silent();
    const begun = quicker();
    const call = client.callTool({ name: "slow", arguments: {} });
    setTimeout(() => gate.resolve("done"), 200);
    await call;
    expect(begun()).toBe(0);
  });
});

describe("a form that is open in a session", () => {
  async function opened() {
    const server = serving(runsFile(), { agents: [payer()], mcp: {} });
    const open = Promise.withResolvers<void>();
    const elicit = () => {
      open.resolve();
      return new Promise<never>(() => undefined);
    };
    const client = await connect(server, "2025-11-25", { elicit });
    const gone = new AbortController();
    const params = { name: "payer", arguments: { input: "Pay" } };
    const call = client.callTool(params, { signal: gone.signal }).then(
      (result) => JSON.stringify(result),
      (error: unknown) => String(error),
    );
    await open.promise;
    return { server, call, gone };
  }

  it("ends with the call that the client takes back, and so does its run", async () => {
    const { server, call, gone } = await opened();
    gone.abort();
    await call;
    await until(async () => (await told(ask(server, "GET /runs?status=cancelled"))).runs.length === 1);
    expect(await questionsOf(server)).toEqual([]);
  });

  it("keeps no server that leaves, and the call is told so", async () => {
    const { server, call } = await opened();
    await server.drain();
    expect(await call).toContain("shutting down");
  });
});

it.each(revisions)(
  "ends the run of a call that the client takes back while it is begun (%s)",
  async (revision) => {
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const store = memoryRuns();
    const begin = store.begin.bind(store);
    Object.assign(store, {
      async begin(run: NewRun) {
        begun.resolve();
        await gate.promise; // a database that is far, or busy
        return begin(run);
      },
    });
    const server = serving(runsFile(), { store, agents: [payer()], mcp: { approvals: "wait" } });
    const client = await connect(server, revision);
    const gone = new AbortController();
    const params = { name: "payer", arguments: { input: "Pay" } };
    const call = client.callTool(params, { signal: gone.signal }).catch(() => undefined);
    await begun.promise;
    gone.abort();
    await call;
    await new Promise((resolve) => setTimeout(resolve, 50)); // the server hears of it
    gate.resolve();
    await until(async () => (await told(ask(server, "GET /runs?status=cancelled"))).runs.length === 1);
  },
);
