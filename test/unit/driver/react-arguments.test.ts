import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normalizeArguments } from "../../../src/driver/react-arguments.ts";
import type { JsonObject } from "../../../src/util/json.ts";

const text = { type: "string" };
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  ...more,
});

describe("arguments of a decision", () => {
  it.each<readonly [string, JsonObject, JsonObject, JsonObject]>([
    ["unknown keys", object({ a: text }), { a: "x", b: 1 }, { a: "x" }],
    ["nulls", object({ a: text, b: text }), { a: "x", b: null }, { a: "x" }],
    [
      "nulls under other names, where those are texts",
      object({ a: text }, { additionalProperties: text }),
      { a: "x", b: null, c: "y" },
      { a: "x", c: "y" },
    ],
    ["nested", object({ a: object({ b: text }) }), { a: { b: null, c: 1 } }, { a: {} }],
    [
      "in lists",
      object({ a: { type: "array", items: object({ b: text }) } }),
      { a: [{ b: "x", c: 1 }, null] },
      { a: [{ b: "x" }, null] },
    ],
    [
      "in tuples",
      object({ a: { prefixItems: [object({ b: text })] } }),
      { a: [{ b: null }, { c: 1 }] },
      { a: [{}, { c: 1 }] },
    ],
    [
      "behind references",
      { ...object({ a: { $ref: "#/$defs/b" } }), $defs: { b: object({ c: text }) } },
      { a: { c: null, d: 1 } },
      { a: {} },
    ],
    [
      "inherited names",
      object({ a: text }),
      JSON.parse('{"constructor": 1, "toString": 2}') as JsonObject,
      {},
    ],
  ])("takes out %s [C17]", (_what, ...[schema, given, expected]) => {
    expect(normalizeArguments(given, schema).args).toEqual(expected);
  });

  it.each<readonly [string, JsonObject, JsonObject]>([
    [
      "null that is meant",
      object({
        a: { type: ["string", "null"] },
        b: { anyOf: [text, { type: "null" }] },
        c: { enum: [1, null] },
        d: {},
      }),
      { a: null, b: null, c: null, d: null },
    ],
    ["what an open object may have", object({ a: text }, { additionalProperties: true }), { b: { c: null } }],
    [
      "what alternatives may name",
      object({ a: text }, { anyOf: [object({ b: text }), object({ c: text })] }),
      { b: "x" },
    ],
    ["objects without a description", { type: "object" }, { a: null, b: { c: null } }],
  ])("keeps %s [C17]", (_what, schema, given) => {
    expect(normalizeArguments(given, schema)).toEqual({ args: given, dropped: [], forbidden: [] });
  });

  it("tells what it took out, and leaves what the schema forbids in place [C17]", () => {
    const closed = object({ a: text }, { additionalProperties: false });
    expect(normalizeArguments({ a: "x", dry_run: true, why: null }, closed)).toEqual({
      args: { a: "x", dry_run: true },
      dropped: [],
      forbidden: ["dry_run"],
    });
    const nested = object({ a: object({ b: text }), c: closed });
    expect(normalizeArguments({ a: { x: 1 }, c: { y: 2 }, z: 3, n: null }, nested)).toEqual({
      args: { a: {}, c: { y: 2 } },
      dropped: ["a.x", "z"],
      forbidden: ["c.y"],
    });
  });

  it("never throws and never changes its input, with schemas that lead in circles", () => {
    const tree = object({
      children: { type: "array", items: { $ref: "#" } },
      loop: { $ref: "#/properties/loop" },
    });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (args) => {
        const before = JSON.stringify(args);
        normalizeArguments(args as JsonObject, tree);
        expect(JSON.stringify(args)).toBe(before);
      }),
    );
    expect(normalizeArguments({ children: [{ x: 1, children: [] }] }, tree).args).toEqual({
      children: [{ children: [] }],
    });
  });
});
