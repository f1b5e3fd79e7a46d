import { describe, expect, it, vi } from "vitest";
import { agent, memoryJournal } from "../../src/index.ts";
import {
  type AskModel,
  decideBy,
  decidingDriver,
  type Driver,
  type DriverDecision,
  nativeDriver,
  type TurnInput,
} from "../../src/drivers.ts";
import { textOf, userMessage } from "../../src/doors.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { add } from "./calculator.ts";

/** Calls `add` once, then answers with its result. */
function adds({ transcript }: TurnInput): DriverDecision {
  const last = transcript.messages.at(-1);
  return last?.role === "tool"
    ? { type: "final", content: `it is ${last.text}` }
    : { type: "calls", calls: [{ name: "add", arguments: { a: 1, b: 2 } }] };
}

const usage = { inputTokens: 10, outputTokens: 5 };

describe("a driver that decides", () => {
  it("needs no model: calls and the answer come from the turn alone, under the same rules [C2.2]", async () => {
    const rules = decidingDriver({ name: "rules", decide: adds });
    const ended = await agent({ name: "a", driver: rules, tools: [add] }).run("1 + 2");
    expect(ended.outcome).toMatchObject({ type: "answered", content: "it is 3" });
    expect(ended.usage).toMatchObject({ inputTokens: 0, outputTokens: 0 });
    expect(ended.transcript.messages.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "assistant",
    ]);
    const endless = decidingDriver({
      name: "endless",
      decide: ({ transcript: { length } }) => ({
        type: "calls",
        calls: [{ name: length > 5 ? "rm" : "add", arguments: { a: length, b: 0 } }],
      }),
    });
    const bounded = await agent({ name: "a", driver: endless, tools: [add], budget: { toolCalls: 3 } }).run(
      "go",
    );
    expect(bounded.outcome).toMatchObject({ type: "exhausted", field: "toolCalls" });
    expect(
      bounded.transcript.messages.flatMap((message) => (message.role === "tool" ? [message.status] : [])),
    ).toEqual(["ok", "ok", "denied", "skipped"]);
  });

  it("that has no model and asks one ends with the reason [C2.2]", async () => {
    const asking = decidingDriver({
      name: "asking",
      decide: async (turn, ask) => ({
        type: "final",
        content: textOf((await ask(asking.request(turn))).message),
      }),
    });
    await expect(agent({ name: "a", driver: asking })("go")).rejects.toMatchObject({ code: "model-missing" });
    expect(() => agent({ name: "a", driver: nativeDriver })).toThrow(/no model/);
  });

  it("may ask more than once in a turn; all of it is paid for and stands in one turn [C2.2]", async () => {
    const model = scripted([
      { text: "draft", usage },
      { text: "better", usage },
    ]);
    const twice = decidingDriver({
      name: "twice",
      async decide(turn, ask) {
        const request = twice.request(turn);
        const draft = await ask(request);
        const better = await ask({
          ...request,
          messages: [...request.messages, draft.message, userMessage("Better.")],
        });
        return twice.read(better, turn);
      },
    });
    const ended = await agent({ name: "a", model, driver: twice }).run("Write.");
    expect(ended.outcome).toMatchObject({ type: "answered", content: "better" });
    expect(ended.usage).toMatchObject({ inputTokens: 20, outputTokens: 10 });
    expect(model.requests).toHaveLength(2);
    expect(ended.transcript.messages).toHaveLength(3);
  });

  it("may wrap another driver, whose calls keep their ids and their rules [C2.2]", async () => {
    const model = scripted([
      { text: "", calls: [{ id: "c1", name: "add", arguments: { a: 1, b: 2 } }] },
      "3",
    ]);
    const turns: number[] = [];
    const counting: Driver = {
      ...nativeDriver,
      name: "counting",
      decide(turn, ask) {
        turns.push(turn.transcript.length);
        return decideBy(nativeDriver, turn, ask);
      },
    };
    const ended = await agent({ name: "a", model, driver: counting, tools: [add] }).run("1 + 2");
    expect(ended.outcome).toMatchObject({ type: "answered", content: "3" });
    expect(model.requests[0]?.tools).toMatchObject([{ name: "add" }]);
    expect(turns).toEqual([2, 4]);
    expect(ended.transcript.messages[3]).toMatchObject({ callId: "c1", status: "ok", text: "3" });
  });

  it("wraps a driver that decides itself [C2.2]", async () => {
    const rules = decidingDriver({ name: "rules", decide: adds });
    const outer = decidingDriver({ name: "outer", decide: (turn, ask) => decideBy(rules, turn, ask) });
    expect(await agent({ name: "a", driver: outer, tools: [add] })("go")).toBe("it is 3");
  });

  it("is not asked again at a replay; a question that was answered before a crash is not sent again [C2.2]", async () => {
    const decide = vi.fn(async (turn: TurnInput, ask: AskModel): Promise<DriverDecision> => {
      const one = await ask(plain.request(turn));
      const two = await ask(plain.request(turn));
      return { type: "final", content: `${textOf(one.message)} ${textOf(two.message)}` };
    });
    const plain: Driver = decidingDriver({ name: "plain", decide });
    const make = (...said: string[]): ReturnType<typeof agent> =>
      agent({ name: "a", model: scripted(said), driver: plain });
    const journal = memoryJournal();
    const first = await make("one", "two").run("go", { journal });
    expect(first.outcome).toMatchObject({ content: "one two" });
    const again = await make().run("go", { journal: memoryJournal(journal.records) });
    expect(again.outcome).toEqual(first.outcome);
    expect(again.usage).toEqual(first.usage);
    expect(decide).toHaveBeenCalledTimes(1);
    const gone = new Set(["turn/1/model", "turn/1/model/2", "end"]);
    const crashed = journal.records.filter(({ key }) => !gone.has(key));
    expect((await make("late").run("go", { journal: memoryJournal(crashed) })).outcome).toMatchObject({
      content: "one late",
    });
  });

  it("has each question retried, seen by the hooks, and held to the budget [C2.2]", async () => {
    const seen: string[] = [];
    let tries = 0;
    const model = scripted([
      { text: "a", usage },
      { text: "b", usage },
      { text: "c", usage },
    ]);
    const greedy = decidingDriver({
      name: "greedy",
      async decide(turn, ask) {
        for (;;) {
          const reply = await ask(greedy.request(turn));
          if (textOf(reply.message) === "c") return greedy.read(reply, turn);
        }
      },
    });
    const flaky = {
      ...model,
      stream: (...given: Parameters<typeof model.stream>) => {
        tries += 1;
        if (tries === 1) throw Object.assign(new Error("busy"), {});
        return model.stream(...given);
      },
    };
    const hooks = [
      { beforeModel: () => void seen.push("before") },
      {
        afterModel: ({ message }: { message: Parameters<typeof textOf>[0] }) =>
          void seen.push(textOf(message)),
      },
      { onError: () => ({ retryAfterMs: 0 }) },
    ];
    const options = { name: "a", model: flaky, driver: greedy, hooks } as const;
    expect(await agent(options)("go")).toBe("c");
    expect(seen).toEqual(["before", "before", "a", "before", "b", "before", "c"]);
    const bounded = agent({
      ...options,
      model: scripted([{ text: "a", usage }, { text: "b", usage }, "c"]),
      hooks: [],
      budget: { tokens: 30 },
    });
    expect((await bounded.run("go")).outcome).toMatchObject({ type: "exhausted", field: "tokens" });
  });

  it("is paid for what it asked in a turn that a bound ends, with a journal and in its replay too [C2.2]", async () => {
    const endless = decidingDriver({
      name: "endless",
      async decide(turn, ask) {
        for (;;) await ask(endless.request(turn));
      },
    });
    const model = scripted([{ text: "a", usage }]);
    const bounded = agent({ name: "a", model, driver: endless, budget: { tokens: 40 } });
    const journal = memoryJournal();
    const replayed = (): object => ({ journal: memoryJournal(journal.records, { mode: "replay" }) });
    for (const options of [(): object => ({}), (): object => ({ journal }), replayed]) {
      const ended = await bounded.run("go", options());
      expect(ended.outcome).toMatchObject({ type: "exhausted", field: "tokens", used: 45 });
      expect(ended.usage).toMatchObject({ inputTokens: 30, outputTokens: 15 });
    }
    expect(model.requests).toHaveLength(6);
    const around = agent({
      name: "around",
      model: scripted([
        { calls: [{ name: "a", arguments: { input: "x" } }], usage },
        { text: "b", usage },
      ]),
      tools: [bounded.asTool()],
    });
    expect((await around.run("go")).usage).toMatchObject({ inputTokens: 50, outputTokens: 25 });

    const asked = scripted([{ text: "a", usage }]);
    const child = agent({ name: "a", model: asked, driver: endless, budget: { tokens: 400 } });
    const calls = [{ name: "a", arguments: { input: "x" } }];
    const bound = agent({
      name: "around",
      model: scripted([{ calls, usage }]),
      tools: [child.asTool()],
      budget: { tokens: 60 },
    });
    expect((await bound.run("go")).outcome).toMatchObject({ type: "exhausted", field: "tokens", used: 60 });
    expect(asked.requests.map(({ settings }) => settings?.maxOutputTokens)).toEqual([45, 30, 16]);
  });

  it("is paid for a question whose reply it did not wait for, and sends none after it has decided [C2.2]", async () => {
    let late: Promise<unknown> | undefined;
    const hedged = decidingDriver({
      name: "hedged",
      async decide(turn, ask) {
        const slow = ask(hedged.request(turn));
        const { message } = await ask(hedged.request(turn));
        late = slow.then(async () => ask(hedged.request(turn)));
        void late.catch(() => undefined);
        return { type: "final", content: textOf(message) };
      },
    });
    const requests: string[] = [];
    const model = async (): Promise<{ text: string; usage: typeof usage }> => {
      const text = requests.length === 0 ? "slow" : "fast";
      requests.push(text);
      if (text === "slow") await new Promise((resolve) => setTimeout(resolve, 30));
      return { text, usage };
    };
    const ended = await agent({ name: "a", model, driver: hedged }).run("go");
    expect(ended).toMatchObject({ text: "fast", usage: { inputTokens: 20, outputTokens: 10 } });
    await expect(late).rejects.toMatchObject({ code: "driver-failed" });
    expect(requests).toEqual(["slow", "fast"]);
  });

  it("may have as many tokens written as a bound that was raised leaves [C2.2]", async () => {
    const twice = decidingDriver({
      name: "twice",
      async decide(turn, ask) {
        const reply = await ask(twice.request(turn));
        return turn.transcript.length > 2 ? twice.read(reply, turn) : adds(turn);
      },
    });
    const model = scripted([{ text: "a", usage }]);
    const hooks = [{ onBudgetExceeded: () => ({ extend: 100 }) }];
    await agent({ name: "a", model, driver: twice, tools: [add], hooks, budget: { tokens: 15 } }).run("go");
    expect(model.requests.map(({ settings }) => settings.maxOutputTokens)).toEqual([16, 85]);
  });

  it("that throws, or decides nothing, fails the run and says so [C2.2]", async () => {
    const thrown = new Error("no rule fits");
    const wrong: readonly [Driver["decide"], string][] = [
      [
        () => {
          throw thrown;
        },
        "no rule fits",
      ],
      [() => ({ type: "maybe" }) as unknown as DriverDecision, "it decided nothing"],
      [() => ({ type: "final" }) as unknown as DriverDecision, "it decided nothing"],
      [() => undefined as unknown as DriverDecision, "it decided nothing"],
    ];
    for (const [decide, reason] of wrong) {
      const driver = decidingDriver({ name: "rules", decide: decide ?? adds });
      const ended = await agent({ name: "a", driver }).run("go");
      expect(ended.outcome).toMatchObject({ type: "failed", code: "driver-failed" });
      expect(ended.outcome).toMatchObject({ message: expect.stringContaining(reason) });
    }
  });

  it("has its calls checked for the choice of tool, and its answer streamed as one piece [C2.2]", async () => {
    const events: unknown[] = [];
    const driver = decidingDriver({ name: "rules", decide: adds });
    const noted = fakeTool("noted", 1);
    for await (const event of agent({ name: "a", driver, tools: [add, noted] }).stream("go"))
      if (event.type === "text-delta" || event.type === "message-start" || event.type === "message-end")
        events.push(event.type === "text-delta" ? event.text : event.type);
    expect(events).toEqual(["message-start", "message-end", "message-start", "it is 3", "message-end"]);
    const forced = await agent({ name: "a", driver, tools: [add], toolChoice: "none" }).run("go");
    expect(forced.outcome).toMatchObject({ type: "failed", code: "protocol-violated" });
  });
});
