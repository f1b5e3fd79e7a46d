import { describe, expect, it, vi } from "vitest";
import { assemble, readArguments } from "../../../src/model/assemble.ts";
import type { Delta } from "../../../src/model/model.ts";

function replyOf(...deltas: readonly Delta[]): ReturnType<ReturnType<typeof assemble>["reply"]> {
  const assembler = assemble("m", ({ id, name }) => ({ id, name }));
  for (const delta of deltas) assembler.push(delta);
  return assembler.reply();
}

describe("a reply from its deltas", () => {
  it("keeps blocks apart, and metadata with its block, also when it comes late", () => {
    const { message } = replyOf(
      { type: "reasoning-delta", text: "a", block: "1" },
      { type: "reasoning-delta", text: "b", block: "2" },
      { type: "reasoning-delta", text: "", block: "1", providerMetadata: { p: { signature: "s1" } } },
      { type: "text-delta", text: "x" },
      { type: "text-delta", text: "y" },
      { type: "end", finishReason: "stop" },
    );
    expect(message.parts).toEqual([
      { type: "reasoning", text: "a", providerMetadata: { p: { signature: "s1" } } },
      { type: "reasoning", text: "b" },
      { type: "text", text: "xy" },
    ]);
  });

  it("marks the last call of a reply that was cut, whatever comes after it", () => {
    const { message } = replyOf(
      { type: "call-start", id: "1", name: "a" },
      { type: "call-end", id: "1", arguments: {} },
      { type: "provider-part", part: { type: "provider", data: { kind: "source" } } },
      { type: "end", finishReason: "length" },
    );
    expect(message.parts[0]).toMatchObject({
      arguments: "{}",
      malformed: expect.stringContaining("cut off"),
    });
  });

  it("reads calls that come in pieces between each other", () => {
    const { message } = replyOf(
      { type: "call-start", id: "1", name: "a" },
      { type: "call-start", id: "2", name: "b" },
      { type: "call-delta", id: "1", text: '{"n":' },
      { type: "call-delta", id: "2", text: "" },
      { type: "call-delta", id: "1", text: "1}" },
      { type: "call-end", id: "2" },
      { type: "call-end", id: "1" },
      { type: "end", finishReason: "tool-calls" },
    );
    expect(message.parts).toMatchObject([
      { name: "a", arguments: { n: 1 } },
      { name: "b", arguments: {} },
    ]);
  });

  it("refuses pieces of a call that never began", () => {
    expect(() => replyOf({ type: "call-delta", id: "1", text: "" })).toThrow(
      expect.objectContaining({ code: "reply-invalid" }),
    );
  });
});

describe("arguments that were encoded as JSON twice", () => {
  it("are parsed once, at either depth", () => {
    const inner = JSON.stringify({ text: "word ".repeat(100) });
    const parsed = vi.spyOn(JSON, "parse");
    const { arguments: args } = readArguments(JSON.stringify(inner));
    const texts = parsed.mock.calls.map(([text]) => text);
    parsed.mockRestore();
    expect(args).toEqual(JSON.parse(inner));
    expect(texts).toEqual([JSON.stringify(inner), inner]);
  });

  it("stay the text inside where that is none, and are refused with a key that stands twice in it", () => {
    expect(readArguments(JSON.stringify("{ not JSON"))).toEqual({ arguments: "{ not JSON" });
    const given = JSON.stringify('{"a": 1, "a": 2}');
    expect(readArguments(given)).toEqual({
      arguments: given,
      malformed: 'they are not valid JSON: it has the key "a" twice in one object',
    });
  });
});

describe("arguments behind an empty object", () => {
  it("are the arguments, and of anything else that stands in a row none", () => {
    expect(readArguments('{}{"a": 1}')).toEqual({ arguments: { a: 1 } });
    expect(readArguments("{}")).toEqual({ arguments: {} });
    for (const text of ['{"a": 1}{"a": 2}', '{}{}{"a": 1}', '{} and {"a": 1}'])
      expect(readArguments(text)).toMatchObject({ arguments: text, malformed: expect.any(String) });
  });
});
