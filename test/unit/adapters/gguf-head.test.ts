import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readGgufSummary } from "../../../src/adapters/model/llama-cpp-file.ts";

const folder = mkdtempSync(join(tmpdir(), "writ-gguf-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const u64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const text = (words: string): Buffer => Buffer.concat([u64(Buffer.byteLength(words)), Buffer.from(words)]);

/** The numbers of the types of values. */
const [uint8, uint32, string, array, uint64] = [0, 4, 8, 9, 10] as const;
const entry = (key: string, type: number, ...value: readonly Buffer[]): Buffer =>
  Buffer.concat([text(key), u32(type), ...value]);
const tensor = (name: string, ...dimensions: readonly number[]): Buffer =>
  Buffer.concat([text(name), u32(dimensions.length), ...dimensions.map(u64), u32(0), u64(0)]);

/** Writes the head of a file. */
function head(entries: readonly Buffer[], tensors: readonly Buffer[] = []): Buffer {
  return Buffer.concat([
    Buffer.from("GGUF"),
    u32(3),
    u64(tensors.length),
    u64(entries.length),
    ...entries,
    ...tensors,
  ]);
}

function read(bytes: Buffer): ReturnType<typeof readGgufSummary> {
  const path = join(folder, "model.gguf");
  writeFileSync(path, bytes);
  return readGgufSummary(path);
}

describe("the head of a GGUF file", () => {
  it("says what the model is, whatever stands between", () => {
    const bytes = head(
      [
        entry("tokenizer.scores", array, u32(uint32), u64(3), u32(1), u32(2), u32(3)),
        entry("general.architecture", string, text("llama")),
        entry("tokenizer.tokens", array, u32(string), u64(2), text("a"), text("bc")),
        entry("a.flag", uint8, Buffer.from([1])),
        entry("llama.context_length", uint64, u64(4096)),
        entry("tokenizer.bytes", array, u32(uint8), u64(5), Buffer.from("ababa")),
        entry("tokenizer.chat_template", string, text("{{ messages }}")),
      ],
      [tensor("one", 3, 4), tensor("two", 5)],
    );
    expect(read(bytes)).toEqual({
      architecture: "llama",
      parameters: 17,
      contextLength: 4096,
      chatTemplate: "{{ messages }}",
    });
  });

  const many = (type: number, count: number): Buffer => head([entry("a", array, u32(type), u64(count))]);
  it.each([
    ["more items of a list than there are in any", many(uint8, 10_000_001), "10000001 items in an array"],
    ["a text of more than 16 MiB", head([u64(2 ** 24 + 1)]), "16777217 bytes in a text"],
    ["a text that long in a list", Buffer.concat([many(string, 1), u64(2 ** 24 + 1)]), "16777217 bytes"],
    [
      "more entries than there are in any",
      head(Array<Buffer>(100_001).fill(Buffer.alloc(0))),
      "100001 metadata",
    ],
    ["more tensors", head([], Array<Buffer>(100_001).fill(Buffer.alloc(0))), "100001 tensors"],
    ["lists of lists", many(array, 1), "arrays of arrays"],
    ["a value of an unknown type", head([entry("a", 13)]), "unknown type 13"],
    ["a tensor of nine dimensions", head([], [tensor("a", 1, 1, 1, 1, 1, 1, 1, 1, 1)]), "9 dimensions"],
    ["more than it has", head([entry("a", array, u32(uint8), u64(9)), Buffer.alloc(0)]), "cut off"],
  ])("that claims %s is refused", (_what, bytes, reason) => {
    expect(() => read(bytes)).toThrow(
      expect.objectContaining({
        code: "model-file-invalid",
        message: expect.stringContaining(reason) as string,
      }),
    );
  });
});
