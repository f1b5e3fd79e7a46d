import { describe, expect, it } from "vitest";
import {
  agent,
  type Agent,
  type AgentEvent,
  guarded,
  inMemorySessions,
  type Policy,
  session,
  tool,
} from "../../src/index.ts";
import { parallel } from "../../src/compose.ts";
import { account, inMemoryAccounts } from "../../src/policy.ts";
import {
  type DurableOptions,
  durableRuns,
  type DurableRuns,
  type RunForkOptions,
  memoryRuns,
} from "../../src/durable.ts";
import type { ModelRequest } from "../../src/models.ts";
import { planTool } from "../../src/tools.ts";

type PlannedCall = readonly [name: string, to: string];
let log: string[] = [];

/** A result as its tool gave it, without the mark around it. */
function plain(text: string): string {
  const marked = text.startsWith('{"tool":') ? (JSON.parse(text) as { value?: unknown }) : {};
  const { value = text } = marked;
  return value === text ? text : plain(typeof value === "string" ? value : JSON.stringify(value));
}

/** A model that makes the planned calls, turn by turn, then repeats the results. */
const planned =
  (who: string, ...turns: readonly (readonly PlannedCall[])[]) =>
  ({ messages }: Pick<ModelRequest, "messages">) => {
    const last = messages.findLastIndex(({ role }) => role === "user");
    const turn = messages.slice(last).filter(({ role }) => role === "assistant").length;
    log.push(`${who} ${turn + 1}`);
    const given = (name: string, to: string): Record<string, string> =>
      name === "kid" ? { input: to } : { to };
    const calls = turns[turn]?.map(([name, to]) => ({ name, arguments: given(name, to) }));
    if (calls !== undefined) return { calls };
    return messages.flatMap((message) => (message.role === "tool" ? [plain(message.text)] : [])).join("; ");
  };
let looks = 0;
const acting = (name: string, effect: "read" | "irreversible") =>
  tool({
    name,
    description: "",
    inputSchema: { type: "object", properties: { to: { type: "string" } } },
    effect,
    execute({ to }: { to?: unknown }) {
      log.push(`${name} ${String(to)}`);
      return name === "look" ? `seen ${(looks += 1)}` : `${name} ${String(to)}`;
    },
  });
const [look, pay, send] = [
  acting("look", "read"),
  acting("pay", "irreversible"),
  acting("send", "irreversible"),
];
const free: Policy = () => ({ verdict: "allow", rule: "free", reason: "" });
const kid = agent({ name: "kid", model: planned("kid", [["look", "kid"]]), tools: [look] }).asTool();
const first: readonly (readonly PlannedCall[])[] = [
  [
    ["look", "a"],
    ["look", "a"],
  ],
  [
    ["pay", "a"],
    ["kid", "x"],
  ],
  [["look", "a"]],
];
const tools = [look, pay, send, kid];
const clerk = (...turns: readonly (readonly PlannedCall[])[]): Agent<string, string> =>
  agent({ name: "clerk", model: planned("clerk", ...turns), tools, policy: free, budget: { toolCalls: 20 } });
const one = clerk(...first);

const paying = { name: "pay", arguments: { to: "b" } };
const planOf = ({ name, arguments: args }: typeof paying) => ({ tool: name, arguments: args });

/** Runs of which "r" has ended. */
async function ended(more: Partial<DurableOptions> = {}, from = one, agents: DurableOptions["agents"] = []) {
  [log, looks] = [[], 0];
  const store = memoryRuns();
  const runs = durableRuns({ store, agents: [from, ...(agents ?? [])], ...more });
  await runs.start(from, "Go", { id: "r", ...(more.sessions === undefined ? {} : { session: "s" }) });
  await settled(runs, "r");
  log = [];
  return { store, runs };
}
async function settled(runs: DurableRuns, id: string) {
  const worker = runs.work();
  try {
    return await runs.result(id);
  } finally {
    await worker.drain();
  }
}
async function forked(runs: DurableRuns, options: RunForkOptions) {
  await runs.fork("r", { id: "f", ...options });
  return settled(runs, "f");
}
async function factsOf(runs: DurableRuns, id: string): Promise<AgentEvent[]> {
  const facts: AgentEvent[] = [];
  for await (const event of runs.events(id)) facts.push(event);
  return facts;
}

describe("the fork of a run", () => {
  it("does nothing again, and answers each call as it was answered, the first of equal ones as the first", async () => {
    const { runs } = await ended();
    const before = await runs.show("r");
    const was = await runs.replay("r");
    for (const beforeTurn of [1, 2, 3, 4]) {
      log = [];
      const id = `f${beforeTurn}`;
      expect(await runs.fork("r", { id, beforeTurn })).toMatchObject({
        id,
        status: "ready",
        input: "Go",
        fork: { run: "r", beforeTurn },
      });
      expect(await settled(runs, id)).toMatchObject({ output: was.output });
      expect(log).toEqual(["clerk 1", "clerk 2", "clerk 3", "clerk 4"].slice(beforeTurn - 1));
      expect((await runs.replay(id)).transcript.toJSON()).toEqual(was.transcript.toJSON());
    }
    expect(was.output).toBe("seen 1; seen 2; pay a; seen 3; seen 4");
    expect(await runs.show("r")).toEqual(before);
  });

  it("was begun when it was forked, not when its run was: lists show the latest first", async () => {
    const { runs } = await ended();
    const { endedAt = Infinity } = (await runs.show("r")) ?? {};
    await expect.poll(() => Date.now(), { timeout: 60_000 }).toBeGreaterThan(endedAt);
    expect((await runs.fork("r", { id: "f", beforeTurn: 2 })).begunAt).toBeGreaterThan(endedAt);
  });

  it("goes its own way from its turn on, and what the run did not ask is skipped", async () => {
    const other = one.with({
      name: "other",
      model: planned(
        "other",
        [],
        [],
        [
          ["look", "a"],
          ["send", "b"],
          ["look", "z"],
        ],
      ),
    });
    const { runs } = await ended({}, one, [other]);
    const { output } = await forked(runs, { beforeTurn: 3, agent: other });
    expect(output).toMatch(/^seen 1; seen 2; pay a; seen 3; seen 4; Not run: .*fork.*; Not run: /);
    expect(log).toEqual(["other 3", "other 4"]);
  });

  it("has the instructions, the model or the policy that it was given", async () => {
    const asked: ModelRequest[] = [];
    const model = (request: ModelRequest) => {
      asked.push(request);
      return planned("clerk", ...first)(request);
    };
    const from = one.with({ model });
    const denies: Policy = ({ tool: name }) =>
      name === "pay"
        ? { verdict: "deny", rule: "no", reason: "too dear" }
        : { verdict: "allow", rule: "", reason: "" };
    const strict = from.with({ name: "strict", policy: denies });
    const { runs } = await ended({}, from, [strict]);
    asked.length = 0;
    await forked(runs, { beforeTurn: 4, instructions: "Be brief." });
    expect(asked.map(({ messages }) => messages[0])).toEqual([
      expect.objectContaining({ role: "system", text: expect.stringContaining("Be brief.") }),
    ]);
    asked.length = 0;
    await runs.fork("f", { id: "again", beforeTurn: 4 }); // a fork of that goes on as it did
    await settled(runs, "again");
    expect(JSON.stringify(asked[0]?.messages[0])).toContain("Be brief.");
    await runs.fork("r", { id: "strict", beforeTurn: 2, agent: strict });
    expect((await settled(runs, "strict")).output).toContain("denied: too dear");
    await runs.fork("r", { id: "named", beforeTurn: 2, model: "nobody/has-it" });
    const failed = await settled(runs, "named");
    expect(failed.outcome).toMatchObject({ type: "failed", message: expect.stringContaining("nobody") });
  });

  it("is told another result of a call, before its turn or after", async () => {
    const { runs } = await ended();
    const results = { "turn/1/call/1": { seen: "nothing" }, "turn/2/call/0": "refused by the bank" };
    const { output } = await forked(runs, { beforeTurn: 2, results });
    expect(output).toBe('seen 1; {"seen":"nothing"}; refused by the bank; seen 3; seen 4');
    expect(log).toEqual(["clerk 2", "clerk 3", "clerk 4"]);
  });

  it("answers equal calls by those of the same agent, in the order in which they were made", async () => {
    let calls = 0;
    const find = tool({
      name: "find",
      description: "",
      inputSchema: { type: "object" },
      async execute() {
        const number = (calls += 1);
        for (let ticks = 9 - number; ticks > 0; ticks -= 1) await new Promise(setImmediate); // the later, the quicker
        return `found ${number}`;
      },
    });
    const inner = agent({
      name: "inner",
      description: "",
      model: planned("inner", [["find", "x"]]),
      tools: [find],
    });
    const boss = agent({
      name: "boss",
      model: ({ messages }) => {
        const turn = messages.filter(({ role }) => role === "assistant").length;
        const asked = [{ name: "find", arguments: { to: "x" } }];
        if (turn === 0) return { calls: [{ name: "inner", arguments: { input: "" } }] };
        return turn === 1
          ? { calls: [...asked, ...asked] }
          : messages.flatMap((message) => (message.role === "tool" ? [plain(message.text)] : [])).join("; ");
      },
      tools: [find, inner.asTool()],
      policy: free,
    });
    const { runs } = await ended({}, boss);
    expect((await runs.replay("r")).output).toBe("found 1; found 2; found 3");
    expect((await forked(runs, { beforeTurn: 2 })).output).toBe("found 1; found 2; found 3");
    expect(calls).toBe(3);
  });

  it("runs again what its author lets run, and an agent inside answers by what it calls", async () => {
    const { runs } = await ended();
    const { output } = await forked(runs, { beforeTurn: 2, again: ["look"] });
    expect([output, log]).toEqual([
      "seen 1; seen 2; pay a; seen 3; seen 5",
      ["clerk 2", "clerk 3", "look a", "clerk 4"],
    ]);
    log = [];
    await runs.fork("r", { id: "kid", beforeTurn: 2, again: ["kid"] });
    expect((await settled(runs, "kid")).output).toBe("seen 1; seen 2; pay a; seen 3; seen 4");
    expect(log).toEqual(["clerk 2", "kid 1", "kid 2", "clerk 3", "clerk 4"]);
  });

  it("goes on in another process where it was, and is replayed and followed without doing anything", async () => {
    const asks: Policy = ({ tool: name }) =>
      name === "send"
        ? { verdict: "ask", rule: "asks", reason: "" }
        : { verdict: "allow", rule: "", reason: "" };
    const waits = clerk(
      [
        ["look", "a"],
        ["look", "a"],
      ],
      [
        ["look", "a"],
        ["send", "b"],
      ],
      [["look", "a"]],
    ).with({ name: "waits", policy: asks });
    const { runs, store } = await ended({}, clerk(...first, [["look", "a"]]), [waits]);
    await runs.fork("r", { id: "f", beforeTurn: 2, agent: waits, again: ["send"] });
    const worker = runs.work();
    await expect.poll(() => runs.waiting("f")).toHaveLength(1);
    await worker.drain();
    const [question] = await runs.waiting("f");
    await runs.answer("f", question?.key ?? "", { approved: true, hash: question?.request.hash ?? "" });
    const later = durableRuns({ store, agents: [waits] });
    expect((await settled(later, "f")).output).toBe("seen 1; seen 2; seen 4; send b; seen 5");
    const did = [...log];
    const replayed = await later.replay("f");
    const facts = await factsOf(later, "f");
    expect(facts.map(({ seq }) => seq)).toEqual(facts.map((_fact, place) => place + 1));
    expect(facts.at(-1)).toMatchObject({ type: "run-end", outcome: replayed.outcome });
    expect(await later.check()).toEqual([]);
    expect(log).toEqual(did);
  });

  it("can be forked, and keys of services are its own", async () => {
    const keys: string[] = [];
    const keyed = tool({
      name: "pay",
      description: "",
      inputSchema: { type: "object" },
      effect: "irreversible",
      execute: (_args, { idempotencyKey }) => String(keys.push(idempotencyKey)),
    });
    const from = clerk(...first).with({ tools: [look, keyed, kid] });
    const { runs } = await ended({}, from);
    await forked(runs, { beforeTurn: 2, again: ["pay"] });
    expect(new Set(keys).size).toBe(2);
    await runs.fork("f", { id: "g", beforeTurn: 3 });
    expect(await settled(runs, "g")).toMatchObject({ output: "seen 1; seen 2; 2; seen 3; seen 4" });
  });

  it("takes signals of its own, also of an id that its run was sent", async () => {
    const hear = tool({
      name: "hear",
      description: "",
      inputSchema: { type: "object" },
      effect: "read",
      execute: (_nothing, { waitFor }) => waitFor("word"),
    });
    const model = planned("clerk", [["hear", "a"]]);
    const from = agent({ name: "clerk", model, tools: [hear], policy: free });
    const runs = durableRuns({ store: memoryRuns(), agents: [from] });
    await using _worker = runs.work();
    await runs.start(from, "Go", { id: "r" });
    await runs.signal("r", { name: "word", value: "tea", id: "hook-1" });
    expect((await runs.result("r")).output).toBe("tea");
    await runs.fork("r", { id: "f", beforeTurn: 1, again: ["hear"] });
    await expect.poll(async () => (await runs.show("f"))?.status).toBe("waiting");
    await runs.signal("f", { name: "word", value: "milk", id: "hook-1" });
    expect((await runs.result("f", { signal: AbortSignal.timeout(3000) })).output).toBe("milk");
  });

  it("is a run of its accounts, which may have no more", async () => {
    const kim = account({ store: inMemoryAccounts(), key: "kim", limits: { runs: 2 } });
    const from = agent({ name: "clerk", model: () => "done", account: kim });
    const { runs } = await ended({}, from);
    expect(await forked(runs, { beforeTurn: 1 })).toMatchObject({ output: "done" });
    expect((await kim.used()).runs).toBe(2);
    await runs.fork("r", { id: "g", beforeTurn: 1 });
    expect((await settled(runs, "g")).outcome).toMatchObject({ type: "exhausted", field: "runs" });
  });

  it("reads its session and is not kept in it", async () => {
    const sessions = inMemorySessions();
    const { runs } = await ended({ sessions: (id) => session(sessions, id) });
    const before = await sessions.read("s");
    await forked(runs, { beforeTurn: 2, again: ["pay"] });
    expect(await sessions.read("s")).toEqual(before);
    expect((await runs.show("f"))?.session).toBe("s");
  });

  it.each([
    ["of this kind in the run", { approved: true, for: "run" } as const, [paying, paying]],
    [
      "in a plan",
      { approved: true } as const,
      [{ name: "plan_acts", arguments: { acts: [planOf(paying)] } }, paying],
    ],
  ])(
    "asks a person again who said yes to each call %s: that was for another run",
    async (_how, yes, turns) => {
      const calls = [{ name: "look", arguments: { to: "a" } }, ...turns];
      const done = (messages: ModelRequest["messages"]) =>
        messages.filter(({ role }) => role === "tool").length;
      const from = agent({
        name: "asking",
        model: ({ messages }) => {
          const next = calls[done(messages)];
          return next === undefined ? "done" : { calls: [next] };
        },
        tools: [look, pay, planTool()],
        policy: guarded(),
      });
      const runs = durableRuns({ store: memoryRuns(), agents: [from] });
      const worker = runs.work();
      const waiting = async (id: string) => {
        await expect.poll(async () => (await runs.waiting(id)).length, { timeout: 60_000 }).toBe(1);
        const [question] = await runs.waiting(id);
        if (question === undefined) throw new Error("nobody is asked");
        return question;
      };
      log = [];
      await runs.start(from, "Go", { id: "r" });
      const { key, request } = await waiting("r");
      await runs.answer("r", key, { ...yes, hash: request.hash });
      await runs.result("r");
      const before = log.length;
      await runs.fork("r", { id: "f", beforeTurn: 3, again: ["pay"] });
      expect((await waiting("f")).request.tool).toBe("pay");
      expect(log).toHaveLength(before);
      await runs.cancel("f", "seen");
      await worker.drain();
    },
  );

  it("begins before a turn whose model failed, the first one too", async () => {
    for (const turn of [1, 2]) {
      const whole = planned("clerk", ...first);
      let isDown = true;
      const failing = one.with({
        model(request) {
          if (isDown && log.includes(`clerk ${turn - 1}`) === turn > 1) throw new Error("down");
          return whole(request);
        },
      });
      const { runs } = await ended({}, failing);
      expect(await runs.result("r")).toMatchObject({ outcome: { type: "failed" }, turns: turn });
      isDown = false;
      expect(await forked(runs, { beforeTurn: turn })).toMatchObject({ outcome: { type: "answered" } });
      await expect(runs.fork("r", { beforeTurn: turn + 1 })).rejects.toMatchObject({ code: "turn-missing" });
    }
  });

  it("is refused where there is no such run, turn, call or option, and where its id is taken", async () => {
    const both = parallel({ first: one, second: one });
    const { runs } = await ended({}, one, [both]);
    const refused = async (id: string, options: unknown) => {
      const forking = runs.fork(id, options as RunForkOptions);
      return forking.then(
        () => "was not refused",
        (error: { code: string }) => error.code,
      );
    };
    expect(await refused("nobody", { beforeTurn: 1 })).toBe("run-missing");
    expect(await refused("r", { beforeTurn: 5 })).toBe("turn-missing");
    await runs.start(one, "Go", { id: "fresh" });
    expect(await refused("fresh", { beforeTurn: 1 })).toBe("turn-missing");
    await runs.start(both, "Go", { id: "both" });
    await settled(runs, "both");
    expect(await refused("both", { beforeTurn: 1 })).toBe("turn-missing");
    for (const wrong of [
      {},
      { beforeTurn: 0 },
      { beforeTurn: 1, turn: 2 },
      { beforeTurn: 1, again: "pay" },
      { beforeTurn: 2, results: { "turn/1/call/0": Promise.resolve(1) } },
    ])
      expect(await refused("r", wrong)).toBe("definition-invalid");
    for (const call of ["turn/9/call/0", "turn/1/model", "start"])
      expect(await refused("r", { beforeTurn: 2, results: { [call]: 1 } })).toBe("call-missing");
    expect(await refused("r", { beforeTurn: 1, id: "r" })).toBe("run-exists");
  });
});
