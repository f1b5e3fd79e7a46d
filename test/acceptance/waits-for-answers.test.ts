import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  agent,
  type Agent,
  type AgentEvent,
  inMemorySessions,
  isFact,
  type Policy,
  session,
  tool,
} from "../../src/index.ts";
import { parallel, subagents } from "../../src/compose.ts";
import { execute } from "../../src/doors.ts";
import { type SqliteRuns, sqliteRuns } from "../../src/sqlite.ts";
import { planned, type PlannedCall } from "./durable-place.ts";

let folder = "";
let runs: SqliteRuns;
let log: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "writ-waits-"));
  runs = sqliteRuns(join(folder, "runs.db"));
  log = [];
});
afterEach(() => {
  runs.close();
  rmSync(folder, { recursive: true, force: true });
});

type Effect = "none" | "read" | "write" | "irreversible";
const acting = (name: string, effect?: Effect) =>
  tool({
    name,
    description: "",
    inputSchema: { type: "object", properties: { to: { type: "string" } } },
    ...(effect === undefined ? {} : { effect }),
    execute: ({ to }: { to?: unknown }) => {
      log.push(`${name} ${typeof to === "string" ? to : ""}`.trim());
      return `${name} done`;
    },
  });
const look = acting("look", "read");
const pay = acting("pay", "irreversible");
const mail = acting("mail");
const asks: Policy = ({ tool: name }) =>
  name === "pay" || name === "mail"
    ? { verdict: "ask", rule: "asks", reason: "a person decides" }
    : { verdict: "allow", rule: "free", reason: "" };

const clerk = (...turns: readonly (readonly PlannedCall[])[]): Agent<string, string> =>
  agent({ name: "clerk", model: planned(...turns), tools: [look, pay, mail], policy: asks });

/** Runs in a process of its own, as far as the journal can tell. */
async function goOn(one: Pick<Agent<string, string>, "run">, options: object = {}) {
  await using journal = await runs.open("r");
  return one.run("Go", { journal, runId: "r", ...options });
}

const yes = async (place = 0): Promise<void> => {
  const question = (await runs.questions("r"))[place];
  await runs.answer("r", question?.key ?? "", { approved: true, hash: question?.request.hash ?? "" });
};

describe("a run whose question nobody answers", () => {
  it("is suspended, holds nothing, and goes on in another process when somebody answered [Z8]", async () => {
    const one = clerk([{ name: "pay", arguments: { to: "kim" } }]);
    const waiting = await goOn(one);
    expect(waiting.outcome).toMatchObject({ type: "suspended", field: "answers", used: 1 });
    expect(waiting.error?.code).toBe("run-waiting");
    const [question] = await runs.questions();
    expect(question).toMatchObject({
      runId: "r",
      key: "turn/1/approval/0",
      request: { agent: "clerk", tool: "pay", arguments: { to: "kim" }, reason: "a person decides" },
    });
    expect(waiting.questions).toEqual([{ key: question?.key, request: question?.request }]);
    expect(await goOn(one)).toMatchObject({ outcome: { type: "suspended" } }); // still nobody
    expect(log).toEqual([]);
    await yes();
    expect(await runs.questions()).toEqual([]);
    expect(await goOn(one)).toMatchObject({ outcome: { type: "answered" }, text: "pay ok" });
    expect(log).toEqual(["pay kim"]);
    expect(await goOn(one)).toMatchObject({ text: "pay ok" }); // a replay
    expect(log).toEqual(["pay kim"]);
  });

  it("asks all questions of a turn at once, and runs what needs no answer", async () => {
    const one = clerk([
      { name: "look" },
      { name: "mail" },
      { name: "look" },
      { name: "pay" },
      { name: "look" },
    ]);
    const waiting = await goOn(one);
    expect(waiting.questions?.map(({ request }) => request.tool)).toEqual(["mail", "pay"]);
    expect(log).toEqual(["look", "look"]); // the last one comes after a payment
    await yes(1);
    await goOn(one);
    expect(log).toEqual(["look", "look"]); // calls run in their order
    await yes(0);
    expect(await goOn(one)).toMatchObject({ text: "look ok, mail ok, look ok, pay ok, look ok" });
    expect(log).toEqual(["look", "look", "mail", "pay", "look"]);
  });

  it("tells the model of a no, and runs other arguments where a person gave them [Z8]", async () => {
    const one = clerk(
      [{ name: "pay", arguments: { to: "eve" } }],
      [{ name: "pay", arguments: { to: "kim" } }],
    );
    await goOn(one);
    const [first] = await runs.questions();
    const { hash } = first?.request ?? { hash: "" };
    await runs.answer("r", first?.key ?? "", { approved: true, arguments: { to: "lee" }, hash });
    await goOn(one);
    const [second] = await runs.questions();
    await runs.answer("r", second?.key ?? "", {
      approved: false,
      reason: "not today",
      hash: second?.request.hash ?? "",
    });
    const ended = await goOn(one);
    expect(ended.text).toBe("pay ok, pay denied");
    expect(log).toEqual(["pay lee"]);
  });

  it("takes one answer, to the call that was shown, and no other", async () => {
    const one = clerk([{ name: "pay" }]);
    await goOn(one);
    const [{ key, request } = { key: "", request: { hash: "" } }] = await runs.questions();
    const answer = (hash: string, place = key): Promise<void> =>
      runs.answer("r", place, { approved: true, hash });
    await expect(answer("another")).rejects.toMatchObject({ code: "question-changed" });
    await expect(answer(request.hash, "turn/9/approval/0")).rejects.toMatchObject({
      code: "question-unknown",
    });
    await answer(request.hash);
    await expect(answer(request.hash)).rejects.toMatchObject({ code: "question-answered" });
    expect(await runs.questions()).toEqual([]);
    await goOn(one);
    expect(log).toEqual(["pay"]);
  });

  it("does not wait where somebody of this process answers", async () => {
    const ended = await goOn(clerk([{ name: "pay" }]), { approve: () => true });
    expect(ended.text).toBe("pay ok");
    expect(await runs.questions()).toEqual([]);
  });

  it("is not kept in its session before it has ended, and then once", async () => {
    const store = inMemorySessions();
    const options = { session: session(store, "s") };
    const one = clerk([{ name: "pay" }]);
    await goOn(one, options);
    expect((await store.read("s")).runs).toHaveLength(0);
    await yes();
    await goOn(one, options);
    expect((await store.read("s")).runs).toHaveLength(1);
  });

  it.each([
    ["a call with an effect", [{ name: "pay" }]],
    ["a look, and pays afterwards", [{ name: "peek" }, { name: "pay" }]],
  ])("keeps its place in a session that is used meanwhile: asked about %s", async (_what, calls) => {
    const store = inMemorySessions();
    const options = { session: session(store, "s") };
    const peek = acting("peek", "read");
    const policy: Policy = (call) =>
      call.tool === calls[0]?.name
        ? asks({ ...call, tool: "pay" })
        : { verdict: "allow", rule: "free", reason: "" };
    const one = agent({
      name: "clerk",
      model: planned(...calls.map((call) => [call])),
      tools: [peek, pay],
      policy,
    });
    await goOn(one, options);
    await agent({ name: "clerk", model: () => "It is Monday." }).run("Which day is it?", options);
    await yes();
    expect((await goOn(one, options)).text).toBe(calls.map(({ name }) => `${name} ok`).join(", "));
    const { runs: kept } = await store.read("s");
    expect(kept.map(({ messages }) => messages.length)).toEqual([2, 2 + 2 * calls.length]); // behind what came meanwhile
    expect(log.filter((line) => line === "pay")).toHaveLength(1);
  });

  it("throws its questions away when it is removed", async () => {
    await goOn(clerk([{ name: "pay" }]));
    await runs.erase({ id: "r" });
    expect(await runs.questions()).toEqual([]);
  });

  it("says so where it is called as a function, and asks no hook about its end", async () => {
    const ends: string[] = [];
    const one = agent({
      name: "clerk",
      model: planned([{ name: "pay" }]),
      tools: [pay],
      policy: asks,
      hooks: [{ name: "ends", afterRun: ({ outcome }) => void ends.push(outcome.type) }],
    });
    {
      await using journal = await runs.open("r");
      await expect(one("Go", { journal, runId: "r" })).rejects.toMatchObject({ code: "run-waiting" });
    }
    await yes();
    await goOn(one);
    expect(ends).toEqual(["answered"]);
  });
});

describe("calls without a run", () => {
  it("wait in their journal too, and are made when somebody answered", async () => {
    const calls = [
      { type: "tool-call", id: "a", name: "look", arguments: {} },
      { type: "tool-call", id: "b", name: "pay", arguments: { to: "kim" } },
    ] as const;
    const carryOut = async () => {
      await using journal = await runs.open("r");
      return await execute({ calls, tools: [look, pay], policy: asks, journal });
    };
    await expect(carryOut()).rejects.toMatchObject({ code: "run-waiting", data: { count: 1, tools: "pay" } });
    expect(log).toEqual(["look"]);
    await yes();
    expect((await carryOut()).map(({ status }) => status)).toEqual(["ok", "ok"]);
    expect(log).toEqual(["look", "pay kim"]);
  });
});

describe("a run inside a call that waits", () => {
  const payer = (name: string) =>
    agent({
      name,
      model: planned([{ name: "look", arguments: { to: name } }], [{ name: "pay", arguments: { to: name } }]),
      tools: [look, pay],
      policy: asks,
    });

  it("suspends the runs around it, and goes on where it was; what ran beside it is not repeated", async () => {
    const boss = agent({
      name: "boss",
      model: planned([
        { name: "kim", arguments: { input: "x" } },
        { name: "lee", arguments: { input: "x" } },
        { name: "look", arguments: { to: "boss" } },
      ]),
      tools: [payer("kim").asTool(), payer("lee").asTool(), look],
      policy: asks,
    });
    const waiting = await goOn(boss);
    expect(waiting.outcome.type).toBe("suspended");
    expect(waiting.questions?.map(({ key, request }) => [key, request.agent])).toEqual([
      [expect.stringMatching(/^turn\/1\/call\/0\/kim~\w+\/1\/turn\/2\/approval\/0$/), "kim"],
      [expect.stringMatching(/^turn\/1\/call\/1\/lee~\w+\/1\/turn\/2\/approval\/0$/), "lee"],
    ]);
    expect(log.toSorted()).toEqual(["look boss", "look kim", "look lee"]);
    await yes(1);
    expect((await goOn(boss)).outcome.type).toBe("suspended");
    await yes(0);
    const ended = await goOn(boss);
    expect(ended.text).toBe("kim ok, lee ok, look ok");
    expect(log.toSorted()).toEqual(["look boss", "look kim", "look lee", "pay kim", "pay lee"]);
  });

  it("lets each process tell of the calls beside it that ended before", async () => {
    const boss = agent({
      name: "boss",
      model: planned([
        { name: "look", arguments: { to: "boss" } },
        { name: "kim", arguments: { input: "x" } },
      ]),
      tools: [payer("kim").asTool(), look],
      policy: asks,
    });
    const told = async (): Promise<string[]> => {
      const facts: string[] = [];
      const onEvent = (event: AgentEvent): void => {
        if (event.parentRunId === undefined && isFact(event)) facts.push(`${event.seq} ${event.type}`);
      };
      await goOn(boss, { onEvent });
      return facts;
    };
    const first = await told();
    expect(first).toContain("10 tool-end");
    expect(await told()).toEqual(first);
    await yes();
    expect((await told()).slice(0, first.length - 2)).toEqual(first.slice(0, -2)); // but for the end of the turn and of the process
  });

  it("goes on where it was behind a tool of several agents too", async () => {
    const boss = agent({
      name: "boss",
      model: planned([{ name: "spawn_subagent", arguments: { subagent: "kim", prompt: "x" } }]),
      tools: [subagents([payer("kim"), payer("lee")])],
      policy: asks,
    });
    expect((await goOn(boss)).outcome.type).toBe("suspended");
    await yes();
    expect((await goOn(boss)).text).toBe("spawn_subagent ok");
    expect(log).toEqual(["look kim", "pay kim"]);
  });

  it("lets nothing begin that comes after it", async () => {
    const boss = agent({
      name: "boss",
      model: planned([{ name: "kim", arguments: { input: "x" } }, { name: "file" }]),
      tools: [payer("kim").asTool(), acting("file", "irreversible")],
      policy: asks,
    });
    await goOn(boss);
    expect(log).toEqual(["look kim"]);
    await yes();
    expect((await goOn(boss)).text).toBe("kim ok, file ok");
    expect(log).toEqual(["look kim", "pay kim", "file"]);
  });

  it("waits in a composition too", async () => {
    const both = parallel({ kim: payer("kim"), lee: payer("lee") });
    expect((await goOn(both as never)).outcome.type).toBe("suspended");
    expect(await runs.questions()).toHaveLength(2);
    await yes(0);
    await yes(0);
    expect((await goOn(both as never)).outcome.type).toBe("answered");
    expect(log.toSorted()).toEqual(["look kim", "look lee", "pay kim", "pay lee"]);
  });

  it("of a tool's own code: the tool runs again where it may, and is unknown where it may not", async () => {
    for (const retry of ["always", "never"] as const) {
      log = [];
      const child = payer("kim");
      const helper = tool({
        name: "helper",
        description: "",
        inputSchema: { type: "object" },
        retry,
        execute: async (_args, { run }) => (await child.run("x", { parent: run })).text,
      });
      const boss = agent({
        name: "boss",
        model: planned([{ name: "helper" }]),
        tools: [helper],
        policy: asks,
      });
      expect((await goOn(boss)).outcome.type).toBe("suspended");
      await yes();
      expect((await goOn(boss)).text).toBe(retry === "always" ? "helper ok" : "helper unknown");
      expect(log).toEqual(retry === "always" ? ["look kim", "pay kim"] : ["look kim"]);
      await runs.erase({ id: "r" });
    }
  });
});
