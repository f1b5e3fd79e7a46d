import { afterEach, describe, expect, it } from "vitest";
import { agent, inMemorySessions, type Policy, session } from "../../src/index.ts";
import { type DurableRuns, durableRuns, type RunJournal, type RunStore } from "../../src/durable.ts";
import { WritError } from "../../src/error/writ-error.ts";
import type { ModelRequest } from "../../src/models.ts";
import { fakeTool } from "../../src/testing.ts";
import { durablePlaces, storesIn } from "./durable-place.ts";

const asks: Policy = () => ({ verdict: "ask", rule: "money", reason: "money leaves" });
const isSaid = (messages: ModelRequest["messages"], words: string): boolean =>
  JSON.stringify(messages).includes(words);

/** Pays whom it is told to, and says whether it knows of a payment. */
function clerkWith(pay: ReturnType<typeof fakeTool>) {
  return agent({
    name: "clerk",
    tools: [pay],
    policy: asks,
    model({ messages }) {
      const asked = messages.findLast(({ role }) => role === "user");
      const hasCalled = messages.at(-1)?.role === "tool";
      if (!hasCalled && JSON.stringify(asked).includes("Pay"))
        return { calls: ["Ada", "Ben"].map((to) => ({ name: "pay", arguments: { to } })) };
      if (hasCalled)
        return messages.flatMap((each) => (each.role === "tool" ? [each.status] : [])).join(", ");
      return isSaid(messages, "receipt for Ada") ? "Ada was paid." : "Nobody was paid.";
    },
  });
}

/** The store, where a run is left in a way of one's own. */
function leaving(
  store: RunStore,
  id: string,
  leave: (journal: RunJournal, passed: readonly string[] | undefined) => Promise<void>,
): RunStore {
  const claim: RunStore["claim"] = async (...which) => {
    const journal = await store.claim(...which);
    if (journal?.run.id !== id) return journal;
    return { ...journal, wait: (passed) => leave(journal, passed) };
  };
  return Object.assign(Object.create(store) as RunStore, { claim });
}

describe.each(durablePlaces)("a session whose run waits, in %s", (where) => {
  const open = storesIn(where);
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  function desk() {
    const pay = fakeTool("pay", (given: unknown) => `receipt for ${String(Object(given).to)}`, {
      effect: "irreversible",
    });
    const clerk = clerkWith(pay);
    const sessions = inMemorySessions();
    const process = (store: RunStore = open()): DurableRuns =>
      durableRuns({ store, agents: [clerk], sessions: (id) => session(sessions, id) });
    const work = (runs: DurableRuns): (() => Promise<void>) => {
      const worker = runs.work();
      const drain = (): Promise<void> => worker.drain();
      closing.push(drain);
      return drain;
    };
    return { pay, clerk, process, work };
  }
  const waits = async (runs: DurableRuns, id: string): Promise<void> => {
    await expect.poll(async () => (await runs.show(id))?.status).toBe("waiting");
  };
  const answer = async (runs: DurableRuns, to: string, approved: boolean): Promise<void> => {
    const isAbout = ({ request }: { readonly request: { readonly arguments: unknown } }): boolean =>
      JSON.stringify(request.arguments).includes(to);
    const question = (await runs.waiting("pays")).find(isAbout);
    await runs.answer("pays", question?.key ?? "", { approved, hash: question?.request.hash ?? "" });
  };

  it("begins the next one soon, also where it is cancelled by a process with other code", async () => {
    const { clerk, process, work } = desk();
    const runs = process();
    work(runs);
    await runs.start(clerk, "Pay", { id: "pays", session: "kim" });
    await waits(runs, "pays");
    await runs.start(clerk, "Who was paid?", { id: "asks", session: "kim", whenWaiting: "after" });
    await waits(runs, "asks");
    const changed = agent({ name: "clerk", model: () => "", instructions: "Be another one." });
    const sessions = inMemorySessions();
    const elsewhere = durableRuns({
      store: open(),
      agents: [changed],
      sessions: (id) => session(sessions, id),
    });
    await elsewhere.cancel("pays");
    await expect.poll(async () => (await runs.show("asks"))?.status, { timeout: 5000 }).toBe("answered");
  });

  it("begins the next one behind its end, which it is told, where the caller says so", async () => {
    const { pay, clerk, process, work } = desk();
    const runs = process();
    work(runs);
    await runs.start(clerk, "Pay", { id: "pays", session: "kim" });
    await waits(runs, "pays");
    const start = () =>
      runs.start(clerk, "Who was paid?", { id: "asks", session: "kim", whenWaiting: "after" });
    await start();
    await waits(runs, "asks");
    await start(); // again: the same one
    expect((await runs.waiting("asks")).map(({ request }) => request.waitsFor)).toEqual([
      { signal: "end of pays" },
    ]);
    await runs.start(clerk, "Who was paid?", { id: "other", session: "lee", whenWaiting: "after" });
    expect((await runs.result("other")).output).toBe("Nobody was paid.");
    await answer(runs, "Ada", true);
    await answer(runs, "Ben", false);
    expect((await runs.result("asks")).output).toBe("Ada was paid.");
    expect(pay.calls).toEqual([{ to: "Ada" }]);
  });

  it.each(["erased", "moved to another store"])("begins it soon where the one before is %s", async (how) => {
    const { clerk, process, work } = desk();
    const runs = process();
    work(runs);
    await runs.start(clerk, "Pay", { id: "pays", session: "kim" });
    await waits(runs, "pays");
    await runs.start(clerk, "Who was paid?", { id: "asks", session: "kim", whenWaiting: "after" });
    await waits(runs, "asks");
    if (how === "erased") await expect.poll(() => runs.erase({ id: "pays" }).catch(() => 0)).toBe(1);
    else await runs.export("pays");
    await expect.poll(async () => (await runs.show("asks"))?.status, { timeout: 5000 }).toBe("answered");
  });

  it("begins it beside what waits by default, or withdraws the questions", async () => {
    const { pay, clerk, process, work } = desk();
    const runs = process();
    work(runs);
    await runs.start(clerk, "Pay", { id: "pays", session: "kim" });
    await waits(runs, "pays");
    await runs.start(clerk, "Who was paid?", { id: "asks", session: "kim" });
    expect((await runs.result("asks")).output).toBe("Nobody was paid.");
    expect((await runs.waiting("pays")).length).toBe(2);
    await runs.start(clerk, "Leave it", { id: "leaves", session: "kim", whenWaiting: "withdraw" });
    expect((await runs.result("pays")).output).toBe("denied, denied");
    expect(pay.calls).toEqual([]);
  });

  it("withdraws no question that is asked after it was started, though it is started again", async () => {
    const { clerk, process } = desk();
    const store = open();
    const runs = process(store);
    await runs.start(clerk, "Pay", { id: "pays", session: "kim" });
    const journal = await store.claim(["clerk"]);
    const ask = async (key: string): Promise<unknown> => {
      await journal?.ask?.({ key, request: { tool: "pay", hash: key } });
      return (await runs.waiting("pays")).map((question) => question.key);
    };
    const leave = () =>
      runs.start(clerk, "Leave it", { id: "leaves", session: "kim", whenWaiting: "withdraw" });
    await ask("first");
    await leave();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await ask("second")).toEqual(["second"]);
    await leave(); // the request came again
    expect(await ask("third")).toEqual(["second", "third"]);
  });

  it("begins it soon, also where the one before ends in the moment in which it begins to wait", async () => {
    const { clerk, process, work } = desk();
    const elsewhere = process();
    const runs = process(
      leaving(open(), "asks", async (journal, passed) => {
        await elsewhere.cancel("pays");
        await journal.wait(passed);
      }),
    );
    work(runs);
    await runs.start(clerk, "Pay", { id: "pays", session: "kim" });
    await waits(runs, "pays");
    await runs.start(clerk, "Who was paid?", { id: "asks", session: "kim", whenWaiting: "after" });
    await expect.poll(async () => (await runs.show("asks"))?.status, { timeout: 5000 }).toBe("answered");
  });

  it("waits for one that comes to its question while such runs are looked for", async () => {
    const { clerk, process, work } = desk();
    const looked = Promise.withResolvers<void>();
    const store = leaving(open(), "pays", async (journal, passed) => {
      await looked.promise;
      await journal.wait(passed);
    });
    let hasLooked = false;
    const list: RunStore["list"] = async (wanted = {}) => {
      if (!hasLooked && wanted.before === "asks" && wanted.status === "running") {
        hasLooked = true;
        looked.resolve();
        await waits(runs, "pays");
      }
      return store.list(wanted);
    };
    const runs = process(Object.assign(Object.create(store) as RunStore, { list }));
    work(runs);
    await runs.start(clerk, "Pay", { id: "pays", session: "kim" });
    await expect.poll(async () => (await runs.waiting("pays")).length).toBe(2);
    await runs.start(clerk, "Who was paid?", { id: "asks", session: "kim", whenWaiting: "after" });
    await expect.poll(async () => (await runs.show("asks"))?.status).toMatch(/waiting|answered/);
    expect((await runs.show("asks"))?.status).toBe("waiting");
  });

  it("neither waits for forks, which only read it, nor withdraws their questions", async () => {
    const { clerk, process, work } = desk();
    const runs = process();
    work(runs);
    await runs.start(clerk, "Pay", { id: "pays", session: "kim" });
    await waits(runs, "pays");
    await runs.fork("pays", { id: "fork", beforeTurn: 1 });
    await waits(runs, "fork");
    await runs.cancel("pays");
    await runs.start(clerk, "Who was paid?", { id: "asks", session: "kim", whenWaiting: "after" });
    expect((await runs.result("asks")).output).toBe("Nobody was paid.");
    await runs.start(clerk, "Leave it", { id: "leaves", session: "kim", whenWaiting: "withdraw" });
    await runs.result("leaves");
    expect((await runs.waiting("fork")).length).toBe(2);
  });

  it("is found by the beginning of the key of its question", async () => {
    const [store, other] = [open(), open()];
    const { clerk, process } = desk();
    for (const id of ["1", "2", "3"]) {
      await process(store).start(clerk, "Pay", { id, session: "kim" });
      const journal = await store.claim(["clerk"]);
      await journal?.ask?.({ key: id === "2" ? "turn/1" : `after/${id}`, request: { tool: "pay" } });
      await journal?.wait();
    }
    const listed = async (asks: string) =>
      (await other.list({ session: "kim", status: "waiting", asks })).map(({ id }) => id);
    expect(await listed("after/")).toEqual(["3", "1"]);
    expect(await listed("after/1")).toEqual(["1"]);
    expect(await listed("")).toEqual(["3", "2", "1"]);
    await other.cancel("3", "enough");
    expect(await listed("after/")).toEqual(["1"]);
  });

  it("reads questions as often as there are runs in line, and never those of all runs", async () => {
    const { clerk, process, work } = desk();
    const read: (string | undefined)[] = [];
    const store = open();
    const questions: RunStore["questions"] = async (id) => {
      read.push(id);
      return store.questions(id);
    };
    const runs = process(Object.assign(Object.create(store) as RunStore, { questions }));
    const begun = Array.from({ length: 24 }, (_, place) => `${place}`);
    for (const id of begun)
      await runs.start(clerk, "Who was paid?", { id, session: "kim", whenWaiting: "after" });
    work(runs);
    for (const id of begun) expect((await runs.result(id)).output).toBe("Nobody was paid.");
    expect(read.filter((id) => id === undefined)).toEqual([]);
    expect(read.length).toBeLessThan(5 * begun.length); // it was half the square
  });

  it("begins it when the one before was cancelled, also by a process that died before it could tell", async () => {
    const { clerk, process, work } = desk();
    const store = open();
    const runs = process(store);
    const leave = work(runs);
    const next = async (id: string): Promise<void> => {
      await runs.start(clerk, "Who was paid?", { id, session: "kim", whenWaiting: "after" });
      await waits(runs, id);
    };
    await runs.start(clerk, "Pay", { id: "pays", session: "kim" });
    await waits(runs, "pays");
    await next("one");
    await runs.cancel("pays");
    expect((await runs.result("one")).output).toBe("Nobody was paid.");
    await runs.start(clerk, "Pay", { id: "again", session: "kim" });
    await waits(runs, "again");
    await next("two");
    await leave();
    await store.cancel("again", "by a process that is gone");
    expect((await runs.show("two"))?.status).toBe("waiting");
    work(process());
    expect((await runs.result("two")).output).toBe("Nobody was paid.");
  });

  it("begins it though its store fails while it looks for those before it, and leaves that alone for a second", async () => {
    const { clerk, process, work } = desk();
    const failed: number[] = [];
    const failing: RunStore = new Proxy(open(), {
      get(store, name) {
        const value: unknown = Reflect.get(store, name);
        if (typeof value !== "function") return value;
        return (...given: unknown[]): unknown => {
          const isThis = name === "list" && Reflect.get(Object(given[0]), "before") === "asks";
          if (!isThis || failed.length > 0) return Reflect.apply(value, store, given);
          failed.push(performance.now());
          return Promise.reject(
            new WritError("database-failed", { path: "runs.db", reason: "for a moment" }),
          );
        };
      },
    });
    const runs = process(failing);
    await runs.start(clerk, "Who was paid?", { id: "asks", session: "kim", whenWaiting: "after" });
    work(runs);
    expect((await runs.result("asks")).output).toBe("Nobody was paid.");
    const [failedAt = Infinity] = failed;
    expect(performance.now() - failedAt).toBeGreaterThan(900); // milliseconds
  });

  it.each([
    ["first", ["Ada", "Ben"]],
    ["last", ["Ben", "Ada"]],
  ])(
    "loses no approved call for a refused sibling: approved %s, in processes of their own",
    async (_when, order) => {
      const { pay, clerk, process, work } = desk();
      const runs = process();
      const leave = work(runs);
      await runs.start(clerk, "Pay", { id: "pays", session: "kim" });
      await waits(runs, "pays");
      await leave();
      for (const to of order) {
        await answer(runs, to, to === "Ada");
        const end = work(process());
        await (to === order[0] ? waits(runs, "pays") : runs.result("pays"));
        await end();
      }
      expect(await runs.result("pays")).toMatchObject({ output: "ok, denied" });
      expect(pay.calls).toEqual([{ to: "Ada" }]);
    },
  );
});
