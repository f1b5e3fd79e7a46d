import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { agent, inMemorySessions, isRunError, memoryJournal, session, tool } from "../../src/index.ts";
import type { SessionStore } from "../../src/session.ts";
import { scripted } from "../../src/testing.ts";

type Part = "append" | "take" | "release";

const silence = (): Promise<never> => new Promise(() => undefined);

/** A store with claims that never answers in one part. */
function silentIn(part: Part): SessionStore {
  const store = inMemorySessions();
  const claims = { take: async (_id: string, owner: string) => owner, release: async () => undefined };
  return part === "append"
    ? { ...store, claims, append: silence }
    : { ...store, claims: { ...claims, [part]: silence } };
}

/** An agent that pays, and then waits until it is stopped. */
function payer() {
  const inputSchema = { type: "object" } as const;
  const pay = tool({
    name: "pay",
    description: "Pays",
    inputSchema,
    effect: "write",
    execute: () => "paid",
  });
  const wait = tool({ name: "wait", description: "Waits", inputSchema, effect: "read", execute: silence });
  const model = scripted([{ calls: [{ name: "pay" }] }, { calls: [{ name: "wait" }] }]);
  return agent({ name: "payer", model, tools: [pay, wait], budget: { durationMs: 1000 } });
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const caught = (running: Promise<unknown>): Promise<unknown> => running.catch((error: unknown) => error);

describe("a store of sessions that does not answer", () => {
  it.each([
    ["time", "a journal", memoryJournal()],
    ["time", "none", undefined],
    ["signal", "a journal", memoryJournal()],
    ["signal", "none", undefined],
  ] as const)(
    "breaks a stopped run that it is to keep, with what the run did: %s, %s",
    async (by, _with, journal) => {
      const aborting = new AbortController();
      const { signal } = aborting;
      const running = caught(
        payer().run("Pay", { session: session(silentIn("append"), "kim"), journal, signal }),
      );
      await vi.advanceTimersByTimeAsync(100);
      if (by === "signal") aborting.abort("enough");
      await vi.advanceTimersByTimeAsync(11_000);
      const error = await running;
      expect(error).toMatchObject({ code: "run-broken", message: expect.stringContaining("session") });
      const messages = isRunError(error) ? error.transcript.messages : [];
      const statuses = messages.flatMap((message) => ("status" in message ? [message.status] : []));
      expect(statuses).toEqual(["ok", "cancelled"]);
    },
  );

  it("holds no run that waits for the session: its time ends it", async () => {
    const running = payer().run("Pay", {
      session: session(silentIn("take"), "kim"),
    });
    await vi.advanceTimersByTimeAsync(11_000);
    expect((await running).outcome).toMatchObject({ type: "exhausted", field: "durationMs" });
  });

  it("holds no run that gives the session back, nor the next one", async () => {
    const store = silentIn("release");
    const clerk = agent({ name: "clerk", model: scripted(["One.", "Two."]) });
    const running = ["Go", "On"].map((input) => clerk.run(input, { session: session(store, "kim") }));
    await vi.advanceTimersByTimeAsync(20_000);
    expect((await Promise.all(running)).map(({ text }) => text)).toEqual(["One.", "Two."]);
  });
});

it("a stopped run that its session refuses to keep tells the error of the store", async () => {
  const store = { ...inMemorySessions(), append: () => Promise.reject(new Error("the disk is full")) };
  const running = caught(payer().run("Pay", { session: session(store, "kim") }));
  await vi.advanceTimersByTimeAsync(1100);
  expect(await running).toMatchObject({
    code: "run-broken",
    message: expect.stringContaining("disk is full"),
  });
});

it("a durable run that its session cannot keep in time failed, and is kept when it is tried again", async () => {
  const store = inMemorySessions();
  const append = vi.spyOn(store, "append").mockImplementationOnce(silence);
  const clerk = payer();
  const runs = durableRuns({ store: memoryRuns(), agents: [clerk], sessions: (id) => session(store, id) });
  await using _worker = runs.work();
  await runs.start(clerk, "Pay", { id: "r", session: "kim" });
  await vi.advanceTimersByTimeAsync(13_000);
  expect((await runs.show("r"))?.end?.outcome).toMatchObject({ type: "failed", code: "run-broken" });
  await runs.retry("r");
  await vi.advanceTimersByTimeAsync(3000);
  expect(append).toHaveBeenCalledTimes(2);
  expect((await store.read("kim")).runs).toMatchObject([{ runId: "r", outcome: { type: "exhausted" } }]);
});
