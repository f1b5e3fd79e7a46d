import { describe, expect, it } from "vitest";
import { aiSdk, type AiSdkModel } from "../../../src/adapters/model/ai-sdk.ts";
import { agent, chat } from "../../../src/index.ts";
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
function finish(version: Version, unified: string, raw?: string, usage: object = counted[version]): object {
  return { type: "finish", finishReason: version === "v2" ? unified : { unified, raw }, usage };
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
function played(version: Version, ...replies: readonly (readonly object[])[]): AiSdkModel {
  let next = 0;
  return {
    specificationVersion: version,
    provider: "played",
    modelId: "m",
    doStream: () => {
      const reply = replies[Math.min(next, replies.length - 1)] ?? [];
      next += 1;
      return Promise.resolve({
        stream: ReadableStream.from([{ type: "stream-start", warnings: [] }, ...reply]),
      });
    },
  };
}

const deleting = () => fakeTool("delete", "deleted", { effect: "irreversible" });

describe.each(versions)("arguments that a package makes up (%s)", (version) => {
  const done = [...said("Done."), finish(version, "stop", "stop")];

  it.each([
    ["broken JSON", ['{"path": ', '"out/on'], "{}"],
    ["broken JSON, mended", ['{"path": "out/on'], '{"path": "out/on"}'],
    ["another value", ['{"path": "out/one"}'], "{}"],
    ["a value that lacks a field", ['{"path": "a", "deep": [1, 2]}'], '{"path": "a", "deep": [1]}'],
  ])("never run: %s", async (_name, pieces, input) => {
    const tool = deleting();
    const model = played(
      version,
      [...called(pieces, input), finish(version, "tool-calls", "tool_calls")],
      done,
    );
    const { outcome, transcript } = await agent({ name: "a", model, tools: [tool] }).run("Delete out/one.");
    expect(tool.calls).toEqual([]);
    expect(outcome).toMatchObject({ type: "answered", content: "Done." });
    const [reply, result] = transcript.messages.slice(-3);
    expect(reply).toMatchObject({
      parts: [{ arguments: pieces.join(""), malformed: expect.any(String) as string }],
    });
    expect(result).toMatchObject({ role: "tool", status: "invalid" });
  });

  it("are malformed in one question, too", async () => {
    const model = played(version, [...called(['{"path'], "{}"), finish(version, "tool-calls", "tool_calls")]);
    const { calls } = await chat(aiSdk(model), { messages: "Delete.", tools: [deleting()] });
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
  ])("count where they are what was written: %s", async (_name, pieces, input, args) => {
    const model = played(version, [...called(pieces, input), finish(version, "tool-calls", "tool_calls")]);
    const { message } = await chat(aiSdk(model), { messages: "x", tools: [deleting()] });
    expect(callsOf(message)).toEqual([{ type: "tool-call", id: "c", name: "delete", arguments: args }]);
  });

  it("count where the words of a custom tool become a text of JSON", async () => {
    const model = played(version, [
      ...called(["SELECT ", "1"], '"SELECT 1"'),
      finish(version, "tool-calls", "x"),
    ]);
    const { calls } = await chat(aiSdk(model), { messages: "x", tools: [deleting()] });
    expect(calls).toEqual([{ type: "tool-call", id: "c", name: "delete", arguments: "SELECT 1" }]);
  });

  it("count for a call that the provider carried out, and goes back to it as the package gave it", async () => {
    const web = called(['{"query": "x"}'], '{"query": "x", "type": "web"}', { providerExecuted: true });
    const model = played(version, [...web, ...done]);
    const { message } = await chat(aiSdk(model), { messages: "x", tools: [] });
    expect(message.parts[0]).toEqual({
      type: "tool-call",
      id: "c",
      name: "delete",
      arguments: { query: "x", type: "web" },
      providerExecuted: true,
    });
  });
});
