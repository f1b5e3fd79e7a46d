import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maxJsonDepth, parseJson } from "../../../src/util/json.ts";
import { lenientJson } from "../../../src/util/lenient-json.ts";

const valueOf = (text: string): unknown => {
  const read = lenientJson(text);
  return read.ok ? read.value : undefined;
};

describe("JSON as models write it", () => {
  it("reads strictly what can be read strictly [G3]", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const strict = parseJson(text);
        if (strict.ok) expect(lenientJson(text)).toEqual(strict);
      }),
    );
    expect(valueOf(' "a {b} c" ')).toBe("a {b} c");
    expect(valueOf("42")).toBe(42);
  });

  it.each([
    ['```json\n{"a": 1}\n```', { a: 1 }],
    ['Sure!\n```\n{"a": 1}\n```\nAnything else?', { a: 1 }],
    ["```json\n42\n```", 42],
    ['```\n"text"\n```', "text"],
    ['```json\n{"code": "```ts\\nx\\n```"}\n```', { code: "```ts\nx\n```" }],
    ['Here it is: {"a": 1} and more.', { a: 1 }],
    ['The set {x} of [names] is {"a": [1, 2]}', { a: [1, 2] }],
    ['It\'s the "best" set {of} all: {"a": "}"}', { a: "}" }],
    ['{"a": 1}\n{"b": 2}', { a: 1 }],
    ['{"a": [1, 2, ], "b": {"c": 1 ,\n},}', { a: [1, 2], b: { c: 1 } }],
    ['{"a": "one, ]", "b": "\\",}",}', { a: "one, ]", b: '",}' }],
    ['{"id": 9007199254740993,}', { id: "9007199254740993" }],
    ["\uFEFF[1]", [1]],
    ["[see below] [1, 2]", [1, 2]],
    ['As [1] says: {"a": 1} [2]', { a: 1 }],
    ["As [1] and [2] say.", [1]],
  ])("reads %j [G3]", (text, value) => {
    expect(valueOf(text)).toEqual(value);
  });

  it.each([
    "",
    "no JSON",
    '{"a": 1',
    '{"a": {"b": 1}, "c": "cut o',
    "{a: 1}",
    "{'a': 1}",
    '{"a": 1]',
    "[1,,]",
    '{"__proto__": {"x": 1},}',
    `${"[".repeat(maxJsonDepth + 1)}1,${"]".repeat(maxJsonDepth + 1)}`,
  ])("makes nothing up of %j [G3]", (text) => {
    expect(lenientJson(text)).toMatchObject({ ok: false, reason: expect.any(String) });
  });

  it("finds any object or list again in prose, with fences and with commas too many [G3]", () => {
    // A quote before and one behind would make the whole a text of JSON.
    const prose = fc.string().map((text) => text.replaceAll(/[{}[\]`"]/g, ""));
    const value = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()));
    fc.assert(
      fc.property(value, prose, prose, (value, before, after) => {
        const text = JSON.stringify(value, undefined, 1);
        if (!parseJson(text).ok) return;
        expect(lenientJson(`${before}${text}${after}`)).toEqual(parseJson(text));
        expect(lenientJson(`${before}\n\`\`\`json\n${text}\n\`\`\`\n${after}`)).toEqual(parseJson(text));
        const commas = text.length > 2 ? `${text.slice(0, -1)} , ${text.slice(-1)}` : text;
        expect(lenientJson(`${before}${commas}`)).toEqual(parseJson(text));
      }),
    );
  });

  it("never throws, whatever it is given, and its time grows with the text [G3]", () => {
    fc.assert(fc.property(fc.string(), (text) => void lenientJson(text)));
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, cut) => void lenientJson(text.slice(cut % (text.length + 1)))),
    );
    for (const piece of [
      "[",
      "{",
      '["',
      '{"',
      "[1,",
      "[]",
      "{}",
      "[1]x",
      '"',
      "```\n",
      "[ ",
      "[{",
      "}]",
      ", ",
      '[",]',
    ])
      lenientJson(piece.repeat(500_000));
  });
});
