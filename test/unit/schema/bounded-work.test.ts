import { describe, expect, it } from "vitest";
import { describeIssues, type JsonSchema } from "../../../src/schema/schema.ts";
import { toSchema } from "../../../src/schema/to-schema.ts";
import type { Json } from "../../../src/util/json.ts";

const list = <Item>(length: number, make: (index: number) => Item): Item[] =>
  Array.from({ length }, (_, index) => make(index));

const fields = (length: number, value: Json): Json =>
  Object.fromEntries(list(length, (index) => [`k${index}`, value]));

async function answerOf(schema: JsonSchema, value: unknown, role: "input" | "output"): Promise<string> {
  const result = await toSchema(schema, { name: "t", role }).parse(value);
  return result.ok ? "fits" : describeIssues(result.issues);
}

const tooLarge = /too large for its schema, .*more than \d+ steps.*Send a smaller value/;

const doubling: JsonSchema = { type: "object", anyOf: list(2, () => ({ properties: { a: { $ref: "#" } } })) };

const hostile: readonly [what: string, schema: JsonSchema, value: () => unknown][] = [
  [
    "anyOf",
    { items: { anyOf: list(900, (each) => ({ const: `x${each}` })) } },
    () => list(200_000, () => "x899"),
  ],
  ["oneOf", { items: { oneOf: list(900, (minimum) => ({ minimum })) } }, () => list(200_000, () => 0)],
  ["allOf", { allOf: list(900, () => ({ items: { type: "number" } })) }, () => list(200_000, () => 0)],
  [
    "not",
    { items: { allOf: list(900, (each) => ({ not: { const: each } })) } },
    () => list(200_000, () => "x"),
  ],
  [
    "contains",
    { allOf: list(900, (each) => ({ not: { contains: { const: each } } })) },
    () => list(200_000, () => "x"),
  ],
  [
    "if",
    { items: { allOf: list(900, (each) => ({ if: { const: each }, else: true })) } },
    () => list(200_000, () => "x"),
  ],
  [
    "dependentSchemas",
    { items: { dependentSchemas: Object.fromEntries(list(900, (each) => [`k${each}`, {}])) } },
    () => list(200_000, () => ({})),
  ],
  [
    "required",
    { items: { not: { required: list(2000, (each) => `k${each}`) } } },
    () => list(200_000, () => ({})),
  ],
  [
    "properties",
    { items: { properties: Object.fromEntries(list(2000, (each) => [`k${each}`, {}])) } },
    () => list(200_000, () => ({})),
  ],
  [
    "patternProperties",
    { patternProperties: Object.fromEntries(list(900, (each) => [`^k${each}$`, { type: "number" }])) },
    () => fields(100_000, 0),
  ],
  [
    "propertyNames",
    { allOf: list(900, () => ({ propertyNames: { minLength: 1 } })) },
    () => fields(100_000, 0),
  ],
  ["maxProperties", { allOf: list(900, () => ({ maxProperties: 1e9 })) }, () => fields(100_000, 0)],
  [
    "unevaluatedProperties",
    { allOf: list(900, () => ({ patternProperties: { "^k": {} }, unevaluatedProperties: false })) },
    () => fields(100_000, 0),
  ],
  ["unevaluatedItems", { allOf: list(900, () => ({ unevaluatedItems: {} })) }, () => list(200_000, () => 0)],
  ["uniqueItems", { allOf: list(900, () => ({ uniqueItems: true })) }, () => list(200_000, (k) => ({ k }))],
  ["enum", { allOf: list(900, () => ({ not: { enum: [{}] } })) }, () => list(200_000, (k) => ({ k }))],
  ["maxLength", { allOf: list(900, () => ({ maxLength: 1e9 })) }, () => "x".repeat(5e6)],
  ["pattern", { pattern: "[ab]{0,1000}[ac]{0,1000}$" }, () => "a".repeat(5e6)],
  ["$ref", doubling, () => JSON.parse(`${'{"a":'.repeat(40)}5${"}".repeat(40)}`) as unknown],
  [
    "default",
    { items: { properties: { a: { default: list(8000, () => 1) } } } },
    () => list(200_000, () => ({})),
  ],
];

// Bounded work is some seconds of it where the machine has other work too.
describe("the work that a value may cost", () => {
  it.each(hostile)(
    "is bounded where `%s` multiplies schema and value, and says so",
    async (_, schema, value) => {
      expect(await answerOf(schema, value(), "input")).toMatch(tooLarge);
    },
  );

  it.each<readonly [what: string, schema: JsonSchema, value: () => unknown]>([
    ["items that must differ", { uniqueItems: true }, () => list(200_000, (k) => ({ k }))],
    [
      "items of a long choice",
      { items: { enum: list(4000, (each) => `x${each}`) } },
      () => list(500_000, () => "x3999"),
    ],
    [
      "fields that many schemas give defaults to",
      { allOf: list(900, (each) => ({ properties: { [`z${each}`]: { default: 1 } } })) },
      () => fields(100_000, 0),
    ],
    [
      "a list that only the last alternative takes",
      { anyOf: [{ items: { type: "string" } }, { contains: { const: -1 } }, { items: { type: "integer" } }] },
      () => list(2_000_000, (each) => each),
    ],
  ])("is linear for %s", async (_, schema, value) => {
    expect(await answerOf(schema, value(), "input")).toBe("fits");
  });

  it.each(["input", "output"] as const)("is there for 10 MB of rows (%s)", async (role) => {
    const row: JsonSchema = {
      type: "object",
      properties: {
        id: { type: "integer", minimum: 0 },
        name: { type: "string", minLength: 1, maxLength: 200 },
        day: { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$" },
        tags: { type: "array", items: { type: "string" }, uniqueItems: true },
        place: { anyOf: [{ $ref: "#/$defs/place" }, { type: "null" }] },
        note: { type: "string", default: "" },
      },
      required: ["id", "name"],
      additionalProperties: false,
    };
    const place = { type: "object", properties: { x: { type: "number" } }, required: ["x"] };
    const schema = {
      type: "array",
      uniqueItems: true,
      items: { $ref: "#/$defs/row" },
      $defs: { row, place },
    };
    const rows = list(105_000, (id) => ({
      id,
      name: `name ${id}`,
      day: "2026-01-31",
      tags: ["red", "blue"],
      place: id % 2 === 0 ? { x: id / 7 } : null,
    }));
    expect(JSON.stringify(rows).length).toBeGreaterThan(1e7);
    expect(await answerOf(schema, rows, role)).toBe("fits");
  });

  it.each<readonly [what: string, contains: JsonSchema, answer: string]>([
    ["enough entries fit", {}, "fits"],
    ["too many entries fit", { maxContains: 1 }, "must contain at least 1 and no more than 1 valid item(s)"],
  ])("ends for `contains` once %s", async (_, bounds, answer) => {
    const contains: JsonSchema = { anyOf: list(900, (each) => ({ const: `x${each}` })) };
    const value = list(20_000, () => "x899");
    expect(await answerOf({ contains, ...bounds }, value, "output")).toBe(answer);
  });

  it("is one for all attempts to fit a value that is wrong in form", async () => {
    const schema: JsonSchema = { items: { anyOf: list(900, (each) => ({ const: each })) } };
    const answer = await answerOf(
      schema,
      list(20_000, () => "899"),
      "input",
    );
    expect(answer).toContain('must be 0, got "899"');
    expect(answer.length).toBeLessThan(1000);
  });

  it("is not spent on faults whose names are endless: they are cut", async () => {
    const answer = await answerOf({ additionalProperties: false }, { ["x".repeat(1e6)]: 1 }, "output");
    expect(answer.length).toBeLessThan(300);
  });

  it("leaves a value that is wrong throughout its first faults", async () => {
    const schema: JsonSchema = { items: { $ref: "#/$defs/row" }, $defs: { row: { required: ["id"] } } };
    const answer = await answerOf(
      schema,
      list(500_000, () => ({})),
      "output",
    );
    expect(answer).toMatch(/^\[0\]\.id: missing; \[1\]\.id: missing; .*; and 990 more$/);
  });
});

describe("items that must differ", () => {
  it.each<readonly [same: boolean, left: Json, right: Json]>([
    [true, { a: 1, b: [2] }, { b: [2], a: 1 }],
    [true, 1, 1.0],
    [true, 0, -0],
    [true, [0], [-0]],
    [false, 1, "1"],
    [false, "[1]", [1]],
    [false, "{}", {}],
    [false, '"', '\\"'],
    [false, 1, true],
    [false, 0, false],
    [false, null, "null"],
    [false, [[1], 2], [1, [2]]],
    [false, { a: 1 }, { a: "1" }],
    [false, ["a,b"], ["a", "b"]],
  ])("are the same is %s of %j and %j, also in an `enum` and as `const`", async (same, left, right) => {
    const expected = same ? "fits" : expect.stringContaining("must be");
    expect(await answerOf({ enum: [left] }, right, "output")).toEqual(expected);
    expect(await answerOf({ const: left }, right, "output")).toEqual(expected);
    expect(await answerOf({ uniqueItems: true }, [left, right], "output")).toBe(
      same ? "must NOT have duplicate items (items ## 0 and 1 are identical)" : "fits",
    );
  });
});
