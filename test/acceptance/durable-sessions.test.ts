import { describe, expect, it, onTestFinished } from "vitest";
import { textOf } from "../../src/doors.ts";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { agent, type AgentEvent, inMemorySessions, type Policy, session } from "../../src/index.ts";
import type { ModelFunction } from "../../src/models.ts";
import type { Approvals } from "../../src/run/approval.ts";
import { sqliteRuns } from "../../src/sqlite.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
const free: Policy = () => ({ verdict: "allow", rule: "all", reason: "" });

it("checks and follows a run of a session that is being carried out", async () => {
  using store = sqliteRuns(":memory:");
  const sessions = inMemorySessions();
  let free = (): void => undefined;
  const slow = fakeTool(
    "slow",
    () =>
      new Promise<string>((resolve) => {
        free = () => resolve("done");
      }),
    { effect: "read" },
  );
  const one = agent({
    name: "clerk",
    tools: [slow],
    model: ({ messages }) => (messages.at(-1)?.role === "tool" ? "Done." : { calls: [{ name: "slow" }] }),
  });
  const runs = durableRuns({ store, agents: [one], sessions: (id) => session(sessions, id) });
  await runs.start(one, "Go", { id: "r", session: "kim" });
  await using _worker = runs.work();
  await expect.poll(() => slow.calls.length).toBe(1);
  const first = runs.events("r").next();
  const timeout = (ms: number) => new Promise((r) => setTimeout(() => r("late"), ms));
  const a = await Promise.race([runs.check(), timeout(1500)]);
  const b = await Promise.race([first.then(({ value }) => (value as { type: string }).type), timeout(1500)]);
  free();
  expect([a, b]).toEqual([[], "run-start"]);
}, 10_000);

it("is not begun in a session where its input is a conversation, unless nothing keeps sessions", async () => {
  const talker = agent({ name: "talker", model: "ollama/none" });
  const said = ["user", "assistant", "user"].map((role) => ({ role, content: "Hi" })) as never;
  const store = memoryRuns();
  const sessions = inMemorySessions();
  const kept = durableRuns({ store, agents: [talker], sessions: (id) => session(sessions, id) });
  const input = expect.objectContaining({ code: "input-invalid" });
  await expect(kept.start(talker, said, { id: "r", session: "kim" })).rejects.toEqual(input);
  expect(await kept.list()).toEqual([]);
  const grouped = durableRuns({ store, agents: [talker], sessions: () => undefined });
  expect(await grouped.start(talker, said, { session: "kim" })).toMatchObject({ session: "kim" });
});

it("writes nothing into the session of a run that another process has taken over", async () => {
  using store = sqliteRuns(":memory:");
  const sessions = inMemorySessions();
  await using journal = await store.open("r");
  const moving = fakeTool(
    "move",
    async () => {
      await store.moveOut("r");
      return "done";
    },
    { effect: "read" },
  );
  const one = agent({
    name: "clerk",
    tools: [moving],
    model: scripted([{ calls: [{ name: "move" }] }, "Done."]),
  });
  const running = one.run("Go", { journal, runId: "r", session: session(sessions, "kim") });
  await expect(running).rejects.toMatchObject({ code: "run-taken" });
  expect((await sessions.read("kim")).runs).toEqual([]);
});

it("writes nothing into the session when it lost its run before its end was kept there", async () => {
  using store = sqliteRuns(":memory:");
  const sessions = inMemorySessions();
  await using journal = await store.open("r");
  const losing: typeof journal = {
    ...journal,
    async step(step) {
      if (step.key.startsWith("session/save")) await store.moveOut("r");
      return journal.step(step);
    },
  };
  const one = agent({ name: "clerk", model: scripted(["Done."]) });
  const running = one.run("Go", { journal: losing, runId: "r", session: session(sessions, "kim") });
  await expect(running).rejects.toMatchObject({ code: "run-taken" });
  expect((await sessions.read("kim")).runs).toEqual([]);
});

describe("an end that is kept in a session", () => {
  /** The session of the run, and how the next one is told of it. */
  const told = async (sessions: ReturnType<typeof inMemorySessions>): Promise<unknown> => {
    const { runs } = await sessions.read("kim");
    const { messages } = await session(sessions, "kim").load();
    return [
      runs.map(({ outcome }) => outcome.type),
      messages.flatMap((each) => (each.role === "assistant" ? [textOf(each)] : [])),
    ];
  };

  it("is that of the run that was cancelled while it was at work: the next one is told what it did", async () => {
    using store = sqliteRuns(":memory:");
    const sessions = inMemorySessions();
    const note = fakeTool("note", "noted that", { effect: "write" });
    const slow = fakeTool("slow", () => new Promise(() => undefined), { effect: "read" });
    const replies = [{ calls: [{ name: "note" }] }, { calls: [{ name: "slow" }] }];
    const one = agent({ name: "clerk", model: scripted(replies), tools: [note, slow], policy: free });
    const runs = durableRuns({ store, agents: [one], sessions: (id) => session(sessions, id) });
    await using _worker = runs.work();
    await runs.start(one, "Go", { id: "r", session: "kim" });
    await expect.poll(() => slow.calls.length).toBe(1);
    await runs.cancel("r");
    await expect.poll(async () => (await sessions.read("kim")).runs.length).toBe(1);
    expect(JSON.stringify(await sessions.read("kim"))).toContain("noted that");
    expect(await told(sessions)).toEqual([["cancelled"], expect.any(Array)]);
  });

  it("is that of the run that was cancelled while it waited: the next one is told what it did, and what ran beside the question", async () => {
    using store = sqliteRuns(":memory:");
    const sessions = inMemorySessions();
    const [note, post] = ["note", "post"].map((name) => fakeTool(name, `${name} done`, { effect: "write" }));
    const replies = [{ calls: [{ name: "note" }] }, { calls: [{ name: "post" }, { name: "pay" }] }, "Well."];
    const model = scripted(replies);
    const policy: Policy = ({ tool: name }) => ({
      verdict: name === "pay" ? "ask" : "allow",
      rule: name,
      reason: "",
    });
    const tools = [note, post, fakeTool("pay", "paid", { effect: "irreversible" })].flatMap(
      (one) => one ?? [],
    );
    const one = agent({ name: "clerk", model, tools, policy });
    const runs = durableRuns({ store, agents: [one], sessions: (id) => session(sessions, id) });
    await using _worker = runs.work();
    await runs.start(one, "Go", { id: "r", session: "kim" });
    await expect.poll(async () => (await runs.show("r"))?.status).toBe("waiting");
    await runs.start(one, "And?", { id: "after", session: "kim", whenWaiting: "after" });
    await expect.poll(async () => (await runs.show("after"))?.status).toBe("waiting");
    await runs.cancel("r");
    expect((await runs.result("after")).output).toBe("Well.");
    const words = JSON.stringify(model.requests.at(-1)?.messages);
    expect([words.includes("note done"), words.includes("post done"), words.includes("paid")]).toEqual([
      true,
      true,
      false,
    ]);
    await runs.cancel("r"); // changes nothing
    const [first] = (await sessions.read("kim")).runs;
    expect(first).toMatchObject({ runId: "r", outcome: { type: "cancelled" } });
    expect(first?.usage).toEqual((await runs.replay("r")).usage);
  });

  it("tells what an agent inside did beside a question of its own, where the run is cancelled meanwhile", async () => {
    using store = sqliteRuns(":memory:");
    const sessions = inMemorySessions();
    const post = fakeTool("post", "posted", { effect: "irreversible" });
    const slow = fakeTool("slow", () => new Promise(() => undefined), { effect: "read" });
    const asks: Policy = ({ tool: name }) => ({
      verdict: name === "pay" ? "ask" : "allow",
      rule: name,
      reason: "",
    });
    const inner = agent({
      name: "inner",
      model: scripted([{ calls: [{ name: "post" }, { name: "pay" }] }]),
      tools: [post, fakeTool("pay", "paid", { effect: "irreversible" })],
      policy: asks,
    });
    const calls = [{ name: "inner", arguments: { input: "x" } }, { name: "slow" }];
    const tools = [inner.asTool(), slow];
    const boss = agent({ name: "boss", model: scripted([{ calls }]), tools, policy: asks });
    const waits = Promise.withResolvers<void>();
    const onEvent = ({ type, parentRunId }: AgentEvent): void => {
      if (type === "run-end" && parentRunId !== undefined) waits.resolve();
    };
    const opening = (id: string) => session(sessions, id);
    const runs = durableRuns({ store, agents: [boss], sessions: opening, onEvent });
    await using _worker = runs.work();
    await runs.start(boss, "Go", { id: "r", session: "kim" });
    await waits.promise;
    await expect.poll(() => slow.calls.length).toBe(1);
    await runs.cancel("r");
    await expect.poll(() => sessions.list()).toEqual(["kim"]);
    await expect.poll(async () => (await sessions.read("kim")).runs.length).toBe(1);
    const [run] = (await sessions.read("kim")).runs;
    expect(run?.acts).toContainEqual(
      expect.objectContaining({ tool: "post", status: "ok", result: "posted" }),
    );
    expect(run?.acts?.map(({ tool: name }) => name)).not.toContain("pay");
  });

  it("is not changed by a run that was cancelled before it began", async () => {
    using store = sqliteRuns(":memory:");
    const sessions = inMemorySessions();
    const one = agent({ name: "clerk", model: scripted([]) });
    const runs = durableRuns({ store, agents: [one], sessions: (id) => session(sessions, id) });
    await runs.start(one, "Go", { id: "r", session: "kim" });
    await runs.cancel("r");
    expect(await sessions.list()).toEqual([]);
  });

  it("is that of the run that failed, was tried again and answered", async () => {
    using store = sqliteRuns(":memory:");
    const sessions = inMemorySessions();
    const one = agent({ name: "clerk", model: scripted([new Error("503"), new Error("500"), "Done."]) });
    const runs = durableRuns({ store, agents: [one], sessions: (id) => session(sessions, id) });
    await using _worker = runs.work();
    await runs.start(one, "Go", { id: "r", session: "kim" });
    expect((await runs.result("r")).outcome.type).toBe("failed");
    await runs.retry("r");
    await expect.poll(async () => (await runs.show("r"))?.status).toBe("failed");
    expect(await told(sessions)).toEqual([["failed"], ["(No answer: the run failed.)"]]);
    await runs.retry("r");
    await expect.poll(async () => (await runs.show("r"))?.status).toBe("answered");
    expect(await told(sessions)).toEqual([["answered"], ["Done."]]);
    expect((await runs.replay("r")).text).toBe("Done.");
  });

  it("stands there once, behind a run that came in between", async () => {
    using store = sqliteRuns(":memory:");
    const sessions = inMemorySessions();
    const pay = fakeTool("pay", "paid", { effect: "irreversible" });
    const model = scripted([
      { calls: [{ name: "pay", arguments: {} }] },
      new Error("503"),
      "It is paid.",
      "Paid, as asked.",
    ]);
    const one = agent({ name: "clerk", model, tools: [pay] });
    const runs = durableRuns({ store, agents: [one], sessions: (id) => session(sessions, id) });
    await using _worker = runs.work();
    const ends = async (id: string) => (await runs.result(id)).outcome.type;
    await runs.start(one, "Pay", { id: "first", session: "kim" });
    const asked = async () => (await runs.show("first"))?.status;
    await expect.poll(asked).not.toMatch(/ready|running/);
    for (const { key, request } of await runs.waiting("first"))
      await runs.answer("first", key, { approved: true, hash: request.hash });
    expect(await ends("first")).toBe("failed");
    await runs.start(one, "Well?", { id: "second", session: "kim" });
    expect(await ends("second")).toBe("answered");
    await runs.retry("first");
    await expect.poll(asked).toBe("answered");
    expect((await sessions.read("kim")).runs.map(({ runId }) => runId)).toEqual(["second", "first"]);
    const paid = (await session(sessions, "kim").load()).messages.filter(
      ({ role, ...each }) => role === "user" && JSON.stringify(each).includes("- pay"),
    );
    expect(paid).toHaveLength(1);
  });

  it("is that of the process that took the run over, not of the one that stood still once it had kept another", async () => {
    using store = sqliteRuns(":memory:");
    const sessions = inMemorySessions();
    const talk = session(sessions, "kim");
    const still = Promise.withResolvers<void>();
    const kept = Promise.withResolvers<void>();
    await using journal = await store.open("r");
    const slow: typeof journal = {
      ...journal,
      async step(step) {
        const result = await journal.step(step);
        if (!step.key.startsWith("session/save")) return result;
        kept.resolve();
        await still.promise;
        return result;
      },
    };
    const run = (model: ReturnType<typeof scripted>, its: typeof journal) =>
      agent({ name: "clerk", model }).run("Go", { journal: its, runId: "r", session: talk });
    const first = run(scripted([new Error("503")]), slow).catch((error: unknown) => error);
    await kept.promise;
    // Its records are those of the run: another store stands for another process, which need not wait for the session here.
    const next = memoryRuns();
    await next.moveIn(await store.moveOut("r"));
    await using other = await next.open("r");
    const { text } = await agent({ name: "clerk", model: scripted(["Done."]) }).run("Go", {
      journal: other,
      runId: "r",
      session: { ...talk, enter: () => Promise.resolve(() => Promise.resolve()) },
    });
    expect(text).toBe("Done.");
    still.resolve();
    await first;
    expect(await told(sessions)).toEqual([["answered"], ["Done."]]);
  });
});

describe("a message while a question waits", () => {
  const next: ModelFunction = ({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === "tool") return last.status === "ok" ? "Paid." : `Not paid: ${last.text}`;
    const text = JSON.stringify(last);
    return text.includes("Pay") ? { calls: [{ name: "pay" }] } : "A good day to you.";
  };
  const money = { verdict: "ask", rule: "money", reason: "money leaves" } as const;

  function desk(more: { readonly approvals?: Approvals } = {}) {
    const pay = fakeTool("pay", "paid");
    const clerk = agent({ name: "clerk", model: next, tools: [pay], policy: () => money, ...more });
    const store = sqliteRuns(":memory:");
    const sessions = inMemorySessions();
    const runs = durableRuns({ store, agents: [clerk], sessions: (id) => session(sessions, id) });
    const worker = runs.work();
    onTestFinished(async () => {
      await worker.drain();
      store.close();
    });
    const waits = async (id: string): Promise<void> => {
      await expect.poll(async () => (await runs.show(id))?.status).toBe("waiting");
    };
    const said = async () => (await sessions.read("kim")).runs.map(({ runId }) => runId);
    return { pay, clerk, runs, waits, said };
  }

  it("withdraws it where the caller says so: the model is told, and the call never runs", async () => {
    const { pay, clerk, runs, waits, said } = desk();
    await runs.start(clerk, "Pay Ada", { id: "pays", session: "kim" });
    await runs.start(clerk, "Pay Ben", { id: "other", session: "lee" });
    await waits("pays");
    await waits("other");
    const [question] = await runs.waiting("pays");
    await runs.start(clerk, "Good morning", { id: "greets", session: "kim", whenWaiting: "withdraw" });
    expect((await runs.result("greets")).output).toBe("A good day to you.");
    expect((await runs.result("pays")).output).toContain("withdrawn: the user said something else");
    expect(pay.calls).toEqual([]);
    expect((await said()).toSorted()).toEqual(["greets", "pays"]);
    await expect(
      runs.answer("pays", question?.key ?? "", { approved: true, hash: question?.request.hash ?? "" }),
    ).rejects.toMatchObject({ code: expect.stringMatching(/^question-/) });
    expect((await runs.show("other"))?.status).toBe("waiting");
  });

  it("withdraws what is left of several questions, of which one was answered", async () => {
    using store = sqliteRuns(":memory:");
    const calls = ["a", "b"].map((to) => ({ name: "pay", arguments: { to } }));
    const clerk = agent({
      name: "clerk",
      model: scripted([{ calls }]),
      tools: [fakeTool("pay", "paid")],
      policy: () => money,
    });
    const runs = durableRuns({ store, agents: [clerk], sessions: () => undefined });
    const worker = runs.work();
    await runs.start(clerk, "Pay both", { id: "pays", session: "kim" });
    await expect.poll(async () => (await runs.show("pays"))?.status).toBe("waiting");
    await worker.drain();
    const [question] = await runs.waiting("pays");
    await runs.answer("pays", question?.key ?? "", { approved: true, hash: question?.request.hash ?? "" });
    await runs.start(clerk, "Leave it", { id: "leaves", session: "kim", whenWaiting: "withdraw" });
    expect([(await runs.show("pays"))?.status, await runs.waiting()]).toEqual(["ready", []]);
  });

  it("keeps it by default, and its end comes behind what was said meanwhile", async () => {
    const { clerk, runs, waits, said } = desk();
    await runs.start(clerk, "Pay Ada", { id: "pays", session: "kim" });
    await waits("pays");
    await runs.start(clerk, "Good morning", { id: "greets", session: "kim" });
    await runs.result("greets");
    const [question] = await runs.waiting("pays");
    await runs.answer("pays", question?.key ?? "", { approved: true, hash: question?.request.hash ?? "" });
    expect((await runs.result("pays")).output).toBe("Paid.");
    expect(await said()).toEqual(["greets", "pays"]);
  });

  it("withdraws neither its own question when it is started again, nor one for named people", async () => {
    const { clerk, runs, waits } = desk({ approvals: () => ({ by: ["lee"] }) });
    const start = (id: string) =>
      runs.start(clerk, "Pay Ada", { id, session: "kim", whenWaiting: "withdraw" });
    await start("first");
    await waits("first");
    await start("second");
    await waits("second");
    await start("second");
    expect((await runs.waiting()).map(({ runId }) => runId)).toEqual(["first", "second"]);
  });

  it("refuses another word for it", async () => {
    const { clerk, runs } = desk();
    // @ts-expect-error -- no such fate
    const started = runs.start(clerk, "Hi", { session: "kim", whenWaiting: "forget" });
    await expect(started).rejects.toMatchObject({ code: "definition-invalid" });
  });
});

describe("a run that began where no sessions were kept", () => {
  const asks: Policy = () => ({ verdict: "ask", rule: "asks", reason: "" });

  it("goes on, and replays, without one where they are kept by now: it was told nothing, and is told nothing in its middle", async () => {
    const store = memoryRuns();
    const sessions = inMemorySessions();
    const one = agent({
      name: "clerk",
      tools: [fakeTool("pay", "paid", { effect: "irreversible" })],
      policy: asks,
      model: ({ messages }) => {
        const last = messages.at(-1);
        if (last?.role === "tool") return `Paid, told ${messages.length}`;
        return JSON.stringify(last).includes("Pay")
          ? { calls: [{ name: "pay" }] }
          : `told ${messages.length}`;
      },
    });
    const before = durableRuns({ store, agents: [one], sessions: () => undefined });
    const earlier = before.work();
    await before.start(one, "Hi", { id: "ended", session: "kim" });
    await before.start(one, "Pay", { id: "waits", session: "kim" });
    await before.result("ended");
    await expect.poll(async () => (await before.show("waits"))?.status).toBe("waiting");
    await earlier.drain();

    const runs = durableRuns({ store, agents: [one], sessions: (id) => session(sessions, id) });
    await using _worker = runs.work();
    await runs.start(one, "Hi", { id: "first", session: "kim" });
    await runs.start(one, "Hi", { id: "second", session: "kim", whenWaiting: "keep" });
    await runs.result("first");
    expect((await runs.result("second")).output).toBe("told 4");
    expect(await runs.check()).toEqual([]);
    const [question] = await runs.waiting("waits");
    await runs.answer("waits", question?.key ?? "", { approved: true, hash: question?.request.hash ?? "" });
    expect(await runs.result("waits")).toMatchObject({ output: "Paid, told 4" });
    for (const id of ["ended", "waits"]) {
      const end = (await runs.show(id))?.end?.output;
      expect([(await runs.replay(id)).text, end]).toEqual([end, expect.stringContaining("told")]);
    }
    expect((await sessions.read("kim")).runs.map(({ runId }) => runId)).toEqual(["first", "second"]);
  });
});
