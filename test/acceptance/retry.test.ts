import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { makeAgent } from "../../src/agent/agent.ts";
import type { AnyDefinition } from "../../src/agent/definition.ts";
import type { RunOptions } from "../../src/agent/run-options.ts";
import { nodeHost } from "../../src/adapters/clock.ts";
import { aiSdk } from "../../src/adapters/model/ai-sdk.ts";
import { openaiCompatible } from "../../src/adapters/model/openai-compatible.ts";
import { resolveModel } from "../../src/adapters/model/resolve.ts";
import { retrying } from "../../src/model/retry.ts";
import { decideWith } from "../../src/turn/decide.ts";
import { llmStepWith } from "../../src/turn/llm-step.ts";
import { WritError } from "../../src/error/writ-error.ts";
import { agent, type AgentEvent, type Hook, isFact, memoryJournal, tool } from "../../src/index.ts";
import type { Delta, Model } from "../../src/model/model.ts";
import { modelFromFunction } from "../../src/model/function-model.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { openaiEvents, openaiParts } from "../contract/openai-wire.ts";
import { type Answer, type PlayedServer, playedServer } from "../contract/played-server.ts";
import type { WirePart } from "../contract/wire.ts";

/** A host whose short timers fire at once, noting how long they were to wait; the time of a run never ends by itself. */
function quickHost() {
  const waits: number[] = [];
  const host = {
    ...nodeHost,
    timer(afterMs: number, fire: () => void) {
      if (afterMs > 60_000) return () => undefined;
      waits.push(afterMs);
      queueMicrotask(fire);
      return () => undefined;
    },
  };
  return { host, waits };
}

function busy(options: ConstructorParameters<typeof WritError<"provider-failed">>[2] = {}): WritError {
  return new WritError("provider-failed", { provider: "p", model: "m", reason: "busy" }, options);
}

interface Seen {
  readonly events: readonly AgentEvent[];
  readonly waits: readonly number[];
  readonly text?: string;
  readonly error?: WritError;
  readonly usage?: { readonly inputTokens: number };
}

async function seen(definition: Omit<AnyDefinition, "name">, options: RunOptions = {}): Promise<Seen> {
  const { host, waits } = quickHost();
  const events: AgentEvent[] = [];
  const run = makeAgent<string, string>({ name: "a", ...definition }, { host, resolveModel });
  const ended = await run.run("go", { ...options, onEvent: (event) => void events.push(event) }).then(
    ({ text, usage, error }) => ({
      text,
      usage,
      ...(error === undefined ? {} : { error }),
    }),
    (error: unknown) => ({ error: error as WritError }),
  );
  return { ...ended, events, waits };
}

const retries = ({ events }: Seen) =>
  events.flatMap((event) => (event.type === "retry-start" ? [event] : []));

/** A model whose replies are deltas that may end in an error. */
function torn(...replies: readonly (readonly (Delta | WritError)[])[]): Model & { asked(): number } {
  let asked = 0;
  return {
    id: "torn",
    features: { tools: true },
    price: () => 0,
    asked: () => asked,
    async *stream() {
      const reply = replies[asked] ?? replies.at(-1) ?? [];
      asked += 1;
      for (const delta of reply) {
        if (delta instanceof WritError) throw delta;
        yield delta;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  };
}

const end: Delta = { type: "end", finishReason: "stop" };
const called = (args: string): Delta[] => [
  { type: "call-start", id: "c", name: "look" },
  { type: "call-end", id: "c", arguments: args },
];

describe("a model that fails is asked again by default", () => {
  it("answers after two failures, tells each with its attempt, its wait and its reason, and counts one turn", async () => {
    const result = await seen({ model: scripted([busy(), busy(), "Done."]) });
    expect(result.text).toBe("Done.");
    const told = retries(result);
    expect(told).toMatchObject([
      { turn: 1, attempt: 1, reason: expect.stringContaining("busy") },
      { turn: 1, attempt: 2, reason: expect.stringContaining("busy") },
    ]);
    expect(told.map(({ delayMs }) => delayMs)).toEqual(result.waits);
    for (const [index, least] of [250, 500].entries()) {
      expect(result.waits[index]).toBeGreaterThanOrEqual(least);
      expect(result.waits[index]).toBeLessThanOrEqual(least * 1.25);
    }
    expect(result.events.filter(({ type }) => type === "turn-start")).toHaveLength(1);
  });

  it("fails after the third failure, with the number of attempts in the data of the error", async () => {
    const model = scripted([busy()]);
    const { error } = await seen({ model });
    expect(error).toMatchObject({
      code: "provider-failed",
      retryable: true,
      data: { reason: "busy", attempts: 3 },
    });
    expect(error?.cause).toMatchObject({ code: "provider-failed" });
    expect(model.requests).toHaveLength(3);
  });

  it("asks as often as the author says, and once when the author wants no retry", async () => {
    for (const [retry, requests] of [
      [false, 1],
      [{ attempts: 1 }, 1],
      [{ attempts: 5, firstDelayMs: 1 }, 5],
    ] as const) {
      const model = scripted([busy()]);
      const { error } = await seen({ model, retry });
      expect(model.requests).toHaveLength(requests);
      expect(error?.data.attempts).toBe(requests === 1 ? undefined : requests);
    }
  });

  it("refuses what is no pace when the agent is defined", async () => {
    for (const retry of [{ attempts: 0 }, { firstDelayMs: -1 }, { times: 3 }, true, "3"])
      await expect(async () =>
        seen({ model: scripted(["Done."]), retry: retry as never }),
      ).rejects.toMatchObject({
        code: "definition-invalid",
      });
  });

  it("does not ask again what cannot be better the next time", async () => {
    for (const failure of [
      busy({ retryable: false }),
      busy({ cause: new DOMException("late", "TimeoutError") }),
      new Error("a mistake in the program"),
    ]) {
      const model = scripted([failure, "Done."]);
      expect((await seen({ model })).text).toBeUndefined();
      expect(model.requests).toHaveLength(1);
    }
  });

  it("keeps the wait that the provider asks for, but neither a very long one nor one that the run would not outlive", async () => {
    const asking = (retryAfterMs: number, durationMs: number) => {
      const model = scripted([busy({ retryAfterMs }), "Done."]);
      return seen({ model, budget: { durationMs } });
    };
    const short = await asking(1_000, 300_000);
    expect(short.waits[0]).toBeGreaterThanOrEqual(1_000);
    expect(short).toMatchObject({ text: "Done." });
    expect(await asking(31_000, 300_000)).toMatchObject({ waits: [], error: { retryAfterMs: 31_000 } });
    expect((await asking(20_000, 61_000)).text).toBe("Done.");
    const late = scripted([busy({ retryAfterMs: 20_000 }), "Done."]);
    const { error } = await makeAgent<string, string>(
      { name: "a", model: late, budget: { durationMs: 15_000 } },
      { host: nodeHost, resolveModel },
    )
      .run("go")
      .then(
        () => ({ error: undefined }),
        (error: unknown) => ({ error }),
      );
    expect(error).toMatchObject({ code: "provider-failed" });
  });

  it("ends at once when the run is cancelled while it waits", async () => {
    const cancel = new AbortController();
    const run = makeAgent<string, string>(
      { name: "a", model: scripted([busy({ retryAfterMs: 25_000 }), "Done."]) },
      { host: nodeHost, resolveModel },
    );
    const onEvent = ({ type }: AgentEvent): void => {
      if (type === "retry-start") cancel.abort("enough");
    };
    const { outcome } = await run.run("go", { signal: cancel.signal, onEvent });
    expect(outcome).toEqual({ type: "cancelled", reason: "enough" });
  }, 5_000);

  it("carries out no call twice when the turn after it fails", async () => {
    const pay = fakeTool("pay", "paid");
    const model = scripted([{ calls: [{ name: "pay" }] }, busy(), busy(), "Paid."]);
    const result = await seen({ model, tools: [pay] });
    expect([result.text, pay.calls.length]).toEqual(["Paid.", 1]);
    expect(retries(result).map(({ turn }) => turn)).toEqual([2, 2]);
  });

  it("asks again when a reply breaks off in its text or in its arguments, and uses nothing of it", async () => {
    const look = fakeTool("look", "seen");
    const text: Delta = { type: "text-delta", text: "Half of" };
    const half: Delta[] = [
      { type: "call-start", id: "c", name: "look" },
      { type: "call-delta", id: "c", text: '{"query": "te' },
    ];
    for (const begun of [[text], half]) {
      const model = torn([...begun, busy()], [{ type: "text-delta", text: "Whole." }, end]);
      const result = await seen({ model, tools: [look] });
      expect([result.text, model.asked(), look.calls.length]).toEqual(["Whole.", 2, 0]);
      expect(retries(result)).toHaveLength(1);
    }
  });

  it("gives up the calls that began early in a reply that broke off, and never starts one with an effect", async () => {
    const given: string[] = [];
    const look = (effect: "read" | "write") =>
      tool({
        name: "look",
        description: "look",
        effect,
        inputSchema: z.object({ at: z.string() }),
        execute: ({ at }) => {
          given.push(at);
          return `saw ${at}`;
        },
      });
    for (const [effect, ran] of [
      ["read", ["first", "second"]],
      ["write", ["second"]],
    ] as const) {
      given.length = 0;
      const model = torn(
        [...called('{"at": "first"}'), busy()],
        [...called('{"at": "second"}'), { type: "end", finishReason: "tool-calls" }],
        [{ type: "text-delta", text: "Done." }, end],
      );
      const journal = memoryJournal();
      const result = await seen({ model, tools: [look(effect)] }, { journal });
      expect([result.text, given]).toEqual(["Done.", ran]);
      const results = result.events.flatMap((event) =>
        event.type === "tool-end" ? [event.result.text] : [],
      );
      expect(results).toEqual(["saw second"]);
    }
  });

  it("runs a call that began early once when the next reply makes it again, also while it still runs", async () => {
    for (const effect of ["none", "read"] as const)
      for (const ms of [0, 20]) {
        const begun: string[] = [];
        const look = tool({
          name: "look",
          description: "look",
          effect,
          inputSchema: z.object({ at: z.string() }),
          execute: async ({ at }) => {
            begun.push(at);
            await new Promise((resolve) => setTimeout(resolve, ms));
            return `${at}, seen ${begun.length}`;
          },
        });
        const twice = [...called('{"at": "one"}'), { type: "call-start", id: "d", name: "look" } as const];
        const model = torn(
          [...called('{"at":"one"}'), busy()],
          [
            ...twice,
            { type: "call-end", id: "d", arguments: { at: "one" } },
            { type: "end", finishReason: "tool-calls" },
          ],
          [{ type: "text-delta", text: "Done." }, end],
        );
        const { text, events } = await seen({ model, tools: [look], retry: { firstDelayMs: 1 } });
        expect([text, begun]).toEqual(["Done.", ["one", "one"]]); // the reply makes the call twice
        expect(events.filter(({ type }) => type === "tool-end")).toHaveLength(2);
      }
  });

  it("does not ask again after the provider carried out a call by itself", async () => {
    const acted: Delta[] = [
      { type: "call-start", id: "c", name: "mail" },
      { type: "call-end", id: "c", arguments: {}, providerExecuted: true },
    ];
    const model = torn([...acted, busy()], [{ type: "text-delta", text: "Done." }, end]);
    const result = await seen({ model });
    expect([result.error?.code, model.asked()]).toEqual(["provider-failed", 1]);
  });

  it("counts what a failed attempt says that it used", async () => {
    const failed: Delta = {
      type: "end",
      finishReason: "error",
      usage: { inputTokens: 100, outputTokens: 7 },
    };
    const model = torn(
      [failed],
      [
        { type: "text-delta", text: "Done." },
        { ...end, usage: { inputTokens: 10, outputTokens: 1 } },
      ],
    );
    expect(await seen({ model })).toMatchObject({
      text: "Done.",
      usage: { inputTokens: 110, outputTokens: 8 },
    });
  });

  it("is one step of the journal: a replay waits for nothing, asks nobody and tells the same", async () => {
    const journal = memoryJournal();
    const first = await seen({ model: scripted([busy(), "Done."]) }, { journal });
    const silent = modelFromFunction(
      () => {
        throw new Error("asked");
      },
      { id: "scripted" },
    );
    const again = await seen({ model: silent }, { journal: memoryJournal(journal.records) });
    const facts = ({ events }: Seen) =>
      events.filter(isFact).map(({ at: _at, runId: _run, ...fact }) => fact);
    expect(again).toMatchObject({ text: "Done.", waits: [] });
    expect(facts(again)).toEqual(facts(first));
  });

  it("asks the hook onError when its own retries are used up or no use, and the hook's retry makes one request", async () => {
    const attempts: number[] = [];
    const hook: Hook = {
      onError: ({ attempt, error }) => {
        attempts.push(attempt);
        return error.retryable && attempt < 5 ? { retryAfterMs: 7 } : { answer: "offline" };
      },
    };
    const model = scripted([busy()]);
    const result = await seen({ model, hooks: [hook] });
    expect([attempts, result.text, model.requests.length]).toEqual([[3, 4, 5], "offline", 5]);
    expect(
      retries(result)
        .map(({ delayMs }) => delayMs)
        .slice(2),
    ).toEqual([7, 7]);
    attempts.length = 0;
    await seen({ model: scripted([new Error("mistake")]), hooks: [hook] });
    expect(attempts).toEqual([1]);
  });

  it("leaves a model alone that retries by itself, also inside another one: attempts do not multiply", async () => {
    const model = scripted([busy()]);
    const patient = retrying({ ...model, id: "p/m" }, { attempts: 2 }, quickHost().host);
    expect((await seen({ model: patient })).waits).toEqual([]);
    expect(model.requests).toHaveLength(2);
  });

  it("asks again in the turn that chooses a skill, in `llmStep` and in `decide`", async () => {
    const { host, waits } = quickHost();
    const step = await llmStepWith({ model: scripted([busy(), "Yes."]), host }, { prompt: "?", catalog: [] });
    expect(step).toMatchObject({ kind: "final", text: "Yes." });
    const question = { question: "?", options: ["yes", "no"] };
    expect(await decideWith({ model: scripted([busy(), "yes"]), host }, question)).toMatchObject({
      option: "yes",
    });
    expect(waits).toHaveLength(2);
    const once = scripted([busy(), "Yes."]);
    await expect(
      llmStepWith({ model: once, host }, { prompt: "?", catalog: [], retry: false }),
    ).rejects.toMatchObject({ code: "provider-failed" });
    expect(once.requests).toHaveLength(1);
  });
});

/** A model that says so many deltas and then nothing until it is given up; from the second request on it answers. */
function silent(after: readonly Delta[]): Model & { asked(): number; givenUp(): number } {
  let [asked, givenUp] = [0, 0];
  return {
    id: "silent",
    features: { tools: true },
    price: () => 0,
    asked: () => asked,
    givenUp: () => givenUp,
    async *stream(_request, { signal }) {
      asked += 1;
      if (asked === 1) {
        yield* after;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        givenUp += 1;
      }
      yield { type: "text-delta", text: "Done." };
      yield end;
    },
  };
}

describe("a model that is silent for too long", () => {
  const retry = { firstDelayMs: 1 };

  it("is given up and asked again: before its first piece, and between two", async () => {
    for (const [timeout, after] of [
      [{ firstChunkMs: 5 }, []],
      [{ chunkMs: 5 }, [{ type: "text-delta", text: "Half" }]],
    ] as const) {
      const model = silent(after);
      const told: AgentEvent[] = [];
      const { text } = await agent({ name: "a", model, timeout, retry }).run("go", {
        onEvent: (event) => void told.push(event),
      });
      expect([text, model.asked(), model.givenUp()]).toEqual(["Done.", 2, 1]);
      expect(told.find(({ type }) => type === "retry-start")).toMatchObject({
        reason: expect.stringContaining("wrote nothing for 5 ms") as string,
      });
    }
  });

  it("ends the run with a code of its own where nothing is asked again", async () => {
    const asked = agent({ name: "a", model: silent([]), timeout: { firstChunkMs: 5 }, retry: false }).run(
      "go",
    );
    await expect(asked).rejects.toMatchObject({
      code: "model-timeout",
      data: { field: "firstChunkMs", limit: 5 },
      hint: expect.stringContaining("`timeout.firstChunkMs`") as string,
    });
  });

  it("is waited for between the pieces as long as the first may take, when that alone is set", async () => {
    const model = torn([{ type: "text-delta", text: "Done." }, end]); // 5 ms between its pieces
    const { text } = await agent({ name: "a", model, timeout: { firstChunkMs: 4 }, retry: false }).run("go");
    expect(text).toBe("Done.");
  });

  it("holds for the run when the run is cancelled, and refuses what is no bound", async () => {
    const cancel = new AbortController();
    const model = silent([]);
    const running = agent({ name: "a", model, timeout: { firstChunkMs: 60_000 } }).run("go", {
      signal: cancel.signal,
    });
    setTimeout(() => cancel.abort("enough"), 1);
    expect((await running).outcome).toEqual({ type: "cancelled", reason: "enough" });
    for (const timeout of [{ firstChunkMs: 0 }, { stepMs: 5 }, 5])
      expect(() => agent({ name: "a", model, timeout: timeout as never })).toThrow(/timeout/);
  });
});

describe("the retries of one run", () => {
  it("are what the run says, in place of the agent's", async () => {
    const quick = { attempts: 2, firstDelayMs: 1 };
    for (const [retry, requests] of [
      [false, 1],
      [quick, 2],
    ] as const) {
      const model = scripted([busy()]);
      expect((await seen({ model }, { retry })).error?.code).toBe("provider-failed");
      expect(model.requests).toHaveLength(requests);
    }
    const { error } = await seen({ model: scripted(["x"]) }, { retry: { attempts: 0 } });
    expect(error?.code).toBe("definition-invalid");
  });
});

describe("a provider that fails over the wire is asked again by default", () => {
  let server: PlayedServer;
  beforeAll(async () => {
    server = await playedServer();
  });
  afterAll(() => server.close());

  const sse = (chunks: readonly object[], isWhole = true): string =>
    `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}${isWhole ? "data: [DONE]\n\n" : ""}`;
  const says = (...parts: readonly WirePart[]): Answer => ({
    sse: sse(openaiEvents({ type: "reply", parts })),
  });
  const done = says({ type: "text", pieces: ["Done."] });
  const payment: WirePart = { type: "call", id: "c1", name: "pay", arguments: { value: { query: "rent" } } };
  const fails = (status: number, headers = {}): Answer => ({
    status,
    headers,
    json: { error: { message: "no" } },
  });
  const broken = (parts: readonly WirePart[], after: "cut" | "end" = "cut"): Answer => ({
    sse: sse(openaiParts(parts).slice(0, 1), false),
    after,
  });
  const halfText: WirePart = { type: "text", pieces: ["Half ", "of it"] };

  const adapters = {
    "openai-compatible": () => openaiCompatible("m", { baseUrl: `${server.url}/v1` }),
    "ai-sdk": () => aiSdk(createOpenAICompatible({ name: "p", baseURL: `${server.url}/v1` })("m")),
  };
  const scenes: readonly {
    readonly name: string;
    readonly answers: readonly Answer[];
    readonly wait?: number;
    readonly paid?: number;
  }[] = [
    { name: "429 with retry-after", answers: [fails(429, { "retry-after": "1" }), done], wait: 1_000 },
    { name: "500", answers: [fails(500), done] },
    { name: "503 in the turn after a call", answers: [says(payment), fails(503), done], paid: 1 },
    { name: "408, then 502", answers: [fails(408), fails(502), done] },
    { name: "a stream that is cut in its text", answers: [broken([halfText]), done] },
    { name: "a stream that ends in its text", answers: [broken([halfText], "end"), done] },
    { name: "a stream that is cut in arguments", answers: [broken([payment]), says(payment), done], paid: 1 },
    { name: "a connection that closes before the first byte", answers: [{ sse: "", after: "cut" }, done] },
  ];

  for (const [adapter, model] of Object.entries(adapters))
    for (const { name, answers, wait = 250, paid = 0 } of scenes)
      it(`${adapter}: ${name}`, async () => {
        let payments = 0;
        const pay = tool({
          name: "pay",
          description: "pay",
          effect: "irreversible",
          inputSchema: z.object({ query: z.string() }),
          execute: () => void (payments += 1),
        });
        server.requests.length = 0;
        server.play(...answers);
        const result = await seen({ model: model(), tools: [pay], driver: "native" });
        expect(result.error).toBeUndefined();
        expect([result.text, server.requests.length, payments]).toEqual(["Done.", answers.length, paid]);
        expect(result.waits[0]).toBeGreaterThanOrEqual(wait);
        expect(result.waits[0]).toBeLessThanOrEqual(wait * 1.25);
      });
});
