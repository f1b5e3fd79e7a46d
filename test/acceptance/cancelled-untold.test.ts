import { describe, expect, it, onTestFinished, vi } from "vitest";
import { durableRuns, memoryRuns, type RunStore } from "../../src/durable.ts";
import { WritError } from "../../src/error/writ-error.ts";
import { agent, inMemorySessions, type Message, session } from "../../src/index.ts";
import { fakeTool } from "../../src/testing.ts";

const replies: Readonly<Record<string, object>> = {
  "Pay Ada": { calls: [{ name: "note", arguments: {} }] },
  note: { calls: [{ name: "pay", arguments: {} }] },
};

/** A clerk who notes at once, and pays after a question; with all that its model was sent. */
function scene() {
  const sent: (readonly Message[])[] = [];
  const clerk = agent({
    name: "clerk",
    model({ messages }) {
      sent.push(messages);
      const last = messages.at(-1);
      const text =
        last?.role === "user" ? last.parts.map((part) => ("text" in part ? part.text : "")).join("") : "";
      return replies[last?.role === "tool" ? last.name : text] ?? "Hello.";
    },
    tools: [
      fakeTool("note", "noted", { effect: "write" }),
      fakeTool("pay", "paid", { effect: "irreversible" }),
    ],
    policy: ({ tool }) =>
      tool === "pay"
        ? { verdict: "ask", rule: "money", reason: "money leaves" }
        : { verdict: "allow", rule: "notes", reason: "a note" },
  });
  const [store, kept] = [memoryRuns(), inMemorySessions()];
  const working = () => {
    const runs = durableRuns({ store, agents: [clerk], sessions: (id) => session(kept, id) });
    const worker = runs.work();
    onTestFinished(() => worker.drain({ graceMs: 0 }));
    return { runs, worker };
  };
  return { sent, clerk, store, kept, working };
}

const runsIn = async ({ kept }: ReturnType<typeof scene>) =>
  (await kept.read("s")).runs.map(({ runId, outcome }) => `${runId} ${outcome.type}`);

async function waits({ clerk, working }: ReturnType<typeof scene>, id = "a") {
  const { runs, worker } = working();
  await runs.start(clerk, "Pay Ada", { id, session: "s" });
  await expect.poll(async () => (await runs.show(id))?.status).toBe("waiting");
  return { runs, worker };
}

describe("a waiting run that is cancelled in its store alone, as by `writ runs cancel`", () => {
  it("is in its session when the next run begins, with what it did", async () => {
    const all = scene();
    const { runs } = await waits(all);
    await all.store.cancel("a", "no more");
    await runs.start(all.clerk, "Hello", { id: "b", session: "s" });
    expect((await runs.result("b")).output).toBe("Hello.");
    expect(await runsIn(all)).toEqual(["a cancelled", "b answered"]);
    const told = JSON.stringify(all.sent.at(-1));
    expect(told).toContain("Pay Ada");
    expect(told).toContain("the run was cancelled");
    expect(told).toContain("note");
  });

  it("is so too where the store of runs fails for a moment", async () => {
    const all = scene();
    const { runs } = await waits(all);
    await all.store.cancel("a", "no more");
    const failure = new WritError("database-failed", { path: "runs.db", reason: "for a moment" });
    vi.spyOn(all.store, "list").mockRejectedValueOnce(failure);
    await runs.start(all.clerk, "Hello", { id: "b", session: "s" });
    expect((await runs.result("b")).output).toBe("Hello.");
    expect(await runsIn(all)).toEqual(["a cancelled", "b answered"]);
  });

  it("is so too after a fork of it, which tells no session anything", async () => {
    const all = scene();
    const { runs } = await waits(all);
    await all.store.cancel("a", "no more");
    await runs.fork("a", { id: "f", beforeTurn: 1 });
    await expect.poll(async () => (await runs.show("f"))?.status).toBe("waiting");
    await runs.start(all.clerk, "Hello", { id: "b", session: "s" });
    await runs.result("b");
    expect(await runsIn(all)).toEqual(["a cancelled", "b answered"]);
  });

  it("is told by another process too, and once", async () => {
    const all = scene();
    const { worker } = await waits(all);
    await worker.drain();
    await all.store.cancel("a", "no more");
    const { runs } = all.working();
    for (const id of ["b", "c"]) {
      await runs.start(all.clerk, "Hello", { id, session: "s" });
      await runs.result(id);
    }
    expect(await runsIn(all)).toEqual(["a cancelled", "b answered", "c answered"]);
  });

  it("is not told to a session that was deleted since", async () => {
    const all = scene();
    const { runs } = await waits(all);
    await all.store.cancel("a", "no more");
    await all.kept.delete("s");
    for (const id of ["b", "c"]) {
      await runs.start(all.clerk, "Hello", { id, session: "s" });
      await runs.result(id);
    }
    expect(await runsIn(all)).toEqual(["b answered", "c answered"]);
  });

  it("is told with the code of a later release", async () => {
    const all = scene();
    const { worker } = await waits(all);
    await worker.drain();
    await all.store.cancel("a", "no more");
    const { kept, store } = all;
    const later = all.clerk.with({ instructions: "Be short." });
    const runs = durableRuns({ store, agents: [later], sessions: (id) => session(kept, id) });
    await using _worker = runs.work();
    await runs.start(later, "Hello", { id: "b", session: "s" });
    await runs.result("b");
    expect(await runsIn(all)).toEqual(["a cancelled", "b answered"]);
    expect(JSON.stringify(all.sent.at(-1))).toContain("note");
  });

  it("keeps no run from beginning where it cannot be told", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockReturnValue();
    onTestFinished(() => warned.mockRestore());
    const all = scene();
    const { runs } = await waits(all);
    await all.store.cancel("a", "no more");
    vi.spyOn(all.store, "records").mockRejectedValueOnce(new Error("gone"));
    await runs.start(all.clerk, "Hello", { id: "b", session: "s" });
    expect((await runs.result("b")).output).toBe("Hello.");
    expect(await runsIn(all)).toEqual(["b answered"]);
  });
});

it("warns where the session of a cancelled run refuses to keep it", async () => {
  const warned = vi.spyOn(process, "emitWarning").mockReturnValue();
  onTestFinished(() => warned.mockRestore());
  const all = scene();
  const { runs } = await waits(all);
  vi.spyOn(all.kept, "append").mockRejectedValueOnce(new Error("the disk is full"));
  await runs.cancel("a");
  expect(warned.mock.calls.map(([text]) => String(text))).toEqual([
    expect.stringMatching(/its session .* could not be told of it: .*the disk is full/),
  ]);
});

describe("a run that is cancelled while a worker carries it out, which does not hear of it yet", () => {
  async function atWork() {
    const hears = Promise.withResolvers<void>();
    const pays = Promise.withResolvers<string>();
    const pay = fakeTool("pay", () => pays.promise, { effect: "irreversible" });
    const sent: string[] = [];
    const clerk = agent({
      name: "clerk",
      model({ messages }) {
        sent.push(JSON.stringify(messages));
        return sent.length === 1 ? { calls: [{ name: "pay", arguments: {} }] } : "Hello.";
      },
      tools: [pay],
    });
    const [store, kept] = [memoryRuns(), inMemorySessions()];
    const sessions = (id: string) => session(kept, id);
    const deaf: RunStore = Object.assign(Object.create(store), {
      read: (id: string) => hears.promise.then(() => store.read(id)),
      watch: () => () => undefined,
    });
    const first = durableRuns({ store: deaf, agents: [clerk], sessions }).work();
    const runs = durableRuns({ store, agents: [clerk], sessions });
    await runs.start(clerk, "Pay Ada", { id: "a", session: "s" });
    await expect.poll(() => pay.calls.length).toBe(1);
    await store.cancel("a", "no more");
    await runs.start(clerk, "Hello", { id: "b", session: "s" });
    const second = runs.work();
    onTestFinished(async () => {
      await Promise.all([first, second].map((worker) => worker.drain({ graceMs: 0 })));
    });
    await expect.poll(async () => (await store.read("b"))?.status).toBe("running");
    return { hears, pays, sent, runs, kept, second };
  }

  it("is told by that worker, and whole: the next run waits for that", async () => {
    const { hears, pays, sent, runs, kept } = await atWork();
    pays.resolve("paid 5 euro");
    await new Promise((resolve) => setTimeout(resolve, 300));
    hears.resolve();
    expect((await runs.result("b")).output).toBe("Hello.");
    const known = (await kept.read("s")).runs;
    const ends = known.map(({ runId, outcome }) => `${runId} ${outcome.type}`);
    expect(ends).toEqual(["a cancelled", "b answered"]);
    expect(JSON.stringify(known[0])).toContain("paid 5 euro");
    expect(sent.at(-1)).toContain("paid 5 euro");
  });

  it("does not hold the next run where that is cancelled too", async () => {
    const { runs, second } = await atWork();
    await runs.cancel("b");
    await expect.poll(() => second.runs, { timeout: 5000 }).toEqual([]);
  });
});
