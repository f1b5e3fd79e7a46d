import { describe, expect, it } from "vitest";
import { aiSdk, type AiSdkModel } from "../../../src/adapters/model/ai-sdk.ts";
import { agent, tool } from "../../../src/index.ts";
import { chat } from "../../../src/doors.ts";
import { callsOf } from "../../../src/message/message.ts";
import { fakeTool } from "../../../src/testing.ts";

const versions = ["v2", "v3", "v4"] as const;
type Version = (typeof versions)[number];

const tokens = { total: 1 };
const counted = {
  v2: { inputTokens: 1, outputTokens: 1 },
  v3: { inputTokens: tokens, outputTokens: tokens },
  v4: { inputTokens: tokens, outputTokens: tokens },
};

/** The last part of a stream, in the words of the version. The raw word is only told since V3. */
function finish(version: Version, unified: string, raw?: string): object {
  const finishReason = version === "v2" ? unified : { unified, raw };
  return { type: "finish", finishReason, usage: counted[version] };
}

function called(pieces: readonly string[], input: string, more: object = {}): readonly object[] {
  return [
    { type: "tool-input-start", id: "c", toolName: "delete", ...more },
    ...pieces.map((delta) => ({ type: "tool-input-delta", id: "c", delta })),
    { type: "tool-input-end", id: "c" },
    { type: "tool-call", toolCallId: "c", toolName: "delete", input, ...more },
  ];
}

function said(text: string): readonly object[] {
  return [
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: text },
    { type: "text-end", id: "t" },
  ];
}

/** A model object that streams the replies given, one a request, the last one again and again. */
function played(
  version: Version,
  ...replies: readonly (readonly object[] | AsyncIterable<object>)[]
): AiSdkModel {
  let next = 0;
  return {
    specificationVersion: version,
    provider: "played",
    modelId: "m",
    doStream: () => {
      const reply = replies[Math.min(next, replies.length - 1)] ?? [];
      next += 1;
      return Promise.resolve({ stream: ReadableStream.from(reply) });
    },
  };
}

const retry = { firstDelayMs: 1 };
const deleting = () => fakeTool("delete", "deleted");

describe.each(versions)("arguments that a package makes up (%s)", (version) => {
  const done = [...said("Done."), finish(version, "stop", "stop")];

  it.each([
    ["broken JSON", ['{"path": ', '"out/on'], "{}"],
    ["broken JSON, mended", ['{"path": "out/on'], '{"path": "out/on"}'],
    ["another value", ['{"path": "out/one"}'], "{}"],
    ["a value that lacks a field", ['{"path": "a", "deep": [1, 2]}'], '{"path": "a", "deep": [1]}'],
  ])("never run: %s", async (_name, pieces, input) => {
    const remove = deleting();
    const model = played(
      version,
      [...called(pieces, input), finish(version, "tool-calls", "tool_calls")],
      done,
    );
    const { outcome, transcript } = await agent({ name: "a", model, tools: [remove] }).run("Delete out/one.");
    expect(remove.calls).toEqual([]);
    expect(outcome).toMatchObject({ type: "answered", content: "Done." });
    const [reply, result] = transcript.messages.slice(-3);
    expect(reply).toMatchObject({
      parts: [{ arguments: pieces.join(""), malformed: expect.any(String) as string }],
    });
    expect(result).toMatchObject({ role: "tool", status: "invalid" });
  });

  it("are not run where the model wrote on after the package had made a call of it", async () => {
    const remove = deleting();
    const more = { type: "tool-input-delta", id: "c", delta: '{"path": "out/one"}' };
    const model = played(version, [
      ...called(["{}"], "{}"),
      more,
      finish(version, "tool-calls", "tool_calls"),
    ]);
    const asked = agent({ name: "a", model, tools: [remove], retry: false });
    await expect(asked.run("x")).rejects.toMatchObject({ code: "provider-failed", retryable: true });
    expect(remove.calls).toEqual([]);
  });

  it("are malformed in one question, too", async () => {
    const model = played(version, [...called(['{"path'], "{}"), finish(version, "tool-calls", "tool_calls")]);
    const { calls } = await chat({ model: aiSdk(model), messages: "Delete.", tools: [deleting()] });
    expect(calls).toMatchObject([{ arguments: '{"path', malformed: expect.any(String) as string }]);
  });

  it.each<[string, readonly string[], string, unknown]>([
    ["in the same words", ['{"a":', "1}"], '{"a":1}', { a: 1 }],
    [
      "with another order and other blanks",
      ['{ "a": 1,\n "b": [2, {"c": null}] }'],
      '{"b":[2,{"c":null}],"a":1}',
      { a: 1, b: [2, { c: null }] },
    ],
    [
      "with numbers and letters in another spelling",
      ['{"a":1.0,"b":"\\u00e9"}'],
      '{"a":1,"b":"é"}',
      { a: 1, b: "é" },
    ],
    [
      "with a whole number that no double holds",
      ['{"a":9007199254740993}'],
      '{"a":9007199254740993}',
      { a: "9007199254740993" },
    ],
    ["where nothing was written", [], "{}", {}],
    ["where only blanks were written", [" ", "\n"], '{"a":1}', { a: 1 }],
    ["where null was written", ["null"], "{}", {}],
  ])("count where they are what was written: %s", async (...[, pieces, input, args]) => {
    const model = played(version, [...called(pieces, input), finish(version, "tool-calls", "tool_calls")]);
    const { message } = await chat({ model: aiSdk(model), messages: "x", tools: [deleting()] });
    expect(callsOf(message)).toEqual([{ type: "tool-call", id: "c", name: "delete", arguments: args }]);
  });

  it("count where the words of a custom tool become a text of JSON", async () => {
    const model = played(version, [
      ...called(["SELECT ", "1"], '"SELECT 1"'),
      finish(version, "tool-calls", "x"),
    ]);
    const { calls } = await chat({ model: aiSdk(model), messages: "x", tools: [deleting()] });
    expect(calls).toEqual([{ type: "tool-call", id: "c", name: "delete", arguments: "SELECT 1" }]);
  });

  it("count for a call that the provider carried out, and goes back to it as the package gave it", async () => {
    const web = called(['{"query": "x"}'], '{"query": "x", "type": "web"}', { providerExecuted: true });
    const model = played(version, [...web, ...done]);
    const { message } = await chat({ model: aiSdk(model), messages: "x", tools: [] });
    expect(message.parts[0]).toEqual({
      type: "tool-call",
      id: "c",
      name: "delete",
      arguments: { query: "x", type: "web" },
      providerExecuted: true,
      providerMetadata: { writ: { server: "played" } },
    });
  });
});

describe.each(versions)("a stream that ends early (%s)", (version) => {
  const half = said("The ice is safe only");
  const whole = called(['{"path": "out/one"}'], '{"path": "out/one"}');

  it.each<[string, readonly object[]]>([
    ["nothing at all", []],
    ["text, and no finish", half],
    ["text, and a finish that nobody told", [...half, finish(version, "other")]],
    ["text, and a finish without a reason", [...half, { type: "finish", usage: counted[version] }]],
    ["text, and a finish with an empty reason", [...half, finish(version, "other", "")]],
    ["text, and the word of V2 for it", [...half, finish(version, "unknown")]],
    ["text, and the word of V4 for it", [...half, finish(version, "interrupted", "end_turn")]],
    ["a call, and no finish", whole],
    ["a call, and a finish that nobody told", [...whole, finish(version, "other")]],
  ])("is not an answer, and can be asked again: %s", async (_name, reply) => {
    const remove = deleting();
    const asked = agent({ name: "a", model: played(version, reply), tools: [remove], retry });
    const error = { code: "provider-failed", retryable: true };
    await expect(asked.run("x")).rejects.toMatchObject(error);
    const chatted = chat({ model: aiSdk(played(version, reply)), messages: "x", retry });
    await expect(chatted).rejects.toMatchObject(error);
    expect(remove.calls).toEqual([]);
  });

  it("leaves no result of a call that had started", async () => {
    const started = Promise.withResolvers<void>();
    const look = tool({
      name: "delete",
      description: "Looks",
      effect: "none",
      inputSchema: { type: "object" },
      execute: () => {
        started.resolve();
        return "looked";
      },
    });
    await look.input.parse({}); // what reads schemas is loaded with the first, and until then no call starts early
    async function* cutLater(): AsyncGenerator<object> {
      yield* whole;
      await started.promise;
    }
    const model = played(version, cutLater(), [...said("Done."), finish(version, "stop", "stop")]);
    const hooks = [{ onError: () => ({ retryAfterMs: 0 }) }];
    const { outcome, transcript } = await agent({ name: "a", model, tools: [look], hooks }).run("x");
    expect(outcome).toMatchObject({ type: "answered", content: "Done." });
    expect(transcript.messages.some(({ role }) => role === "tool")).toBe(false);
  });

  it.each<readonly [string, object, string]>([
    ["stop", { ...finish(version, "stop"), usage: {} }, "stop"],
    ["length", { ...finish(version, "length"), usage: {} }, "length"],
  ])("is told from one that ended: %s", async (_name, end, finishReason) => {
    const { outcome } = await agent({ name: "a", model: played(version, [...half, end]) }).run("x");
    expect(outcome).toEqual({ type: "answered", content: "The ice is safe only", finishReason });
  });

  it("is told from calls without a raw reason, where tokens were counted", async () => {
    const remove = deleting();
    const model = played(
      version,
      [...whole, finish(version, "tool-calls")],
      [...said("Done."), finish(version, "stop")],
    );
    await agent({ name: "a", model, tools: [remove] }).run("x");
    expect(remove.calls).toEqual([{ path: "out/one" }]);
  });

  it("is none where the reply came whole, whatever its reason", async () => {
    const model = {
      ...played(version),
      doStream: undefined,
      doGenerate: () =>
        Promise.resolve({ ...finish(version, "other"), content: [{ type: "text", text: "All of it." }] }),
    } as unknown as AiSdkModel;
    const { outcome } = await agent({ name: "a", model }).run("x");
    expect(outcome).toMatchObject({ type: "answered", content: "All of it." });
  });
});

describe.each(["v3", "v4"] as const)(
  "a stream that ends early, where raw reasons are told (%s)",
  (version) => {
    it("does not run what a package makes of a call that had begun", async () => {
      const remove = deleting();
      const model = played(version, [
        ...called(["{}"], "{}"),
        { ...finish(version, "tool-calls"), usage: { inputTokens: {}, outputTokens: {} } },
      ]);
      const asked = agent({ name: "a", model, tools: [remove], retry });
      await expect(asked.run("x")).rejects.toMatchObject({ code: "provider-failed", retryable: true });
      expect(remove.calls).toEqual([]);
    });

    it.each([
      ["other", "error"],
      ["other", "insufficient_system_resource"],
      ["other", "abort"],
      ["tool-calls", "network_error"],
    ])("is told by the provider's own word, where the package says %s of %s", async (unified, raw) => {
      const remove = deleting();
      const half = [...said("The ice"), ...called(["{}"], "{}"), finish(version, unified, raw)];
      const asked = agent({ name: "a", model: played(version, half), tools: [remove], retry: false });
      await expect(asked.run("x")).rejects.toMatchObject({ code: "provider-failed", retryable: true });
      expect(remove.calls).toEqual([]);
    });

    it.each(["content_filter", "MODEL_ARMOR"])("runs no call of a reply that ended with %s", async (raw) => {
      const remove = deleting();
      const model = played(version, [...called(["{}"], "{}"), finish(version, "other", raw)]);
      const { outcome } = await agent({ name: "a", model, tools: [remove] }).run("x");
      expect([outcome.type, remove.calls]).toEqual(["refused", []]);
    });

    it("is told from one that the context window cut", async () => {
      const model = played(version, [
        ...said("All of"),
        finish(version, "other", "model_context_window_exceeded"),
      ]);
      const { outcome } = await agent({ name: "a", model }).run("x");
      expect(outcome).toEqual({ type: "answered", content: "All of", finishReason: "length" });
    });

    it("is no filter of the provider's, which has a word of its own", async () => {
      const model = played(version, [finish(version, "other", "MODEL_ARMOR")]);
      const { outcome } = await agent({ name: "a", model }).run("x");
      expect(outcome).toMatchObject({ type: "refused", code: "run-refused" });
    });

    it("is told from one that ended for another reason, in the provider's own word", async () => {
      const model = played(version, [...said("All of it."), finish(version, "other", "OTHER")]);
      const { outcome } = await agent({ name: "a", model }).run("x");
      expect(outcome).toEqual({ type: "answered", content: "All of it.", finishReason: "other" });
    });
  },
);
