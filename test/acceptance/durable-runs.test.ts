import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { nodeHost } from "../../src/adapters/clock.ts";
import { durableRunsWith } from "../../src/durable/durable-runs.ts";
import {
  agent,
  type Agent,
  type AgentEvent,
  inMemorySessions,
  type Policy,
  session,
  tool,
} from "../../src/index.ts";
import {
  type DurableOptions,
  durableRuns,
  type DurableRuns,
  memoryRuns,
  type RunJournal,
  type RunStore,
  type RunWorker,
} from "../../src/durable.ts";
import type { ModelRequest } from "../../src/models.ts";
import { durablePlaces, planned, type PlannedCall, storesIn } from "./durable-place.ts";

let open: () => RunStore;
let workers: RunWorker[] = [];
let log: string[] = [];
beforeEach(() => {
  [workers, log] = [[], []];
});

/** Has the tests of a suite open their stores there. */
function standIn(where: (typeof durablePlaces)[number]): void {
  const opening = storesIn(where);
  beforeAll(() => void (open = opening));
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.drain({ graceMs: 0 }))); // before their stores are closed
  });
}

/** Durable runs as a process of their own has them. */
function inProcess(agents: DurableOptions["agents"] = [], more: Partial<DurableOptions> = {}): DurableRuns {
  return durableRuns({ store: open(), agents, ...more });
}
function work(runs: DurableRuns, concurrency = 10): RunWorker {
  const worker = runs.work({ concurrency });
  workers.push(worker);
  return worker;
}

const acting = (
  name: string,
  effect: "read" | "irreversible",
  during: () => Promise<unknown> = async () => null,
) =>
  tool({
    name,
    description: "",
    inputSchema: { type: "object", properties: { to: { type: "string" } } },
    effect,
    execute: async ({ to }: { to?: unknown }) => {
      log.push(`${name} begins`);
      await during();
      log.push(`${name} ${typeof to === "string" ? to : ""}`.trim());
      return `${name} done`;
    },
  });
const look = acting("look", "read");
const pay = acting("pay", "irreversible");
const asks: Policy = ({ tool: name }) =>
  name === "pay"
    ? { verdict: "ask", rule: "asks", reason: "a person decides" }
    : { verdict: "allow", rule: "free", reason: "" };

const free: Policy = () => ({ verdict: "allow", rule: "free", reason: "" });
const clerk = (...turns: readonly (readonly PlannedCall[])[]): Agent<string, string> =>
  agent({ name: "clerk", model: planned(...turns), tools: [look, pay], policy: asks });
const status = async (runs: DurableRuns, id = "r") => (await runs.show(id))?.status;
async function lastFact(runs: DurableRuns, id: string, signal?: AbortSignal) {
  let last: AgentEvent | undefined;
  for await (const event of runs.events(id, { signal })) last = event;
  return last;
}
const answered = (content: string) => ({ outcome: { type: "answered", content } });

describe.each(durablePlaces)("a durable run in %s", (where) => {
  standIn(where);

  it("is started in one process, carried out by another, and its end is known to a third", async () => {
    const one = clerk([{ name: "look" }]);
    const begun = await inProcess().start(one, "Go", { id: "r" });
    expect(begun).toMatchObject({ id: "r", status: "ready", agent: "clerk", input: "Go" });
    const result = inProcess().result("r");
    work(inProcess([one]));
    expect(await result).toMatchObject({ ...answered("look ok"), output: "look ok", turns: 2 });
    expect(await status(inProcess())).toBe("answered");
  });

  it("is started once for one id, and another one of that id is refused", async () => {
    const one = clerk([{ name: "look" }]);
    const runs = inProcess([one], { sessions: () => undefined });
    const first = await runs.start(one, "Go", { id: "r", session: "kim" });
    expect(await runs.start(one, "Go", { id: "r", session: "kim" })).toEqual(first);
    const differs = (part: string) =>
      expect.objectContaining({ code: "run-differs", data: { id: "r", part } });
    await expect(runs.start(one, "Stop", { id: "r", session: "kim" })).rejects.toEqual(differs("input"));
    await expect(runs.start(one, "Go", { id: "r" })).rejects.toEqual(differs("session"));
    const briefly = { id: "r", session: "kim", instructions: "Be brief." };
    await expect(runs.start(one, "Go", briefly)).rejects.toEqual(differs("options"));
    const other = agent({ name: "other", model: () => "hi" });
    await expect(runs.start(other, "Go", { id: "r", session: "kim" })).rejects.toEqual(differs("agent"));
    work(runs);
    await runs.result("r");
    expect(await runs.start(one, "Go", { id: "r", session: "kim" })).toMatchObject({ status: "answered" });
    expect(log.filter((line) => line === "look")).toHaveLength(1);
    const ids = [(await runs.start(one, "Go")).id, (await runs.start(one, "Go")).id];
    expect(new Set(ids).size).toBe(2);
  });

  it("of what is no agent is not begun: nobody could carry it out", async () => {
    const runs = inProcess([]);
    for (const [given, got] of [
      ["clerk", "a string"],
      [undefined, "nothing"],
      [{ name: "clerk" }, "an object"],
    ] as const)
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as a program without types gives it
      await expect(runs.start(given as never, "Go", { id: "r" })).rejects.toThrow(
        `its first argument must be an agent, got ${got}.`,
      );
    expect(await runs.list()).toEqual([]);
  });

  it("of a wrong input is not begun", async () => {
    const strict = agent({
      name: "strict",
      model: () => "hi",
      input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    });
    const runs = inProcess([strict]);
    await expect(runs.start(strict, { n: "one" })).rejects.toMatchObject({ code: "input-invalid" });
    await expect(runs.start(strict, { n: 1 }, { tools: ["lok"] })).rejects.toMatchObject({
      code: "tool-unknown",
    });
    expect(await runs.list()).toEqual([]);
    await expect(runs.result("r")).rejects.toMatchObject({ code: "run-missing" });
  });

  it("waits without memory, and goes on after its answer, from whatever process", async () => {
    const one = clerk([{ name: "look" }, { name: "pay", arguments: { to: "kim" } }]);
    const [office, phone] = [inProcess([one]), inProcess()];
    const worker = work(office);
    await office.start(one, "Go", { id: "r" });
    await expect.poll(() => status(phone)).toBe("waiting");
    await expect.poll(() => worker.runs).toEqual([]);
    const [question] = await phone.waiting();
    expect(question).toMatchObject({ runId: "r", request: { tool: "pay", arguments: { to: "kim" } } });
    const { key, request } = question ?? { key: "", request: { hash: "" } };
    await phone.answer("r", key, { approved: true, hash: request.hash });
    expect(await office.result("r")).toMatchObject(answered("look ok, pay ok"));
    expect(log).toEqual(["look begins", "look", "pay begins", "pay kim"]);
    await expect(phone.answer("r", key, { approved: true, hash: request.hash })).rejects.toMatchObject({
      code: "question-answered",
    });
  });

  it("goes on with each of several answers", async () => {
    const payer = (name: string) =>
      agent({
        name,
        model: planned([{ name: "pay", arguments: { to: name } }]),
        tools: [pay],
        policy: asks,
      }).asTool();
    const boss = agent({
      name: "boss",
      model: planned([
        { name: "kim", arguments: { input: "x" } },
        { name: "lee", arguments: { input: "x" } },
      ]),
      tools: [payer("kim"), payer("lee")],
    });
    const runs = inProcess([boss]);
    work(runs);
    await runs.start(boss, "Go", { id: "r" });
    await expect.poll(async () => (await runs.waiting("r")).length).toBe(2);
    for (const { key, request } of await runs.waiting("r"))
      await runs.answer("r", key, { approved: true, hash: request.hash });
    expect(await runs.result("r")).toMatchObject(answered("kim ok, lee ok"));
    expect(log.filter((line) => !line.endsWith("begins")).toSorted()).toEqual(["pay kim", "pay lee"]);
  });

  it("stops where it is when it is cancelled, from whatever process, and stays so", async () => {
    let letGo = (): void => undefined;
    const slow = acting("slow", "irreversible", () => new Promise<void>((resolve) => (letGo = resolve)));
    const one = agent({
      name: "clerk",
      model: planned([{ name: "slow" }], [{ name: "look" }]),
      tools: [slow, look],
      policy: free,
    });
    const [office, phone] = [inProcess([one]), inProcess()];
    const worker = work(office);
    await office.start(one, "Go", { id: "r" });
    await expect.poll(() => log).toEqual(["slow begins"]);
    expect(await phone.cancel("r", "too dear")).toMatchObject({ status: "cancelled" });
    const end = { outcome: { type: "cancelled", reason: "too dear" } };
    expect(await office.result("r")).toEqual(end);
    await expect.poll(() => worker.runs).toEqual([]);
    letGo();
    await sleep(50);
    expect(log).toEqual(["slow begins", "slow"]); // nothing after it
    expect(await phone.retry("r")).toMatchObject({ status: "cancelled", end });
  });

  it("that was cancelled while it waited asks nobody, and takes no answer", async () => {
    const one = clerk([{ name: "pay" }]);
    const runs = inProcess([one]);
    work(runs);
    await runs.start(one, "Go", { id: "r" });
    await expect.poll(() => status(runs)).toBe("waiting");
    const [{ key, request } = { key: "", request: { hash: "" } }] = await runs.waiting();
    await runs.cancel("r");
    expect(await runs.waiting()).toEqual([]);
    await expect(runs.answer("r", key, { approved: true, hash: request.hash })).rejects.toMatchObject({
      code: "question-unknown",
    });
    await sleep(300);
    expect(log).toEqual([]);
  });

  it("that the world failed goes on when it is tried again, and pays for nothing twice", async () => {
    let isUp = false;
    const model = (request: Pick<ModelRequest, "messages">) => {
      const plan = planned([{ name: "pay" }]);
      if (request.messages.some(({ role }) => role === "tool") && !isUp)
        throw new Error("the provider is down");
      return plan(request);
    };
    const one = agent({ name: "clerk", model, tools: [pay], policy: free });
    const runs = inProcess([one]);
    work(runs);
    await runs.start(one, "Go", { id: "r" });
    const { outcome } = await runs.result("r");
    expect(outcome).toMatchObject({
      type: "failed",
      message: expect.stringContaining("the provider is down"),
    });
    isUp = true;
    await runs.retry("r");
    expect(await runs.result("r")).toMatchObject(answered("pay ok"));
    expect(log).toEqual(["pay begins", "pay"]);
  });

  it("is handed over when its worker is drained: the effect ends, and another goes on", async () => {
    let letGo = (): void => undefined;
    const slow = acting("slow", "irreversible", () => new Promise<void>((resolve) => (letGo = resolve)));
    const helper = agent({
      name: "helper",
      model: planned([{ name: "slow" }], [{ name: "look" }]),
      tools: [slow, look],
      policy: free,
    });
    const one = agent({
      name: "boss",
      model: planned([{ name: "helper", arguments: { input: "x" } }]),
      tools: [helper.asTool()],
      policy: free,
    });
    const runs = inProcess([one]);
    const worker = work(runs);
    await runs.start(one, "Go", { id: "r" });
    await expect.poll(() => log).toEqual(["slow begins"]);
    const draining = worker.drain();
    await sleep(100);
    await runs.start(one, "Go", { id: "later" });
    letGo();
    await draining;
    expect(await status(runs)).toBe("ready");
    expect(await status(runs, "later")).toBe("ready");
    expect(log).toEqual(["slow begins", "slow"]);
    work(inProcess([one]));
    expect(await runs.result("r")).toMatchObject(answered("helper ok"));
    expect(log.filter((line) => line.startsWith("look"))).toEqual(["look begins", "look"]);
    expect(log.filter((line) => line === "slow begins").length).toBeLessThanOrEqual(2); // once in each of the two runs
  });

  it("tells its facts in any process, those of its past first, and is replayed without doing anything", async () => {
    const observed: string[] = [];
    const one = agent({
      name: "clerk",
      model: planned([{ name: "look" }, { name: "pay" }]),
      tools: [look, pay],
      policy: asks,
      onEvent: ({ type }) => void observed.push(type),
    });
    const [office, page] = [inProcess([one]), inProcess([one])];
    const told: AgentEvent[] = [];
    office.start(one, "Go", { id: "r" }).catch(() => undefined);
    await expect.poll(() => status(page)).toBe("ready");
    const followed = (async () => {
      for await (const event of page.events("r")) told.push(event);
    })();
    work(office);
    await expect.poll(() => told.some(({ type }) => type === "approval-request")).toBe(true);
    await expect.poll(() => page.waiting("r")).toHaveLength(1); // it is listed when the worker has left the run
    const [{ key, request } = { key: "", request: { hash: "" } }] = await page.waiting("r");
    await page.answer("r", key, { approved: true, hash: request.hash });
    await followed;
    expect(told.at(-1)).toMatchObject({
      type: "run-end",
      outcome: { type: "answered", content: "look ok, pay ok" },
    });
    expect(told.map(({ seq }) => seq)).toEqual(told.map((_event, place) => place + 1));
    await page.result("r"); // the last record is there before its worker has told the end
    const [begun, seen] = [[...log], observed.length];
    const again: AgentEvent[] = [];
    for await (const event of page.events("r", { after: 4 })) again.push(event);
    const timeless = (events: readonly AgentEvent[]) => events.map((event) => ({ ...event, at: 0 }));
    expect(timeless(again)).toEqual(timeless(told.slice(4)));
    const replayed = await page.replay("r");
    expect([replayed.text, replayed.calls.map(({ name }) => name)]).toEqual([
      "look ok, pay ok",
      ["look", "pay"],
    ]);
    expect([log, observed.length]).toEqual([begun, seen]);
  });

  it("that was cancelled, failed or is nobody's tells so at the end of its facts", async () => {
    const down = agent({
      name: "down",
      model: () => {
        throw new Error("the provider is down");
      },
    });
    const one = clerk([{ name: "pay" }]);
    const runs = inProcess([one, down]);
    work(runs);
    await runs.start(one, "Go", { id: "r" });
    await expect.poll(() => status(runs)).toBe("waiting");
    const cancelled = lastFact(runs, "r");
    await sleep(200);
    await runs.cancel("r", "too dear");
    expect(await cancelled).toMatchObject({
      type: "run-end",
      outcome: { type: "cancelled", reason: "too dear" },
    });
    await runs.start(down, "Go", { id: "f" });
    await runs.result("f");
    expect(await lastFact(runs, "f")).toMatchObject({ type: "run-end", outcome: { type: "failed" } });
    await expect(lastFact(runs, "nobody")).rejects.toMatchObject({ code: "run-missing" });
    await expect(lastFact(inProcess(), "f")).rejects.toMatchObject({ code: "run-agent-missing" });
  });

  it("that was cancelled is replayed as far as it came, and no further", async () => {
    let letGo = (): void => undefined;
    const slow = acting("slow", "irreversible", () => new Promise<void>((resolve) => (letGo = resolve)));
    const helper = agent({
      name: "helper",
      model: planned([{ name: "look" }], [{ name: "slow" }]),
      tools: [slow, look],
      policy: free,
    });
    const busy = agent({
      name: "busy",
      model: planned([{ name: "look" }], [{ name: "helper", arguments: { input: "x" } }], [{ name: "look" }]),
      tools: [helper.asTool(), look],
      policy: free,
    });
    const waits = clerk([{ name: "look" }], [{ name: "pay" }]);
    const runs = inProcess([busy, waits]);
    const worker = work(runs);
    await runs.start(busy, "Go", { id: "busy" });
    await runs.start(waits, "Go", { id: "waits" });
    await runs.start(waits, "Go", { id: "ready" });
    await expect.poll(() => log.includes("slow begins")).toBe(true);
    await expect.poll(() => status(runs, "ready")).toBe("waiting");
    for (const id of ["busy", "waits", "ready"]) await runs.cancel(id, "too dear");
    letGo();
    await expect.poll(() => worker.runs).toEqual([]);
    const before = [...log];
    for (const id of ["busy", "waits", "ready"]) {
      const { outcome, calls } = await runs.replay(id);
      expect(outcome, id).toEqual({ type: "cancelled", reason: "too dear" });
      expect(calls[0], id).toMatchObject({ name: "look", status: "ok" });
      expect(await lastFact(runs, id), id).toMatchObject({ type: "run-end", outcome });
    }
    expect(log).toEqual(before);
  });

  it("is followed until its reader has gone, or its signal", async () => {
    const one = clerk([{ name: "pay" }]);
    const runs = inProcess([one]);
    work(runs);
    await runs.start(one, "Go", { id: "r" });
    for await (const event of runs.events("r")) if (event.type === "approval-request") break;
    await expect(lastFact(runs, "r", AbortSignal.timeout(200))).rejects.toMatchObject({
      name: "TimeoutError",
    });
    await expect.poll(() => status(runs)).toBe("waiting");
  });

  it("is one of a session, and is erased with it", async () => {
    const sessions = inMemorySessions();
    const echo = agent({ name: "echo", model: ({ messages }) => `${messages.length} messages` });
    const runs = inProcess([echo], { sessions: (id) => session(sessions, id) });
    work(runs);
    await runs.start(echo, "one", { id: "1", session: "kim" });
    expect(await runs.result("1")).toMatchObject(answered("1 messages"));
    await runs.start(echo, "two", { id: "2", session: "kim" });
    expect(await runs.result("2")).toMatchObject(answered("3 messages"));
    expect((await runs.list({ session: "kim" })).map(({ id }) => id)).toEqual(["2", "1"]);
    await expect.poll(() => runs.erase({ session: "kim" })).toBe(2);
    expect(await runs.list()).toEqual([]);
  });
});

describe("the wait for the end of a run", () => {
  it("looks when the store tells of the run, and not at what happens to others", async () => {
    const store = memoryRuns();
    const runs = durableRuns({ store, agents: [] });
    for (const id of ["r", "other"]) await runs.start(clerk(), "Go", { id });
    const looks = vi.spyOn(store, "read");
    const host = { ...nodeHost, timer: () => () => undefined }; // nothing but the store wakes it
    const ended = durableRunsWith({ store, agents: [] }, host).result("r");
    await runs.cancel("other");
    await setImmediate();
    expect(looks.mock.calls.filter(([id]) => id === "r")).toHaveLength(1);
    await runs.cancel("r", "too dear");
    expect(await ended).toEqual({ outcome: { type: "cancelled", reason: "too dear" } });
  });
});

describe("workers", () => {
  standIn("a SQLite file");

  it("carry out so many runs at a time, and others meanwhile", async () => {
    let most = 0;
    let now = 0;
    const three = Promise.withResolvers<void>();
    const busy = acting("busy", "read", async () => {
      most = Math.max(most, (now += 1));
      if (now === 3) three.resolve();
      await three.promise; // however slow the machine is
      await sleep(20); // a fourth would come now
      now -= 1;
    });
    const one = agent({ name: "clerk", model: planned([{ name: "busy" }]), tools: [busy] });
    const runs = inProcess([one]);
    work(runs, 3);
    await Promise.all(Array.from({ length: 12 }, (_, id) => runs.start(one, "Go", { id: String(id) })));
    await Promise.all(Array.from({ length: 12 }, (_, id) => runs.result(String(id))));
    expect(most).toBe(3);
  });

  it("share runs, and none is carried out twice", async () => {
    const one = clerk([{ name: "look" }]);
    const starter = inProcess();
    for (let id = 0; id < 40; id += 1) await starter.start(one, "Go", { id: String(id) });
    work(inProcess([one]), 5);
    work(inProcess([one]), 5);
    await Promise.all(Array.from({ length: 40 }, (_, id) => starter.result(String(id))));
    expect(log.filter((line) => line === "look")).toHaveLength(40);
  });

  it("forget runs that ended long ago, and keep them for ever where they are told to", async () => {
    const one = clerk([{ name: "look" }]);
    const runs = inProcess([one], { keep: { endedDays: 0 } });
    const first = work(inProcess([one], { keep: false }));
    for (let id = 0; id < 120; id += 1) await runs.start(one, "Go", { id: String(id) });
    await expect.poll(async () => (await runs.list({ status: "answered", limit: 200 })).length).toBe(120);
    await first.drain();
    work(runs);
    await expect.poll(() => runs.list()).toEqual([]);
  });

  it("go on when their store works again, and say that it did not", async () => {
    const told: (string | undefined)[] = [];
    const hear = (warning: Error & { readonly code?: string }): void => void told.push(warning.code);
    process.on("warning", hear);
    const store = open();
    const failures = ["claim", "claim", "end"];
    const mayFail = (what: string): void => {
      if (failures[0] === what) throw new Error(`the disk is full for a moment: ${String(failures.shift())}`);
    };
    const shaky: RunStore = {
      ...store,
      async claim(agents) {
        mayFail("claim");
        const journal = await store.claim(agents);
        if (journal === undefined) return undefined;
        const end: RunJournal["end"] = async (given) => {
          mayFail("end");
          await journal.end(given);
        };
        return { ...journal, end };
      },
    };
    const one = clerk([{ name: "look" }]);
    const runs = durableRuns({ store: shaky, agents: [one] });
    work(runs);
    await runs.start(one, "Go", { id: "r" });
    expect(await runs.result("r")).toMatchObject(answered("look ok"));
    process.off("warning", hear);
    expect(failures).toEqual([]);
    expect(told).toContain("WRIT_STORE_FAILED");
    expect(log).toEqual(["look begins", "look"]);
  });

  it("refuse what makes no sense", () => {
    const one = clerk();
    expect(() => durableRuns({} as never)).toThrow(/a store of runs/);
    expect(() => inProcess([one, clerk()])).toThrow(/two agents have the name "clerk"/);
    expect(() => inProcess([one]).work({ concurrency: 0 })).toThrow(/concurrency/);
  });
});
