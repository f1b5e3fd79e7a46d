import { describe, expect, it } from "vitest";
import { z } from "zod";
import { roomIn } from "../../../src/schema/room.ts";
import type { JsonSchema } from "../../../src/schema/schema.ts";
import type { Json, JsonObject } from "../../../src/util/json.ts";
import { toSchema } from "../../../src/schema/to-schema.ts";

const object = (properties: Json, required: readonly string[] = []): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const digit = { type: "integer", minimum: 0, maximum: 9 };

const bits = (schema: Json): number => roomIn(schema).reduce((sum, room) => sum + room.bits, 0);

describe("the room in a schema", () => {
  it.each<[string, Json, number]>([
    ["what is given", { const: "whatever it says" }, 0],
    ["a choice", { type: "string", enum: ["a", "b", "c", "d"] }, 2],
    ["a truth value", { type: "boolean" }, 1],
    ["nothing", { type: "null" }, 0],
    ["a bounded integer", { type: "integer", minimum: 0, maximum: 255 }, 8],
    ["steps", { type: "integer", minimum: 0, maximum: 700, multipleOf: 100 }, 3],
    [
      "fractions, each with its neighbours",
      { type: "number", minimum: 0, maximum: 0.75, multipleOf: 0.25 },
      Math.log2(12),
    ],
    ["bounds that are no values", { type: "integer", exclusiveMinimum: -1, exclusiveMaximum: 2 }, 2],
    ["bounds that nothing is between", { type: "integer", minimum: 9, maximum: 0 }, 0],
    ["a list, with its length", { type: "array", items: { type: "boolean" }, maxItems: 3 }, 5],
    ["a list of one length", { type: "array", items: { type: "boolean" }, minItems: 3, maxItems: 3 }, 3],
    ["a list of nothing", { type: "array", items: { type: "string" }, maxItems: 0 }, 0],
    ["a field", object({ a: { type: "boolean" } }, ["a"]), 1],
    ["a field that may be left out", object({ a: { type: "boolean" } }), 2],
    ["the order of fields", object({ a: { const: 1 }, b: { const: 2 } }, ["a", "b"]), 1],
  ])("is the logarithm of the number of its values: %s", (_what, schema, expected) => {
    expect(bits(schema)).toBeCloseTo(expected);
  });

  it("is no less than there are values that the schema takes", async () => {
    const schemas: readonly Json[] = [
      { type: "number", minimum: 0, maximum: 0.3, multipleOf: 0.1 },
      { type: "number", minimum: -0.02, maximum: 0.07, multipleOf: 0.01 },
      { type: "integer", minimum: -3.5, maximum: 3.5 },
      { type: "integer", minimum: 0, maximum: 9, multipleOf: 1.5 },
    ];
    for (const schema of schemas) {
      const checked = toSchema(schema as JsonSchema, { name: "t", role: "output" });
      const values = new Set<number>();
      for (let hundredth = -1000; hundredth <= 1000; hundredth += 1)
        for (const near of neighboursOf(hundredth / 100))
          if ((await checked.parse(near)).ok) values.add(near);
      expect(values.size).toBeGreaterThan(1);
      expect(bits(schema)).toBeGreaterThanOrEqual(Math.log2(values.size));
    }
  });

  it.each<[string, Json, string, RegExp]>([
    ["any text", object({ why: { type: "string" } }), "why", /enum/],
    ["an integer", { type: "integer" }, "", /minimum/],
    ["an integer with one end", { type: "integer", minimum: 0 }, "", /maximum/],
    ["all that a library writes for an integer", z.toJSONSchema(z.int()) as Json, "", /minimum/],
    ["the same from one end on", z.toJSONSchema(z.int().min(0)) as Json, "", /maximum/],
    ["any fraction", { type: "number", minimum: 0, maximum: 1 }, "", /multipleOf/],
    ["a list without an end", object({ codes: { type: "array", items: digit } }), "codes", /maxItems/],
    ["a list of anything", { type: "array", maxItems: 1 }, "[]", /schema/],
    ["other fields", { type: "object", properties: {} }, "", /additionalProperties/],
    ["a record", z.toJSONSchema(z.record(z.string(), z.boolean())) as Json, "", /propertyNames/],
    ["several types", { type: ["integer", "null"] }, "", /type/],
    ["a keyword that could say more", { ...object({}), patternProperties: {} }, "", /patternProperties/],
    [
      "a place deep inside",
      object({ a: { type: "array", maxItems: 2, items: object({ b: true }) } }),
      "a[].b",
      /schema/,
    ],
  ])("has no bound, and says what would be one: %s", (...[, schema, path, wants]) => {
    const open = roomIn(schema).find((room) => room.bits === Infinity);
    expect(open?.path).toBe(path);
    expect(open?.wants).toMatch(wants);
  });
});

/** A number, and the doubles beside it. */
function neighboursOf(value: number): readonly number[] {
  const integers = new BigInt64Array(1);
  const floats = new Float64Array(integers.buffer);
  return [-2n, -1n, 0n, 1n, 2n].map((step) => {
    floats[0] = value;
    integers[0] = (integers[0] ?? 0n) + step;
    return floats[0];
  });
}
