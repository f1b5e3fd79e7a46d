import { afterEach, describe, expect, it } from "vitest";
import { parallel, pipe, race } from "../../src/compose.ts";
import { durableRuns, type RunWorker } from "../../src/durable.ts";
import { agent, type Policy, tool } from "../../src/index.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { durablePlaces, storesIn } from "./durable-place.ts";

const asks: Policy = () => ({ verdict: "ask", rule: "money", reason: "money leaves" });
const usage = { inputTokens: 10, outputTokens: 1 };

/** An agent that wants to pay, which a person is asked about. */
const payer = (name: string) =>
  agent({
    name,
    model: scripted([
      { calls: [{ name: "pay", arguments: { by: name } }], usage },
      { text: `${name} paid`, usage },
    ]),
    tools: [fakeTool("pay", "paid")],
    policy: asks,
  });

/** An agent that answers once it may. */
const quickAfter = (gate: Promise<void>) =>
  agent({ name: "quick", model: () => gate.then(() => ({ text: "here", usage })) });

describe.each(durablePlaces)("compositions that wait, in %s", (where) => {
  const open = storesIn(where);
  const workers: RunWorker[] = [];
  afterEach(async () => {
    for (const worker of workers.splice(0)) await worker.drain();
  });

  it("answer where one of a race has answered: nobody waits for a loser's person, and what that used counts", async () => {
    const asked = Promise.withResolvers<void>();
    const quick = quickAfter(asked.promise);
    const racing = race([payer("slow"), quick]);
    const runs = durableRuns({ store: open(), agents: [racing] });
    workers.push(runs.work());
    await runs.start(racing, "go", { id: "r" });
    await expect.poll(() => runs.waiting("r")).toHaveLength(1);
    asked.resolve();
    const end = await runs.result("r");
    expect(end).toMatchObject({ output: "here", usage: { inputTokens: 20, outputTokens: 2 } });
    expect((await runs.replay("r")).usage).toEqual(end.usage);
    expect(await runs.waiting("r")).toEqual([]);
  });

  it("withdraw the question of what has ended without it, and keep the others", async () => {
    const asked = Promise.withResolvers<void>();
    const quick = quickAfter(asked.promise);
    const racing = pipe(race([payer("slow"), quick]), payer("after"));
    const runs = durableRuns({ store: open(), agents: [racing] });
    workers.push(runs.work());
    await runs.start(racing, "go", { id: "r" });
    await expect.poll(() => runs.waiting("r")).toHaveLength(1);
    const [question] = await runs.waiting("r");
    asked.resolve();
    await expect
      .poll(async () => (await runs.waiting("r")).map(({ request }) => request.path))
      .toEqual([expect.arrayContaining(["after"])]);
    await expect.poll(async () => (await runs.show("r"))?.status).toBe("waiting");
    const { key = "", request } = question ?? {};
    await expect(runs.answer("r", key, { approved: true, hash: request?.hash ?? "" })).rejects.toMatchObject({
      code: "question-unknown",
    });
    for (const next of await runs.waiting("r"))
      await runs.answer("r", next.key, { approved: true, hash: next.request.hash });
    expect((await runs.result("r")).output).toBe("after paid");
  });

  it("withdraw it while they are at work: a signal reaches what waits for it next", async () => {
    const [asked, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const parcel = tool({
      name: "parcel",
      description: "",
      inputSchema: { type: "object" },
      effect: "none",
      execute: async (_nothing, { waitFor }) => waitFor("paid"),
    });
    const waiter = (name: string, gate: Promise<void>) =>
      agent({
        name,
        model: ({ messages }) =>
          gate.then(() => (messages.length > 1 ? `${name} done` : { calls: [{ name: "parcel" }] })),
        tools: [parcel],
        policy: () => ({ verdict: "allow", rule: "", reason: "" }),
      });
    const racing = pipe(
      race([waiter("slow", Promise.resolve()), quickAfter(asked.promise)]),
      waiter("after", written.promise),
    );
    const runs = durableRuns({ store: open(), agents: [racing] });
    workers.push(runs.work());
    await runs.start(racing, "go", { id: "r" });
    await expect.poll(() => runs.waiting("r")).toHaveLength(1);
    asked.resolve();
    await expect.poll(() => runs.waiting("r")).toEqual([]);
    expect(await runs.show("r")).toMatchObject({ status: "running" });
    await runs.signal("r", { name: "paid" });
    written.resolve();
    expect((await runs.result("r")).output).toBe("after done");
  });

  it("withdraw it at once where the process that asked died, and another goes on", async () => {
    const [asked, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let isDying = true;
    const after = agent({
      name: "after",
      model: () =>
        isDying ? Promise.reject(new Error("the process died")) : written.promise.then(() => "done"),
      retry: false,
    });
    const racing = pipe(race([payer("slow"), quickAfter(asked.promise)]), after);
    const store = open();
    const runs = durableRuns({ store, agents: [racing] });
    await runs.start(racing, "go", { id: "r" });
    const journal = await store.open("r");
    const running = racing.run("go", { journal, runId: "r" });
    await expect.poll(() => runs.waiting("r")).toHaveLength(1);
    asked.resolve();
    await expect(running).rejects.toMatchObject({ code: "provider-failed" });
    await journal.close();
    expect(await runs.waiting("r")).toHaveLength(1); // the other process could not withdraw it
    isDying = false;
    workers.push(runs.work());
    await expect.poll(() => runs.waiting("r"), { timeout: 5000 }).toEqual([]);
    expect(await runs.show("r")).toMatchObject({ status: "running" });
    written.resolve();
    expect((await runs.result("r")).output).toBe("done");
  });

  it("tell all questions of their members", async () => {
    const both = parallel([payer("one"), payer("two")]);
    const runs = durableRuns({ store: open(), agents: [both] });
    workers.push(runs.work());
    await runs.start(both, "go", { id: "r" });
    await expect.poll(async () => (await runs.show("r"))?.status).toBe("waiting");
    const { outcome, questions } = await runs.replay("r");
    expect(outcome).toMatchObject({ type: "suspended", field: "answers", used: 2 });
    expect(questions?.map(({ key }) => key)).toEqual((await runs.waiting("r")).map(({ key }) => key));
  });
});
