import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { ErrorCode } from "../../src/error/codes.ts";
import { isWritError, type WritError } from "../../src/error/writ-error.ts";
import { userMessage } from "../../src/message/message.ts";
import type { Delta, Model, ModelRequest } from "../../src/model/model.ts";
import { callsOf, endOf, expectWellFormed, finishOf, textOf } from "./read-deltas.ts";
import type {
  ModelSubject,
  OpenModel,
  WireAnswer,
  WireCall,
  WireFailure,
  WirePart,
  WireScript,
} from "./wire.ts";

export type {
  ModelSubject,
  OpenModel,
  WireAbilities,
  WireAnswer,
  WireFailure,
  WirePart,
  WireScript,
} from "./wire.ts";

/** Registers the tests of the port in src/model/model.ts. */
export function modelContract(name: string, subject: ModelSubject): void {
  describe(`model contract: ${name}`, () => {
    formTests(subject);
    if (!subject.scripted) return;
    replyTests(subject);
    if (subject.can.calls) callTests(subject);
    abortTests(subject);
    failureTests(subject);
  });
}

type ScriptedSubject = Extract<ModelSubject, { readonly scripted: true }>;

/** An abort or a break must be noticed within this time. */
const promptlyMs = 2_000;

const saysHello: WireAnswer = {
  type: "reply",
  parts: [{ type: "text", pieces: ["Hel", "lo", "."] }],
  usage: { inputTokens: 11, outputTokens: 3 },
};

/** What holds for every model, whatever it says. */
function formTests(subject: ModelSubject): void {
  const timeoutMs = subject.scripted ? 20_000 : (subject.timeoutMs ?? 60_000);
  const settings = subject.scripted ? {} : (subject.settings ?? {});
  const asks = request({ settings });

  it(
    "streams text, then one end with whole numbers, and does so twice in a row",
    { timeout: 2 * timeoutMs },
    async () => {
      await withModel(subject, [saysHello, saysHello], async ({ model }) => {
        expect(model.id).toMatch(/^[^\s/]+\/\S+$/);
        for (let time = 0; time < 2; time += 1) {
          const deltas = await collect(model, asks);
          expectWellFormed(deltas);
          expect(deltas.some((delta) => delta.type === "text-delta" && delta.text !== "")).toBe(true);
        }
      });
    },
  );

  it(
    "ends promptly when it is aborted, and answers again afterwards",
    { timeout: 2 * timeoutMs },
    async () => {
      const script: WireScript = [
        { type: "reply", parts: [{ type: "text", pieces: Array.from({ length: 500 }, () => "word ") }] },
        saysHello,
      ];
      await withModel(subject, script, async ({ model }) => {
        const controller = new AbortController();
        let abortedAtMs: number | undefined;
        let ended = false;
        try {
          for await (const delta of model.stream(asks, { signal: controller.signal })) {
            if (delta.type === "end") ended = true;
            if (delta.type !== "text-delta" || abortedAtMs !== undefined) continue;
            abortedAtMs = performance.now();
            controller.abort();
          }
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
          expect(controller.signal.aborted, String(error)).toBe(true);
        }
        expect(ended).toBe(false);
        expect(performance.now() - (abortedAtMs ?? 0)).toBeLessThan(promptlyMs);
        expectWellFormed(await collect(model, asks));
      });
    },
  );

  it("asks nothing of the provider when it is aborted before", { timeout: timeoutMs }, async () => {
    await withModel(subject, [saysHello], async ({ model, bodies }) => {
      const outcome = await settled(collect(model, asks, AbortSignal.abort()));
      if (outcome.ok) expect(outcome.value).toEqual([]);
      expect(bodies?.() ?? []).toEqual([]);
    });
  });
}

function replyTests(subject: ScriptedSubject): void {
  it("gives the text to the letter, whatever its script and its pieces", async () => {
    const pieces = [
      "  An",
      " answer:\n",
      '{"tool":"add"}',
      " — naïve 日本",
      "語 👩‍👩‍👧 \u0000",
      "\t<think>",
      " end ",
    ];
    await withModel(subject, [{ type: "reply", parts: [{ type: "text", pieces }] }], async ({ model }) => {
      const deltas = await collect(model, request());
      expectWellFormed(deltas);
      expect(textOf(deltas, "text-delta")).toBe(pieces.join(""));
      expect(finishOf(deltas)).toBe("stop");
    });
  });

  it("says that a reply was cut at the token limit [H20]", async () => {
    const cut: WireAnswer = {
      type: "reply",
      parts: [{ type: "text", pieces: ["The long"] }],
      finishReason: "length",
    };
    await withModel(subject, [cut], async ({ model }) => {
      expect(finishOf(await collect(model, request()))).toBe("length");
    });
  });

  it.runIf(subject.can.usage)("passes on the tokens that the provider counted", async () => {
    await withModel(subject, [saysHello], async ({ model }) => {
      expect(endOf(await collect(model, request()))?.usage).toMatchObject({
        inputTokens: 11,
        outputTokens: 3,
      });
    });
  });

  it.runIf(subject.can.missingUsage)(
    "leaves out what the provider did not count: it is not zero",
    async () => {
      await withModel(
        subject,
        [{ type: "reply", parts: [{ type: "text", pieces: ["Hello."] }] }],
        async ({ model }) => {
          const usage = endOf(await collect(model, request()))?.usage;
          expect(usage?.inputTokens).toBeUndefined();
          expect(usage?.outputTokens).toBeUndefined();
        },
      );
    },
  );

  it.runIf(subject.can.reasoning)("keeps reasoning apart from the text", async () => {
    const script: WireScript = [
      {
        type: "reply",
        parts: [
          { type: "reasoning", pieces: ["Let me ", "think."] },
          { type: "text", pieces: ["Four", "."] },
        ],
      },
    ];
    await withModel(subject, script, async ({ model }) => {
      const deltas = await collect(model, request());
      expectWellFormed(deltas);
      expect(textOf(deltas, "reasoning-delta")).toBe("Let me think.");
      expect(textOf(deltas, "text-delta")).toBe("Four.");
      const kinds = deltas.map((delta) => delta.type);
      expect(kinds.lastIndexOf("reasoning-delta")).toBeLessThan(kinds.indexOf("text-delta"));
    });
  });
}

const addCall = (a: number, id?: string): WireCall => ({
  type: "call",
  name: "add",
  arguments: { value: { a, b: 1 } },
  ...(id === undefined ? {} : { id }),
});

function callTests(subject: ScriptedSubject): void {
  const { can } = subject;
  const withTools = request({ tools: [addTool, noteTool] });
  /** Ids for wires that have them. */
  const id = (text: string): string | undefined => (can.callIds ? text : undefined);

  it("gives a call its name and arguments, and says that the reply ended for it", async () => {
    const value = {
      text: 'quotes " and \\ and\nlines, 日本語',
      list: [1, -2.5, true, null, { deep: [] }],
      empty: {},
    };
    const call: WireCall = {
      type: "call",
      name: "note",
      arguments: { value },
      ...(can.callIds ? { id: "call_abc" } : {}),
    };
    await withModel(subject, [{ type: "reply", parts: [call] }], async ({ model }) => {
      const deltas = await collect(model, withTools);
      expectWellFormed(deltas);
      const calls = callsOf(deltas);
      expect(calls).toHaveLength(1);
      expect(calls[0]).toMatchObject({ name: "note", parsed: { arguments: value } });
      if (can.callIds) expect(calls[0]?.id).toBe("call_abc");
      expect(finishOf(deltas)).toBe("tool-calls");
    });
  });

  it("keeps text and several calls of one reply, in order, calls of the same tool apart [H20, H4.1]", async () => {
    const parts: WirePart[] = [
      { type: "text", pieces: ["I will ", "add."] },
      addCall(1, id("one")),
      addCall(2, id("two")),
      addCall(2, id("three")),
    ];
    await withModel(subject, [{ type: "reply", parts }], async ({ model }) => {
      const deltas = await collect(model, withTools);
      expectWellFormed(deltas);
      expect(textOf(deltas, "text-delta")).toBe("I will add.");
      const calls = callsOf(deltas);
      expect(calls.map((call) => call.parsed)).toEqual([1, 2, 2].map((a) => ({ arguments: { a, b: 1 } })));
      expect(new Set(calls.map((call) => call.id)).size).toBe(3);
      const kinds = deltas.map((delta) => delta.type);
      expect(kinds.lastIndexOf("text-delta")).toBeLessThan(kinds.indexOf("call-start"));
    });
  });

  it.runIf(can.missingCallIds)(
    "case 53: makes ids for calls that have none or a blank one [H20]",
    async () => {
      const parts = [addCall(1), addCall(2), addCall(3, ""), addCall(4, "")];
      await withModel(subject, [{ type: "reply", parts }], async ({ model }) => {
        const deltas = await collect(model, withTools);
        expectWellFormed(deltas);
        expect(callsOf(deltas).map((call) => call.parsed.arguments)).toEqual(
          [1, 2, 3, 4].map((a) => ({ a, b: 1 })),
        );
      });
    },
  );

  it.runIf(can.textArguments)("reads arguments that come as text [A5.3]", async () => {
    const call: WireCall = { ...addCall(1, id("one")), arguments: { text: ' {"a": 1,\n "b": "\\u00e9"} ' } };
    await withModel(subject, [{ type: "reply", parts: [call] }], async ({ model }) => {
      expect(callsOf(await collect(model, withTools))[0]?.parsed).toEqual({ arguments: { a: 1, b: "é" } });
    });
  });

  it.runIf(can.textArguments)(
    "passes on arguments that are no JSON as the text they are, never as {} [A5.3]",
    async () => {
      const raw = '{"a": 1, "b": ';
      const call: WireCall = { ...addCall(1, id("one")), arguments: { text: raw } };
      await withModel(subject, [{ type: "reply", parts: [call] }], async ({ model }) => {
        const deltas = await collect(model, withTools);
        expectWellFormed(deltas);
        const [read] = callsOf(deltas);
        expect(read?.parsed.arguments).toBe(raw);
        expect(read?.parsed.malformed).toMatch(/not valid JSON/);
      });
    },
  );

  it("case 48: sends a history of text and calls in one reply, their results and what came after, in order and whole [H7.1]", async () => {
    await withModel(subject, [saysHello], async ({ model, bodies }) => {
      await collect(model, history);
      if (bodies === undefined) return;
      const sent = bodies();
      expect(sent).toHaveLength(1);
      const text = JSON.stringify(sent[0]);
      const found = marks.map((mark) => text.indexOf(mark));
      expect(found, text).not.toContain(-1);
      expect(found, text).toEqual(found.toSorted((a, b) => a - b));
      expect(
        marks.map((mark) => text.split(mark).length - 1),
        text,
      ).toEqual(marks.map(() => 1));
    });
  });
}

function abortTests(subject: ScriptedSubject): void {
  const stall: WireAnswer = { type: "stall", parts: [{ type: "text", pieces: ["wait"] }] };

  it.runIf(subject.can.stall)(
    "stops waiting for a reply that stalls when it is aborted, and closes the connection",
    async () => {
      for (const parts of [stall.parts, []]) {
        await withModel(subject, [{ type: "stall", parts }], async ({ model, dropped }) => {
          const controller = new AbortController();
          const reading = settled(collect(model, request(), controller.signal));
          await sleep(150);
          controller.abort();
          const outcome = await within(reading, "the iteration");
          if (outcome.ok) expect(outcome.value.map((delta) => delta.type)).not.toContain("end");
          else expect(isWritError(outcome.error), String(outcome.error)).toBe(false);
          if (dropped !== undefined) await within(dropped(), "closing the connection");
        });
      }
    },
  );

  it.runIf(subject.can.stall)("closes the connection when the reader leaves early", async () => {
    await withModel(subject, [stall], async ({ model, dropped }) => {
      for await (const delta of model.stream(request(), { signal: new AbortController().signal })) {
        expect(delta).toMatchObject({ type: "text-delta", text: "wait" });
        break;
      }
      if (dropped !== undefined) await within(dropped(), "closing the connection");
    });
  });

  it.runIf(subject.can.stall)("aborts one of two requests beside each other and no more", async () => {
    await withModel(
      subject,
      [stall, { type: "reply", parts: [{ type: "text", pieces: ["one ", "two ", "three"] }] }],
      async ({ model }) => {
        const controller = new AbortController();
        const start = (signal: AbortSignal): AsyncIterator<Delta> => {
          const stream = model.stream(request(), { signal });
          return stream[Symbol.asyncIterator]();
        };
        const first = start(controller.signal);
        await first.next();
        const second = start(new AbortController().signal);
        const seen: Delta[] = [];
        for (let next = await second.next(); next.done !== true; next = await second.next()) {
          seen.push(next.value);
          if (!controller.signal.aborted) controller.abort();
        }
        await within(settled(first.next()), "the aborted iteration");
        expectWellFormed(seen);
        expect(textOf(seen, "text-delta")).toBe("one two three");
      },
    );
  });
}

/** The code of each failure and whether trying again can help. */
const expected: Readonly<Record<WireFailure, readonly [code: ErrorCode, retryable: boolean]>> = {
  "model-not-found": ["model-not-found", false],
  "no-tools": ["model-without-tools", false],
  "refused-key": ["provider-refused-key", false],
  "rate-limited": ["model-rate-limited", true],
  "too-long": ["context-exceeded", false],
  overloaded: ["provider-failed", true],
  "server-error": ["provider-failed", true],
  "bad-request": ["provider-failed", false],
};

function failureTests(subject: ScriptedSubject): void {
  const { can } = subject;
  const asks = can.calls ? request({ tools: [addTool] }) : request();

  for (const failure of can.failures) {
    it(`throws ${expected[failure][0]} when the provider says ${failure}, and gives no text [A9]`, async () => {
      await withModel(subject, [{ type: "failure", failure }], async ({ model }) => {
        const { seen, error } = await failing(model, asks);
        expect(seen).toEqual([]);
        expect([error.code, error.retryable], error.message).toEqual(expected[failure]);
        expect(`${error.message} ${error.hint}`).not.toMatch(/undefined|\[object|\{[a-zA-Z]+\}/);
      });
    });
  }

  it.runIf(can.midStreamErrors)(
    "throws provider-failed for an error in the middle of a reply [A9]",
    async () => {
      const script: WireScript = [
        {
          type: "mid-stream-error",
          parts: [{ type: "text", pieces: ["Hel"] }],
          message: "out of memory (7)",
        },
      ];
      await withModel(subject, script, async ({ model }) => {
        const { seen, error } = await failing(model, asks);
        expect(textOf(seen, "text-delta")).toBe("Hel");
        expect(error.code).toBe("provider-failed");
        expect(error.message).toContain("out of memory (7)");
      });
    },
  );

  it.runIf(can.cut)("throws when the connection breaks: half a reply is never a whole one", async () => {
    await withModel(
      subject,
      [{ type: "cut", parts: [{ type: "text", pieces: ["Half a "] }] }],
      async ({ model }) => {
        const { seen, error } = await failing(model, asks);
        expect(seen.map((delta) => delta.type)).not.toContain("end");
        expect(["provider-failed", "provider-unreachable"]).toContain(error.code);
        expect(error.retryable).toBe(true);
      },
    );
  });

  it.runIf(can.unreachable)(
    "throws provider-unreachable when nothing listens, and says where it looked",
    async () => {
      await withModel(subject, [{ type: "unreachable" }], async ({ model }) => {
        const { seen, error } = await failing(model, asks);
        expect(seen).toEqual([]);
        expect(error.code).toBe("provider-unreachable");
        expect(error.retryable).toBe(true);
        expect(error.message).toMatch(/127\.0\.0\.1|localhost/);
      });
    },
  );
}

const addTool = {
  name: "add",
  description: "Add two numbers",
  inputSchema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
    additionalProperties: false,
  },
} as const;

const noteTool = {
  name: "note",
  description: "Keep a note",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
} as const;

/** Words that stand once each in {@link history}, in this order on any wire. */
const marks = [
  "sysmark",
  "askmark",
  "sayingmark",
  "firstargmark",
  "secondargmark",
  "firstresultmark",
  "secondresultmark",
  "nextmark",
];

const history: ModelRequest = request({
  tools: [addTool, noteTool],
  messages: [
    { role: "system", text: "sysmark" },
    userMessage("askmark"),
    {
      role: "assistant",
      parts: [
        { type: "text", text: "sayingmark" },
        { type: "tool-call", id: "call_1", name: "note", arguments: { text: "firstargmark" } },
        { type: "tool-call", id: "call_2", name: "note", arguments: { text: "secondargmark" } },
      ],
    },
    { role: "tool", callId: "call_1", name: "note", status: "ok", text: "firstresultmark" },
    { role: "tool", callId: "call_2", name: "note", status: "error", text: "secondresultmark" },
    userMessage("nextmark"),
  ],
});

/** A request that nobody may change. */
function request(overrides: Partial<ModelRequest> = {}): ModelRequest {
  return deepFreeze({
    messages: [userMessage("Say hello.")],
    tools: [],
    toolChoice: "auto",
    settings: {},
    ...overrides,
  });
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}

async function withModel(
  subject: ModelSubject,
  script: WireScript,
  use: (open: OpenModel) => Promise<void>,
): Promise<void> {
  const open = await subject.open(script);
  try {
    await use(open);
  } finally {
    await open.close();
  }
}

async function collect(
  model: Model,
  asked: ModelRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<Delta[]> {
  const deltas: Delta[] = [];
  for await (const delta of model.stream(asked, { signal })) deltas.push(delta);
  return deltas;
}

/** What came before the model threw, and the error: a `WritError`. */
async function failing(
  model: Model,
  asked: ModelRequest,
): Promise<{ readonly seen: readonly Delta[]; readonly error: WritError }> {
  const seen: Delta[] = [];
  try {
    for await (const delta of model.stream(asked, { signal: new AbortController().signal })) seen.push(delta);
  } catch (error) {
    if (isWritError(error)) return { seen, error };
    throw new Error(`not a WritError: ${String(error)}`, { cause: error });
  }
  throw new Error(`nothing was thrown; it gave ${JSON.stringify(seen)}`);
}

type Settled<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: unknown };

async function settled<Value>(promise: Promise<Value>): Promise<Settled<Value>> {
  try {
    return { ok: true, value: await promise };
  } catch (error) {
    return { ok: false, error };
  }
}

async function within<Value>(promise: Promise<Value>, what: string): Promise<Value> {
  const late = new AbortController();
  const timeout = sleep(promptlyMs, undefined, { signal: late.signal }).then(() => {
    throw new Error(`${what} took longer than ${promptlyMs} ms`);
  });
  timeout.catch(() => undefined);
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    late.abort();
  }
}
