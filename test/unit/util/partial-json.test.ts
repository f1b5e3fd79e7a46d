import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isJsonObject, type Json, maxJsonDepth, parseJson } from "../../../src/util/json.ts";
import { partialJson } from "../../../src/util/partial-json.ts";

const read = (...pieces: readonly string[]): Json | undefined => {
  const reader = partialJson();
  for (const piece of pieces) reader.push(piece);
  return reader.value();
};

/** Whether `part` is the beginning of `whole`: complete members equal, the last one begun. */
function begins(part: Json, whole: Json): boolean {
  if (typeof part === "string") return typeof whole === "string" && whole.startsWith(part);
  if (Array.isArray(part))
    return (
      Array.isArray(whole) &&
      part.every((entry: Json, index) => isLike(entry, whole[index], index === part.length - 1))
    );
  if (!isJsonObject(part)) return part === whole;
  if (!isJsonObject(whole)) return false;
  const keys = Object.keys(part);
  return keys.every((key) => begins(part[key] ?? null, whole[key] ?? null));
}

function isLike(part: Json, whole: Json | undefined, isLast: boolean): boolean {
  if (whole === undefined) return false;
  return isLast ? begins(part, whole) : JSON.stringify(part) === JSON.stringify(whole);
}

const container = fc
  .oneof(fc.array(fc.jsonValue({ maxDepth: 5 })), fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })))
  .map((value) => JSON.stringify(value))
  .filter((text) => parseJson(text).ok && !/\d{16}/.test(text));
const spaced = fc
  .tuple(container, fc.constantFrom(undefined, 1, "\t"))
  .map(([text, space]) => JSON.stringify(JSON.parse(text), undefined, space));

describe("JSON while it is written", () => {
  it("gives the whole value after the whole text, however it was cut", () => {
    fc.assert(
      fc.property(spaced, fc.infiniteStream(fc.integer({ min: 1, max: 9 })), (text, sizes) => {
        const pieces: string[] = [];
        for (let at = 0; at < text.length;) {
          const size = sizes.next().value;
          pieces.push(text.slice(at, at + size));
          at += size;
        }
        expect(read(...pieces)).toEqual(JSON.parse(text));
      }),
    );
  });

  it("gives at every place the beginning of the value, and only ever more of it", () => {
    fc.assert(
      fc.property(spaced, (text) => {
        const whole = JSON.parse(text) as Json;
        const reader = partialJson();
        let before: Json | undefined;
        for (const mark of text) {
          reader.push(mark);
          const value = reader.value();
          if (value !== undefined && !begins(value, whole))
            throw new Error(`${JSON.stringify(value)} of ${text}`);
          if (before !== undefined && (value === undefined || !begins(before, value)))
            throw new Error(`${JSON.stringify(before)} before ${JSON.stringify(value)}`);
          before = value;
        }
      }),
    );
  });

  it("gives texts as far as they have come, and other values once they are complete", () => {
    expect(read('{"text": "so fa')).toEqual({ text: "so fa" });
    expect(read('{"text": "line\\')).toEqual({ text: "line" });
    expect(read('{"text": "line\\', "n", "two \\u00", "e9")).toEqual({ text: "line\ntwo é" });
    expect(read('{"smile": "\\ud83d')).toEqual({ smile: "" });
    expect(read('{"smile": "\\ud83d', '\\ude00"')).toEqual({ smile: "😀" });
    expect(read('{"n": 12')).toEqual({});
    expect(read('{"n": 12', "3,")).toEqual({ n: 123 });
    expect(read('{"n": -1.5e3 }')).toEqual({ n: -1500 });
    expect(read("[tru")).toEqual([]);
    expect(read("[tru", "e")).toEqual([true]);
    expect(read('{"id": 9007199254740993}')).toEqual({ id: "9007199254740993" });
    expect(read('{"a": {"b": [1, {"c')).toEqual({ a: { b: [1, {}] } });
    expect(read('{"a')).toEqual({});
    expect(read("{")).toBeUndefined();
  });

  it("skips what stands around the value: prose with brackets, fences", () => {
    expect(read("As the [manual] {says}:\n```json\n", '{"a": 1}', "\n``` [2]")).toEqual({ a: 1 });
    expect(read("no JSON at all")).toBeUndefined();
    expect(read("[", "note] [see below] ", "[1, 2,]")).toEqual([1, 2]);
    expect(read('{"a": 1,}')).toEqual({ a: 1 });
  });

  it("goes on behind a citation, and keeps it where nothing follows", () => {
    expect(read("As [1", '] and [2] say: {"a": 1', ', "b": 2} [3]')).toEqual({ a: 1, b: 2 });
    expect(read("As [1] and [2] say")).toEqual([1]);
    expect(read("As [1] says: [2, 3")).toEqual([2]);
  });

  it("never throws, and keeps what it had when the rest cannot be JSON", () => {
    fc.assert(fc.property(fc.array(fc.string()), (pieces) => void read(...pieces)));
    fc.assert(
      fc.property(spaced, fc.nat(), fc.string(), (text, at, noise) => {
        const cut = at % (text.length + 1);
        const reader = partialJson();
        for (const mark of text.slice(0, cut) + noise + text.slice(cut)) {
          reader.push(mark);
          reader.value();
        }
      }),
    );
    for (const end of ["}", "]", "nope", "1 2]", '"\\x', ",,", "{1", ":"])
      expect(read('["a", ', end, "1]")).toContain("a");
    expect(read('{"a" 1')).toEqual({});
    expect(read('{"a": 1, "b": ]}, "c": 2}')).toEqual({ a: 1 });
    expect(read(`${"[".repeat(1e5)}1`)).toBeDefined();
    expect(JSON.stringify(read("[".repeat(maxJsonDepth + 9)))).toBe(
      "[".repeat(maxJsonDepth) + "]".repeat(maxJsonDepth),
    );
  });

  it("has no way into prototypes", () => {
    for (const text of [
      '{"__proto__": {"x": 1}, "a": 1,',
      '{"a": 1, "__proto__": {"x": "op',
      '{"a": 1, "__proto__": "op',
    ]) {
      const value = read(text);
      expect(value).toEqual({ a: 1 });
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect((value as { x?: unknown }).x).toBeUndefined();
    }
  });

  it("gives snapshots: they never change, share what is complete, and are the same while nothing changed [G2]", () => {
    const reader = partialJson();
    reader.push('{"rows": [{"id": 1}, {"id": 2');
    const first = reader.value() as { rows: readonly object[] };
    expect(reader.value()).toBe(first);
    reader.push("  ");
    expect(reader.value()).toBe(reader.value());
    reader.push('}, {"id": 3}], "more": "te');
    const second = reader.value() as { rows: readonly object[] };
    reader.push('xt"}');
    const third = reader.value() as { rows: readonly object[] };
    expect(first).toEqual({ rows: [{ id: 1 }, {}] });
    expect(second).toEqual({ rows: [{ id: 1 }, { id: 2 }, { id: 3 }], more: "te" });
    expect(second.rows[0]).toBe(first.rows[0]);
    expect(third.rows).toBe(second.rows);
  });

  it("reads long texts of one kind in time that grows with them, asked at every piece", () => {
    const texts = [
      `["${"a\\n".repeat(300_000)}"]`,
      `["${"word ".repeat(300_000)}"]`,
      `[${"1,".repeat(300_000)}1]`,
      `[${"1".repeat(1e6)}]`,
      `{${Array.from({ length: 20_000 }, (_, index) => `"key${index}":true`).join()}}`,
      "[ x".repeat(300_000),
      `{"a":${" ".repeat(1e6)}1}`,
    ];
    for (const text of texts)
      for (const size of [3, text.length]) {
        const reader = partialJson();
        for (let at = 0; at < text.length; at += size) {
          reader.push(text.slice(at, at + size));
          reader.value();
        }
      }
  });
});
