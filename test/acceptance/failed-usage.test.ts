import { describe, expect, it } from "vitest";
import { WritError } from "../../src/error/writ-error.ts";
import {
  agent,
  type AgentEvent,
  isFact,
  isRunError,
  llm,
  memoryJournal,
  type RunOptions,
  skill,
  tool,
} from "../../src/index.ts";
import { decidingDriver, type Driver, nativeDriver } from "../../src/drivers.ts";
import { textOf } from "../../src/doors.ts";
import type { Delta, Model } from "../../src/model/model.ts";
import type { RunError } from "../../src/run/finished.ts";
import { fakeTool, scripted } from "../../src/testing.ts";

const usage = { inputTokens: 100, outputTokens: 7 };
const retry = { attempts: 2, firstDelayMs: 1 };
const failing = { text: "half", usage, finishReason: "error" } as const;

async function thrownBy(run: Promise<unknown>): Promise<RunError> {
  const error = await run.catch((thrown: unknown) => thrown);
  if (!isRunError(error)) throw new Error("no error of a run");
  return error;
}

/** A model whose stream breaks after it has told its usage. */
const torn: Model = {
  id: "torn",
  features: { tools: true },
  price: ({ inputTokens, outputTokens }) => (inputTokens + outputTokens) / 1000,
  async *stream(): AsyncGenerator<Delta> {
    yield { type: "text-delta", text: "half" };
    yield { type: "end", finishReason: "stop", usage };
    await Promise.resolve();
    throw new Error("the line broke");
  },
};

describe("the usage of requests that failed", () => {
  it("counts where the last of them fails too, and is told as that of replies is", async () => {
    const told: AgentEvent[] = [];
    const onEvent = (event: AgentEvent): void => void told.push(event);
    const clerk = agent({ name: "clerk", model: scripted([failing]), retry });
    const error = await thrownBy(clerk.run("go", { onEvent }));
    expect(error.usage).toEqual({ inputTokens: 200, outputTokens: 14 });
    expect(told.filter(({ type }) => type === "usage-add")).toMatchObject([
      { turn: 1, usage: error.usage, total: error.usage },
    ]);
    expect(told.at(-1)).toMatchObject({ type: "run-end", usage: error.usage });
  });

  it("counts for a stream that breaks after it has told it", async () => {
    const error = await thrownBy(agent({ name: "clerk", model: torn, retry: false }).run("go"));
    expect([error.code, error.usage]).toEqual(["provider-failed", usage]);
  });

  it("counts in the bounds of the run: no request is made again that they forbid", async () => {
    for (const budget of [{ tokens: 107 }, { costUsd: 1, price: () => 1 }]) {
      const model = scripted([failing]);
      const hooks = [{ onError: () => ({ retryAfterMs: 0 }) }];
      const error = await thrownBy(agent({ name: "clerk", model, retry, budget, hooks }).run("go"));
      expect([model.requests.length, error.code, error.usage]).toEqual([1, "provider-failed", usage]);
    }
    const model = scripted([failing, { text: "Done.", usage }]);
    expect(await agent({ name: "clerk", model, retry, budget: { tokens: 200 } }).run("go")).toMatchObject({
      text: "Done.",
    });
    expect(model.requests[1]?.settings).toEqual({ maxOutputTokens: 93 });
  });

  it("counts in the budget of the run around it", async () => {
    const inner = agent({ name: "inner", model: torn, retry: false });
    const outer = agent({
      name: "outer",
      model: scripted([{ calls: [{ name: "ask", arguments: { input: "x" } }], usage }, "never asked"]),
      tools: [inner.asTool({ name: "ask", description: "" })],
      budget: { tokens: 200 },
    });
    const { outcome, usage: all } = await outer.run("go");
    expect(all).toEqual({ inputTokens: 200, outputTokens: 14 });
    expect(outcome).toMatchObject({ type: "exhausted", field: "tokens", used: 214 });
  });

  it("counts at once in the budget of the run around it: no request is made again that it forbids", async () => {
    const model = scripted([failing]);
    const inner = agent({ name: "inner", model, retry: { attempts: 9, firstDelayMs: 1 } });
    const outer = agent({
      name: "outer",
      model: scripted([{ calls: [{ name: "ask", arguments: { input: "x" } }], usage }, "never asked"]),
      tools: [inner.asTool({ name: "ask", description: "" })],
      budget: { tokens: 300 },
    });
    expect((await outer.run("go")).outcome).toMatchObject({ type: "exhausted", field: "tokens", used: 321 });
    expect(model.requests.map(({ settings }) => settings?.maxOutputTokens)).toEqual([193, 86]);
  });

  it("counts with the answer of a hook, and with a reply that a hook fails at, in a replay too", async () => {
    const answering = agent({
      name: "clerk",
      model: scripted([failing]),
      retry: false,
      hooks: [{ onError: () => ({ answer: "offline" }) }],
    });
    expect((await answering.run("go")).usage).toEqual(usage);

    const journal = memoryJournal();
    const throwing = (model: Model) =>
      agent({
        name: "clerk",
        model,
        hooks: [
          {
            afterModel: () => {
              throw new Error("no");
            },
          },
        ],
      });
    const facts: AgentEvent[][] = [[], []];
    const first = await throwing(scripted([{ text: "Done.", usage }])).run("go", {
      journal,
      onEvent: (event) => void facts[0]?.push(event),
    });
    const again = await throwing(scripted([new Error("asked")])).run("go", {
      journal: memoryJournal(journal.records),
      onEvent: (event) => void facts[1]?.push(event),
    });
    for (const { outcome, usage: used } of [first, again])
      expect([outcome, used]).toMatchObject([{ type: "failed", code: "hook-failed" }, usage]);
    const bare = facts.map((events) =>
      events.filter(isFact).map(({ at: _at, runId: _run, ...fact }) => fact),
    );
    expect(bare[1]).toEqual(bare[0]);
  });

  it("counts where the driver fails at the reply", async () => {
    const driver: Driver = {
      ...nativeDriver,
      name: "broken",
      read: () => {
        throw new Error("cannot read");
      },
    };
    const clerk = agent({ name: "clerk", model: scripted([{ text: "Done.", usage }]), driver });
    const told: AgentEvent[] = [];
    const error = await thrownBy(clerk.run("go", { onEvent: (event) => void told.push(event) }));
    expect(error.usage).toEqual(usage);
    expect(told.map(({ type }) => type)).toContain("message-end");
  });

  it("counts where a driver that decides fails after it has asked, and where it goes on", async () => {
    const asks = (isStubborn: boolean) =>
      decidingDriver({
        name: "asks",
        decide: async (turn, ask) => {
          const first = textOf((await ask(nativeDriver.request(turn))).message);
          const second = ask(nativeDriver.request(turn)).then(({ message }) => textOf(message));
          return { type: "final", content: first + (await (isStubborn ? second.catch(() => "") : second)) };
        },
      });
    const model = () => scripted([{ text: "Done.", usage }, failing]);
    const clerk = (isStubborn: boolean) =>
      agent({ name: "clerk", model: model(), driver: asks(isStubborn), retry: false });
    const both = { inputTokens: 200, outputTokens: 14 };
    expect((await thrownBy(clerk(false).run("go"))).usage).toEqual(both);
    expect(await clerk(true).run("go")).toMatchObject({ text: "Done.", usage: both });
  });

  it("counts for questions of tools to the model, and for the turn that chooses a skill", async () => {
    const twice = { inputTokens: 200, outputTokens: 14 };
    for (const last of [{ text: "Kim", usage }, failing]) {
      const asks = tool({
        name: "ask",
        description: "",
        effect: "none",
        inputSchema: { type: "object" },
        needs: [llm],
        execute: (_input, context) => context.llm("Whom?").catch(() => "nobody"),
      });
      const model = scripted([{ calls: [{ name: "ask" }], usage }, failing, last, { text: "Done.", usage }]);
      const asked = await agent({ name: "clerk", model, tools: [asks], grants: [llm], retry }).run("go");
      expect(asked.usage).toEqual({ inputTokens: 400, outputTokens: 28 });

      const skills = ["one", "two"].map((name) => skill({ name, description: "", execute: () => name }));
      const text = JSON.stringify({ skillName: "two", confidence: 1 });
      const chooser = scripted([failing, last === failing ? failing : { text, usage }]);
      const choosing = agent({ name: "clerk", model: chooser, skills, retry }).run("go");
      const ended = last === failing ? await thrownBy(choosing) : await choosing;
      expect(ended.usage).toEqual(twice);
    }
  });

  it("counts for a run that is cancelled meanwhile; from a journal it tells a replay the same", async () => {
    const cancelled = async (options: RunOptions) => {
      const told: AgentEvent[] = [];
      const stop = new AbortController();
      const onEvent = (event: AgentEvent): void => {
        told.push(event);
        if (event.type === "retry-start") stop.abort("enough");
      };
      const slow = { attempts: 2, firstDelayMs: 20_000 };
      const model = scripted([failing]);
      const run = agent({ name: "clerk", model, retry: slow }).run("go", {
        ...options,
        signal: stop.signal,
        onEvent,
      });
      const { outcome, usage: used } = await run;
      const facts = told.filter(isFact).map(({ at: _at, runId: _run, ...fact }) => fact);
      return { type: outcome.type, used, facts };
    };
    expect(await cancelled({})).toMatchObject({ type: "cancelled", used: usage });
    const journal = memoryJournal();
    const first = await cancelled({ journal });
    const again = await cancelled({ journal: memoryJournal(journal.records) });
    expect(first.type).toBe("cancelled");
    expect(again).toEqual(first);
  });

  it("counts in the bounds of questions of tools, too", async () => {
    let said: unknown;
    const asks = tool({
      name: "ask",
      description: "",
      effect: "none",
      inputSchema: { type: "object" },
      needs: [llm],
      execute: (_input, context) => context.llm("Whom?").catch((error: unknown) => String((said = error))),
    });
    const model = scripted([{ calls: [{ name: "ask" }], usage }, failing]);
    const budget = { tokens: 200 };
    await agent({ name: "clerk", model, tools: [asks], grants: [llm], retry, budget }).run("go");
    expect(model.requests).toHaveLength(2);
    expect(said).toMatchObject({ code: "delegation-exhausted" });
  });

  it("counts where the request is too long, and made again without old turns", async () => {
    const look = fakeTool("look", "seen");
    const calls = [{ name: "look" }];
    const long = new WritError("context-exceeded", { provider: "p", model: "m", reason: "too long" });
    const model = scripted([{ calls, usage }, { calls, usage }, failing, long, { text: "Seen.", usage }]);
    const compaction = { atTokens: 1_000_000, keepTurns: 1 };
    const { text, usage: all } = await agent({ name: "a", model, tools: [look], compaction, retry }).run(
      "go",
    );
    expect([text, all]).toEqual(["Seen.", { inputTokens: 400, outputTokens: 28 }]);
  });
});
