import { describe, expect, it } from "vitest";
import { pipe } from "../../../src/compose.ts";
import { agent, memoryJournal, type Model, skill, tool } from "../../../src/index.ts";
import { account, type AccountStore, inMemoryAccounts } from "../../../src/policy.ts";
import { fakeTool, scripted } from "../../../src/testing.ts";

const usage = { inputTokens: 60, outputTokens: 40 };

function answering(replies = 1): ReturnType<typeof scripted> {
  return scripted(Array.from({ length: replies }, () => ({ text: "done", usage })));
}

describe("an account", () => {
  it("counts tokens and runs over all runs of all agents that are given it, and ends the one that it cannot pay [Y17]", async () => {
    const kim = account({ store: inMemoryAccounts(), key: "kim", limits: { runs: 2 } });
    const [one, other] = [
      agent({ name: "one", model: answering() }),
      agent({ name: "other", model: answering() }),
    ];
    await one("hi", { account: kim });
    await other("hi", { account: kim });
    expect(await kim.used()).toMatchObject({ tokens: 200, runs: 2, costUsd: 0 });
    const ended = await one.run("hi", { account: kim });
    const message = 'exceeded the runs limit of 2 per day of account "kim" (2 are used or reserved)';
    expect(ended.outcome).toEqual({
      type: "exhausted",
      field: "runs",
      limit: 2,
      used: 2,
      message,
      account: "kim",
    });
    await expect(one("hi", { account: kim })).rejects.toMatchObject({ code: "account-exhausted" });
    expect((await kim.used()).runs).toBe(2);
  });

  it("asks no model when there is not one token left, and bounds what the last reply may write [Y17]", async () => {
    const asked: (number | undefined)[] = [];
    const model = (request: {
      settings: { maxOutputTokens?: number };
    }): { text: string; usage: typeof usage } => {
      asked.push(request.settings.maxOutputTokens);
      return { text: "done", usage };
    };
    const kim = account({ store: inMemoryAccounts(), key: "kim", limits: { tokens: 180 }, replyTokens: 90 });
    const clerk = agent({ name: "clerk", model });
    await clerk("hi", { account: kim });
    expect(asked).toEqual([90]);
    await clerk("hi", { account: kim });
    expect(asked[1]).toBeLessThan(80);
    expect((await clerk.run("hi", { account: kim })).outcome).toMatchObject({
      type: "exhausted",
      field: "tokens",
    });
    expect(asked.length).toBe(2);
  });

  it("lets one of two runs that begin at once have the last bit [Y17]", async () => {
    const kim = account({ store: inMemoryAccounts(), key: "kim", limits: { tokens: 100 }, replyTokens: 90 });
    const clerk = agent({ name: "clerk", model: async () => ({ text: "done", usage }) });
    const ends = await Promise.all([1, 2].map(() => clerk.run("hi", { account: kim })));
    expect(ends.map(({ outcome }) => outcome.type).toSorted()).toEqual(["answered", "exhausted"]);
  });

  it("books what was used when a run fails, and what was written when it is stopped [Y17]", async () => {
    const kim = account({ store: inMemoryAccounts(), key: "kim", limits: { tokens: 10_000 } });
    const broken = agent({
      name: "broken",
      model: scripted([{ text: "", usage, finishReason: "error" }]),
      retry: false,
    });
    await expect(broken.run("hi", { account: kim })).rejects.toMatchObject({ code: "provider-failed" });
    expect((await kim.used()).tokens).toBe(100);

    const stop = new AbortController();
    const deaf: Model = {
      id: "deaf",
      features: {},
      async *stream() {
        yield { type: "text-delta", text: "x".repeat(400) };
        stop.abort("enough");
        await new Promise(() => undefined);
      },
    };
    const ended = await agent({ name: "deaf", model: deaf }).run("hi", { account: kim, signal: stop.signal });
    expect(ended.outcome.type).toBe("cancelled");
    const { tokens } = await kim.used();
    expect(tokens).toBeGreaterThanOrEqual(200);
    expect(tokens).toBeLessThan(300); // nothing is reserved any more
  });

  it("books nothing for a provider that never began to answer", async () => {
    const kim = account({ store: inMemoryAccounts(), key: "kim", limits: { tokens: 10_000 } });
    const away = agent({ name: "away", model: () => Promise.reject(new Error("refused")), retry: false });
    await expect(away.run("hi", { account: kim })).rejects.toThrow("refused");
    expect(await kim.used()).toMatchObject({ tokens: 0, runs: 1 });
  });

  it("counts calls of tools, skips the one that it cannot pay, and ends the run [Y17]", async () => {
    const look = fakeTool("look", "seen");
    const calls = [1, 2, 3].map((query) => ({ name: "look", arguments: { query } }));
    const kim = account({ store: inMemoryAccounts(), key: "kim", limits: { toolCalls: 2 } });
    const looker = agent({
      name: "looker",
      model: scripted([{ calls }, "done"]),
      tools: [look],
      concurrency: 1,
    });
    const ended = await looker.run("hi", { account: kim });
    expect(ended.outcome).toMatchObject({ type: "exhausted", field: "toolCalls", account: "kim" });
    expect(look.calls.length).toBe(2);
    const results = ended.transcript.messages.filter(({ role }) => role === "tool");
    expect(results.map((message) => ("status" in message ? message.status : ""))).toEqual([
      "ok",
      "ok",
      "skipped",
    ]);
  });

  it("pays for the runs inside: agents as tools and members of compositions [Y17]", async () => {
    const kim = account({ store: inMemoryAccounts(), key: "kim", limits: { tokens: 100_000, runs: 1 } });
    const inner = agent({ name: "inner", description: "x", model: answering() });
    const steps = [
      { calls: [{ name: "inner", arguments: { input: "go" } }], usage },
      { text: "done", usage },
    ];
    const outer = agent({ name: "outer", model: scripted(steps), tools: [inner.asTool()] });
    const ended = await pipe(outer, agent({ name: "last", model: answering() })).run("hi", { account: kim });
    expect(ended.outcome.type).toBe("answered");
    expect(await kim.used()).toMatchObject({ tokens: 400, runs: 1, toolCalls: 1 });
  });

  it("ends the outer run when a run inside it spends the last of it, and a run cannot leave the account around it [Y17]", async () => {
    const store = inMemoryAccounts();
    const kim = account({ store, key: "kim", limits: { tokens: 250 }, replyTokens: 80 });
    const rich = account({ store, key: "rich", limits: {} });
    const inner = agent({ name: "inner", description: "x", model: answering(), account: rich });
    const steps = [
      { calls: [{ name: "inner", arguments: { input: "go" } }], usage },
      { text: "done", usage },
    ];
    const outer = agent({ name: "outer", model: scripted(steps), tools: [inner.asTool()] });
    const ended = await outer.run("hi", { account: kim });
    expect(ended.outcome).toMatchObject({ type: "exhausted", field: "tokens", account: "kim" });
    expect((await kim.used()).tokens).toBe(200);
    expect((await rich.used()).tokens).toBe(100);
  });

  it("is chosen by a function of the run's options, and holds beside the one of the run [Y17]", async () => {
    const store = inMemoryAccounts();
    const of = (key: string): ReturnType<typeof account> => account({ store, key, limits: {} });
    const clerk = agent({ name: "clerk", model: answering(), account: ({ runId = "none" }) => of(runId) });
    await clerk.run("hi", { runId: "r1", account: of("team") });
    expect((await of("r1").used()).tokens).toBe(100);
    expect((await of("team").used()).tokens).toBe(100);
    await clerk.run("hi", { runId: "same", account: of("same") });
    expect(await of("same").used()).toMatchObject({ tokens: 100, runs: 1 });
  });

  it("pays for a turn in which the model chooses a skill", async () => {
    const kim = account({ store: inMemoryAccounts(), key: "kim", limits: {} });
    const skills = ["a", "b"].map((name) => skill({ name, description: name, instructions: "", tools: [] }));
    const model = scripted([
      { text: "b", usage },
      { text: "done", usage },
    ]);
    await agent({ name: "chooser", model, skills }).run("hi", { account: kim });
    expect((await kim.used()).tokens).toBe(200);
  });

  it("lets nothing be spent when its store fails or has something else [Y17]", async () => {
    const failing = [
      { read: () => Promise.reject(new Error("disk")), update: () => Promise.reject(new Error("disk")) },
      { read: async () => undefined, update: async () => undefined },
      { ...inMemoryAccounts(), update: async (_key, change) => void change({ since: 0 } as never) },
    ] satisfies readonly AccountStore[];
    for (const store of failing) {
      let asked = 0;
      const clerk = agent({ name: "clerk", model: () => `${(asked += 1)}` });
      const kim = account({ store, key: "kim", limits: { tokens: 1000 } });
      await expect(clerk.run("hi", { account: kim })).rejects.toMatchObject({ code: "account-failed" });
      expect(asked).toBe(0);
    }
  });

  it("ends the run when what a reply used cannot be booked, and keeps its reservation", async () => {
    const kept = inMemoryAccounts();
    let changes = 0;
    const store: AccountStore = {
      ...kept,
      update: (key, change) =>
        (changes += 1) > 2 ? Promise.reject(new Error("disk")) : kept.update(key, change),
    };
    const kim = account({ store, key: "kim", limits: { tokens: 10_000 }, replyTokens: 500 });
    const clerk = agent({ name: "clerk", model: answering() });
    await expect(clerk.run("hi", { account: kim })).rejects.toMatchObject({ code: "account-failed" });
    expect((await kim.used()).tokens).toBeGreaterThan(500);
  });

  it("has what a reply used, and nothing that was only reserved, where the store of another account fails", async () => {
    const failingAfter = (most: number): AccountStore => {
      const kept = inMemoryAccounts();
      let changes = 0;
      return {
        ...kept,
        update: (key, change) =>
          (changes += 1) > most ? Promise.reject(new Error("disk")) : kept.update(key, change),
      };
    };
    const healthy = (): ReturnType<typeof account> =>
      account({ store: inMemoryAccounts(), key: "kim", limits: { tokens: 10_000 } });
    const broken = (most: number): ReturnType<typeof account> =>
      account({ store: failingAfter(most), key: "team", limits: {} });
    const failed = { code: "account-failed" };
    const [reserved, used] = [healthy(), healthy()];
    const before = agent({ name: "clerk", model: answering(), account: reserved });
    await expect(before.run("hi", { account: broken(1) })).rejects.toMatchObject(failed); // at the reservation
    expect((await reserved.used()).tokens).toBe(0);
    const after = agent({ name: "clerk", model: answering(), account: broken(2) });
    await expect(after.run("hi", { account: used })).rejects.toMatchObject(failed); // at the booking
    expect((await used.used()).tokens).toBe(100);
  });

  it("books a run and a call in both of its accounts, or in neither", async () => {
    const store = inMemoryAccounts();
    const team = account({ store, key: "team", limits: {} });
    const kim = account({ store, key: "kim", limits: { runs: 1, toolCalls: 1 } });
    const look = fakeTool("look", "seen");
    const calls = [1, 2].map((query) => ({ name: "look", arguments: { query } }));
    const model = scripted([{ calls }, "done"]);
    const looker = agent({ name: "looker", model, tools: [look], concurrency: 1, account: team });
    const spent = await looker.run("hi", { account: kim });
    expect(spent.outcome).toMatchObject({ type: "exhausted", field: "toolCalls", account: "kim" });
    expect(await team.used()).toMatchObject({ runs: 1, toolCalls: 1 });
    const refused = await looker.run("hi", { account: kim });
    expect(refused.outcome).toMatchObject({ type: "exhausted", field: "runs", account: "kim" });
    expect(await team.used()).toMatchObject({ runs: 1, toolCalls: 1 });
    expect(await kim.used()).toMatchObject({ runs: 1, toolCalls: 1 });
  });

  it("is not charged again when a run is replayed from its journal [Y17]", async () => {
    const kim = account({ store: inMemoryAccounts(), key: "kim", limits: { runs: 1, toolCalls: 1 } });
    const look = fakeTool("look", "seen");
    const model = scripted([
      { calls: [{ name: "look", arguments: { query: "x" } }], usage },
      { text: "done", usage },
    ]);
    const looker = agent({ name: "looker", model, tools: [look] });
    const journal = memoryJournal();
    const first = await looker.run("hi", { account: kim, journal, runId: "r" });
    const before = await kim.used();
    const again = await looker.run("hi", {
      account: kim,
      journal: memoryJournal(journal.records),
      runId: "r",
    });
    expect(again.text).toBe(first.text);
    expect(await kim.used()).toEqual(before);
  });

  it("refuses a model without a price where dollars are bounded, and books known prices [Y17]", async () => {
    const kim = account({ store: inMemoryAccounts(), key: "kim", limits: { costUsd: 1 } });
    const priced: Model = {
      ...answering(),
      price: ({ inputTokens, outputTokens }) => (inputTokens + outputTokens) / 1000,
    };
    await agent({ name: "clerk", model: priced }).run("hi", { account: kim });
    expect((await kim.used()).costUsd).toBeCloseTo(0.1);
    const { price: _price, ...unpriced } = priced;
    const ended = await agent({ name: "clerk", model: unpriced }).run("hi", { account: kim });
    expect(ended.outcome).toMatchObject({ type: "exhausted", field: "costUsd" });
    expect(ended.error?.message).toContain("the price is unknown");
  });

  it("does not run a tool that was stopped while its account was asked", async () => {
    const stop = new AbortController();
    const kept = inMemoryAccounts();
    const store: AccountStore = {
      ...kept,
      async update(key, change) {
        await kept.update(key, change);
        if ((await kept.read(key))?.used.toolCalls === 1) stop.abort("enough");
      },
    };
    let ran = 0;
    const act = tool({
      name: "act",
      description: "",
      inputSchema: { type: "object" },
      effect: "none",
      execute: () => `${(ran += 1)}`,
    });
    const model = scripted([{ calls: [{ name: "act", arguments: {} }] }, "done"]);
    const kim = account({ store, key: "kim", limits: { toolCalls: 9 } });
    const ended = await agent({ name: "actor", model, tools: [act] }).run("hi", {
      account: kim,
      signal: stop.signal,
    });
    expect([ended.outcome.type, ran]).toEqual(["cancelled", 0]);
  });

  it("says what is wrong with a definition", () => {
    const store = inMemoryAccounts();
    const wrong: readonly object[] = [
      { store, key: "", limits: {} },
      { store, key: "kim", limits: { tokens: -1 } },
      { store, key: "kim", limits: { token: 1 } },
      { store, key: "kim", limits: {}, per: "week" },
      { store: {}, key: "kim", limits: {} },
    ];
    for (const definition of wrong)
      expect(() => account(definition as never)).toThrow(
        expect.objectContaining({ code: "definition-invalid" }),
      );
    expect(() => agent({ name: "a", model: "ollama/x", account: {} as never })).toThrow(/account\(\) gives/);
  });
});
