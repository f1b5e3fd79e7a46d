import { describe, expect, it, onTestFinished, vi } from "vitest";
import { WritError } from "../../src/error/writ-error.ts";
import { agent, memoryJournal, type Policy } from "../../src/index.ts";
import type { JournalRecord } from "../../src/doors.ts";
import { fakeTool, scripted } from "../../src/testing.ts";

const proposes = (...names: readonly string[]) => ({
  calls: names.map((name) => ({ name, arguments: {} })),
});
const wait = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));
const pay = () => fakeTool("pay", "paid");
const asks: Policy = () => ({ verdict: "ask", rule: "asks", reason: "it is money" });

describe("waiting for a person", () => {
  it("of two days is free where another process goes on", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const journal = memoryJournal();
    let records: readonly JournalRecord[] = [];
    const make = (steps: Parameters<typeof scripted>[0]) =>
      agent({
        name: "clerk",
        model: scripted(steps),
        tools: [pay()],
        policy: asks,
        budget: { durationMs: 3_600_000 },
      });
    const gone = () => {
      records = [...journal.records];
      return Promise.resolve(false);
    };
    await make([proposes("pay"), "no"]).run("Pay", { runId: "r", journal, approve: gone });
    vi.setSystemTime(Date.now() + 2 * 24 * 3_600_000);
    const result = await make(["done"]).run("Pay", {
      runId: "r",
      journal: memoryJournal(records),
      approve: () => true,
    });
    expect(result.outcome.type).toBe("answered");
  });

  it("of two days leaves a failing request the time to be made again", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const journal = memoryJournal();
    let records: readonly JournalRecord[] = [];
    const gone = () => {
      records = [...journal.records];
      return Promise.resolve(false);
    };
    const steps = (...more: Parameters<typeof scripted>[0]) =>
      agent({
        name: "clerk",
        model: scripted(more),
        tools: [pay()],
        policy: asks,
        retry: { firstDelayMs: 1 },
        budget: { durationMs: 3_600_000 },
      });
    await steps(proposes("pay"), "no").run("Pay", { runId: "r", journal, approve: gone });
    vi.setSystemTime(Date.now() + 2 * 24 * 3_600_000);
    const busy = new WritError("provider-failed", { provider: "p", model: "m", reason: "busy" });
    const again = { runId: "r", journal: memoryJournal(records), approve: () => true };
    const result = await steps(busy, busy, "done").run("Pay", again);
    expect(result.text).toBe("done");
  });

  it("ends with the run: nobody is asked afterwards, and a late yes counts for nothing", async () => {
    const stop = new AbortController();
    const journal = memoryJournal();
    const asked: string[] = [];
    const late = Promise.withResolvers<boolean>();
    const tools = [pay(), fakeTool("mail", "sent")];
    const clerk = agent({
      name: "clerk",
      model: scripted([proposes("pay", "mail"), "done"]),
      tools,
      policy: asks,
    });
    const running = clerk.run("Pay", {
      journal,
      runId: "r",
      signal: stop.signal,
      approve({ tool }) {
        asked.push(tool);
        stop.abort();
        return late.promise;
      },
    });
    expect((await running).outcome.type).toBe("cancelled");
    late.resolve(true);
    await wait(10);
    expect(asked).toEqual(["pay"]);
    expect(journal.records.filter(({ key }) => key.includes("approval"))).toEqual([]);
    expect(tools.map(({ calls }) => calls.length)).toEqual([0, 0]);
  });
});

describe("the time of a model", () => {
  it("counts over all turns, and on from a checkpoint", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const minutes = 60_000;
    const began = Date.now();
    const clerk = agent({
      name: "clerk",
      model() {
        vi.advanceTimersByTime(40 * minutes);
        return proposes("look");
      },
      tools: [fakeTool("look", "seen")],
      hooks: [{ name: "pause", onBudgetExceeded: () => ({ checkpoint: true }) }],
      budget: { turns: 2, durationMs: 100 * minutes },
    });
    const { checkpoint, outcome } = await clerk.run("Look");
    expect(outcome).toMatchObject({ type: "suspended", field: "turns" });
    expect(checkpoint?.elapsedMs).toBe(80 * minutes);
    if (checkpoint === undefined) return;
    const later = await clerk.with({ budget: { turns: 9, durationMs: 100 * minutes } }).resume(checkpoint);
    expect(later.outcome).toMatchObject({ type: "suspended", field: "durationMs", used: 120 * minutes });
    expect(Date.now() - began).toBe(120 * minutes); // one turn more
  });
});
