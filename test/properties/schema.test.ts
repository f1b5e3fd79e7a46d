import { type } from "arktype";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { isWritError } from "../../src/error/writ-error.ts";
import type { JsonSchema, ParseResult, Schema } from "../../src/schema/schema.ts";
import { type SchemaSource, toSchema } from "../../src/schema/to-schema.ts";
import type { Json } from "../../src/util/json.ts";

const input = { name: "t", role: "input" } as const;

const hostile = fc.constantFrom(
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "valueOf",
  "polluted",
);
const key = fc.oneof(fc.constantFrom("a", "b", "c", "0"), hostile, fc.string({ maxLength: 4 }));
const text = fc.oneof(
  fc.string(),
  hostile,
  fc.constantFrom("1", "-0", "1.5", "true", "null", '{"a":1}', "[1]", '{"__proto__":{"polluted":1}}'),
);

/** Objects are made with own keys, `__proto__` among them, as JSON.parse makes them. */
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      text,
    ),
    fc.array(tie("json"), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie("json")), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
  ),
}));

const typeName = fc.constantFrom("object", "array", "string", "number", "integer", "boolean", "null");
const pattern = fc.constantFrom("^a", "^(a+)+$", "^(?!x)a", "\\p{L}+", "^.{2,3}$", "[\\w-.]");
const wrong: fc.Arbitrary<JsonSchema> = fc.oneof(
  fc.constantFrom("(?<=a)b", "[", "(a)\\1").map((pattern) => ({ pattern })),
  fc.string().map(($ref) => ({ $ref })),
  fc
    .constantFrom("type", "required", "properties", "items", "enum", "minimum")
    .chain((name) => json.map((value) => ({ [name]: value }))),
);
const target = fc.constantFrom("#", "#/$defs/a", "#/$defs/b", "#/$defs/toString", "#b");

/** Schemas with a few keywords each; the whole has definitions for the references in it, circles included. */
const { sub } = fc.letrec<{ sub: Json; fragment: JsonSchema; map: JsonSchema; list: Json }>((tie) => ({
  sub: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.boolean(),
    fc.array(tie("fragment"), { maxLength: 3 }).map((fragments): Json => Object.assign({}, ...fragments)),
  ),
  fragment: fc.oneof(
    { maxDepth: 3 },
    {
      weight: 6,
      arbitrary: fc.oneof(typeName, fc.uniqueArray(typeName, { minLength: 1 })).map((type) => ({ type })),
    },
    { weight: 1, arbitrary: fc.array(key, { maxLength: 3 }).map((required) => ({ required })) },
    { weight: 1, arbitrary: fc.array(json, { maxLength: 3 }).map((choices) => ({ enum: choices })) },
    { weight: 2, arbitrary: json.map((preset) => ({ default: preset })) },
    { weight: 1, arbitrary: json.map((only) => ({ const: only })) },
    {
      weight: 1,
      arbitrary: fc.record({ minimum: fc.integer(), maxLength: fc.nat(5), uniqueItems: fc.boolean() }),
    },
    { weight: 1, arbitrary: pattern.map((pattern) => ({ pattern })) },
    {
      weight: 1,
      arbitrary: fc.array(key).map((names) => ({ dependentRequired: { a: names, toString: ["b"] } })),
    },
    { weight: 2, arbitrary: target.map(($ref) => ({ $ref })) },
    { weight: 4, arbitrary: tie("map").map((properties) => ({ properties })) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(pattern, tie("sub"))
        .map(([name, held]) => ({ patternProperties: { [name]: held } })),
    },
    ...[
      "additionalProperties",
      "items",
      "not",
      "if",
      "then",
      "propertyNames",
      "contains",
      "unevaluatedProperties",
    ].map((name) => ({
      weight: 1,
      arbitrary: tie("sub").map((held) => ({ [name]: held })),
    })),
    ...["allOf", "anyOf", "oneOf", "prefixItems"].map((name) => ({
      weight: 1,
      arbitrary: tie("list").map((held) => ({ [name]: held })),
    })),
  ),
  map: fc.array(fc.tuple(key, tie("sub")), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  list: fc.array(tie("sub"), { minLength: 1, maxLength: 2 }),
}));
const definition = fc.record({
  a: sub,
  b: sub.map((held) => Object.assign({ $anchor: "b" }, held)),
  toString: sub,
});
const schema = fc
  .tuple(sub, definition, fc.oneof({ weight: 9, arbitrary: fc.constant({}) }, wrong))
  .map(([held, $defs, fault]) => Object.assign({}, held, { $defs }, fault) as JsonSchema);

const shape: JsonSchema = {
  type: "object",
  properties: {
    a: { type: "integer", default: 1 },
    b: { type: "array", items: { $ref: "#" } },
    c: { anyOf: [{ type: "string" }, { type: "boolean" }] },
    toString: { type: "string" },
    constructor: { type: "object", properties: { prototype: { type: "number" } } },
  },
  additionalProperties: { type: ["number", "object"] },
};

const sources: readonly SchemaSource[] = [
  shape,
  z.object({
    a: z.int().default(1),
    b: z.array(z.number()).optional(),
    c: z.union([z.string(), z.boolean()]).optional(),
  }),
  z.record(z.string(), z.number()),
  z.looseObject({ toString: z.string().optional() }),
  type({ "a?": "number", "b?": "string[]", "[string]": "unknown" }),
];
const schemas: readonly Schema[] = sources.map((source) => toSchema(source, input));

/** Fails when parse throws, rejects, changes the value or reaches the prototype of all objects. */
async function parseSafely(schema: Schema, value: Json): Promise<ParseResult<unknown>> {
  const before = JSON.stringify(value);
  const result = await schema.parse(value);
  expect(JSON.stringify(value)).toBe(before);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  expect(Object.keys(Object.prototype)).toEqual([]);
  return result;
}

describe("parse", () => {
  it("never throws, never changes its input, never pollutes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...schemas), json, async (schema, value) => {
        const result = await parseSafely(schema, value);
        if (!result.ok) expect(result.issues.length).toBeGreaterThan(0);
      }),
      { numRuns: 1500 },
    );
  });

  it("does so for any JSON Schema that is not refused when it is defined", async () => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(schema, fc.array(json, { minLength: 1, maxLength: 4 }), async (source, values) => {
        const before = JSON.stringify(source);
        const made = schemaOr(source);
        expect(JSON.stringify(source)).toBe(before);
        if (made === undefined) return;
        accepted += 1;
        for (const value of values) {
          const result = await parseSafely(made, value);
          // What cannot be judged would show here: the check at definition must have refused it.
          const messages = result.ok ? [] : result.issues.map((issue) => issue.message);
          expect(messages.filter((message) => message.startsWith("cannot be checked"))).toEqual([]);
        }
      }),
      { numRuns: 1500 },
    );
    expect(accepted).toBeGreaterThan(800);
  });

  it("gives the same result again for what it gave", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...schemas), json, async (schema, value) => {
        const first = await schema.parse(value);
        if (!first.ok) return;
        const second = await schema.parse(first.value);
        expect(second).toEqual({ ok: true, value: first.value });
      }),
    );
  });
});

describe("coercion", () => {
  it("of text to a number is exact: writing the number gives the text again [T6]", async () => {
    const number = toSchema({ type: "number" }, input);
    const digits = fc.oneof(
      fc.bigInt().map(String),
      fc.double().map(String),
      fc.stringMatching(/^-?\d{1,20}(\.\d{1,5})?$/),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(digits, async (written) => {
        const result = await number.parse(written);
        if (!result.ok) return;
        expect(String(result.value)).toBe(written);
        if (/^-?\d+$/.test(written)) expect(BigInt(result.value as number).toString()).toBe(written);
      }),
    );
  });

  it("of numbers to text and back loses nothing, and integers always make the way", async () => {
    const asText = toSchema({ type: "string" }, input);
    const asNumber = toSchema({ type: "number" }, input);
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true })),
        async (number) => {
          const written = await asText.parse(number);
          if (Number.isSafeInteger(number) && !Object.is(number, -0)) expect(written.ok).toBe(true);
          if (!written.ok) return;
          expect(written.coerced).toEqual(["(root)"]);
          expect(await asNumber.parse(written.value)).toMatchObject({ ok: true, value: number });
        },
      ),
    );
  });

  it("never touches null, and never happens when nobody asked for it", async () => {
    const options = [{ ...input, coerce: "none" } as const, { name: "t", role: "output" } as const];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...options), typeName, json, async (option, wanted, value) => {
        const result = await toSchema({ type: wanted }, option).parse(value);
        if (result.ok) expect(result).toEqual({ ok: true, value });
        if (wanted !== "null") expect((await toSchema({ type: wanted }, input).parse(null)).ok).toBe(false);
      }),
    );
  });
});

function schemaOr(source: JsonSchema): Schema | undefined {
  try {
    return toSchema(source, input);
  } catch (error) {
    if (isWritError(error, "schema-invalid")) return undefined;
    throw error;
  }
}
