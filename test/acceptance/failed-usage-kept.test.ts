import { describe, expect, it } from "vitest";
import { agent, isFact, memoryJournal, type AgentEvent, type RunOptions } from "../../src/index.ts";
import { decidingDriver, nativeDriver } from "../../src/drivers.ts";
import { textOf } from "../../src/doors.ts";
import { scripted, type ScriptStep } from "../../src/testing.ts";

const usage = { inputTokens: 100, outputTokens: 7 };
const both = { inputTokens: 200, outputTokens: 14 };
const failing = { text: "half", usage, finishReason: "error" } as const;
const done = { text: "Done.", usage };
const slow = { attempts: 3, firstDelayMs: 20_000 };
const quick = { attempts: 3, firstDelayMs: 1 };

/** A journal with what an earlier process left, as it stood when that was killed. */
function killedIn(): { options: RunOptions; killed: Promise<ReturnType<typeof memoryJournal>> } {
  const journal = memoryJournal();
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof memoryJournal>>();
  const onEvent = ({ type }: AgentEvent): void => {
    if (type === "retry-start") resolve(memoryJournal([...journal.records]));
  };
  return { options: { journal, onEvent }, killed: promise };
}

async function usageOf(steps: readonly ScriptStep[], options: RunOptions, more = {}) {
  const model = scripted(steps);
  const ended = await agent({ name: "clerk", model, retry: quick, ...more }).run("go", options);
  return { model, text: ended.text, usage: ended.usage };
}

describe("the usage of a failed request, where a journal keeps the run", () => {
  it("counts after the process was killed before its retry", async () => {
    const { options, killed } = killedIn();
    const stop = new AbortController();
    const first = agent({ name: "clerk", model: scripted([failing]), retry: slow });
    const left = first.run("go", { ...options, signal: stop.signal });
    const journal = await killed;
    stop.abort("test over");
    await left;
    const again = await usageOf([failing, done], { journal });
    expect(again).toMatchObject({ text: "Done.", usage: { inputTokens: 300, outputTokens: 21 } });
    const replayed = await usageOf([new Error("asked")], { journal: memoryJournal(journal.records) });
    expect(replayed.usage).toEqual(again.usage);
  });

  it("counts in the budget after the process was killed", async () => {
    const { options, killed } = killedIn();
    const stop = new AbortController();
    const first = agent({ name: "clerk", model: scripted([failing]), retry: slow });
    const left = first.run("go", { ...options, signal: stop.signal });
    const journal = await killed;
    stop.abort("test over");
    await left;
    const { model } = await usageOf([done], { journal }, { budget: { tokens: 250 } });
    expect(model.requests[0]?.settings).toEqual({ maxOutputTokens: 143 });
  });

  it("counts for a run that is cancelled before the retry, and its replay tells the same", async () => {
    const told: AgentEvent[][] = [];
    const cancelled = async (journal: ReturnType<typeof memoryJournal>) => {
      const events: AgentEvent[] = [];
      told.push(events);
      const stop = new AbortController();
      const onEvent = (event: AgentEvent): void => {
        events.push(event);
        if (event.type === "retry-start") stop.abort("enough");
      };
      const clerk = agent({ name: "clerk", model: scripted([failing]), retry: slow });
      return (await clerk.run("go", { journal, signal: stop.signal, onEvent })).usage;
    };
    const journal = memoryJournal();
    expect(await cancelled(journal)).toEqual(usage);
    expect(await cancelled(memoryJournal(journal.records))).toEqual(usage);
    const facts = told.map((events) =>
      events.filter(isFact).map(({ at: _at, runId: _run, ...fact }) => fact),
    );
    expect(facts[1]).toEqual(facts[0]);
  });

  it("counts for a run whose time ends before the retry", async () => {
    const journal = memoryJournal();
    const hooks = [{ onError: () => ({ retryAfterMs: 20_000 }) }];
    const bounded = { retry: false, hooks, budget: { durationMs: 50 } };
    for (const kept of [journal, memoryJournal(journal.records)])
      expect((await usageOf([failing], { journal: kept }, bounded)).usage).toEqual(usage);
  });

  it("counts for the questions of a driver that decides", async () => {
    const driver = decidingDriver({
      name: "asks",
      decide: async (turn, ask) => {
        const first = textOf((await ask(nativeDriver.request(turn))).message);
        return { type: "final", content: first + textOf((await ask(nativeDriver.request(turn))).message) };
      },
    });
    const journal = memoryJournal();
    let stands: ReturnType<typeof memoryJournal> | undefined;
    const stop = new AbortController();
    const onError = () => {
      stands ??= memoryJournal([...journal.records]);
      setTimeout(() => stop.abort("enough"), 5);
      return { retryAfterMs: 20_000 };
    };
    const stopping = { driver, retry: false, hooks: [{ onError }] };
    const options = { journal, signal: stop.signal };
    expect((await usageOf([done, failing], options, stopping)).usage).toEqual(both);
    expect((await usageOf([], { journal: memoryJournal(journal.records) }, stopping)).usage).toEqual(both);
    const again = await usageOf([done], { journal: stands ?? journal }, { driver });
    expect(again).toMatchObject({ text: "Done.Done.", usage: { inputTokens: 300, outputTokens: 21 } });
  });
});

describe("the usage of a reply whose hook is still at work", () => {
  const stopped = async (journal: RunOptions["journal"], stop: AbortController) => {
    const afterModel = (): Promise<undefined> => {
      setTimeout(() => stop.abort("enough"), 5);
      return new Promise(() => undefined);
    };
    return (
      await usageOf(
        [failing, done],
        { journal, signal: stop.signal },
        { retry: quick, hooks: [{ afterModel }] },
      )
    ).usage;
  };

  it("counts where the run is stopped, and in its replay", async () => {
    expect(await stopped(undefined, new AbortController())).toEqual(both);
    const journal = memoryJournal();
    expect(await stopped(journal, new AbortController())).toEqual(both);
    const again = memoryJournal(journal.records);
    expect(await stopped(again, new AbortController())).toEqual(both);
  });

  it("counts after the process was killed, once where the hook had answered", async () => {
    const journal = memoryJournal();
    const stop = new AbortController();
    let stands = memoryJournal();
    const afterModel = (): undefined => void (stands = memoryJournal([...journal.records]));
    const hooked = { hooks: [{ afterModel }] };
    const whole = await usageOf([failing, done], { journal, signal: stop.signal }, hooked);
    expect(whole.usage).toEqual(both);
    expect((await usageOf([], { journal: memoryJournal(journal.records) }, hooked)).usage).toEqual(both);
    const later = await usageOf([done], { journal: stands });
    expect(later.usage).toEqual({ inputTokens: 300, outputTokens: 21 });
  });
});
