import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileGrammar } from "../../src/driver/grammar/grammar.ts";
import { numberExpression } from "../../src/driver/grammar/number-range.ts";
import { readPattern } from "../../src/driver/grammar/pattern.ts";
import { writes } from "../../src/driver/grammar/expression.ts";
import { isWritError } from "../../src/error/writ-error.ts";
import type { Schema } from "../../src/schema/schema.ts";
import { toSchema } from "../../src/schema/to-schema.ts";
import type { Json, JsonObject } from "../../src/util/json.ts";
import { readGbnf } from "../gbnf.ts";

const name = fc.constantFrom("a", "b", "ab", 'q"', "é");
const bound = fc.integer({ min: -40, max: 40 });
const size = fc.integer({ min: 0, max: 3 });
const some = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });

/** Without the keywords that are undefined, which JSON does not know. */
const schemaOf = (fields: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<JsonObject> =>
  fc.record(fields).map((schema) => JSON.parse(JSON.stringify(schema)) as JsonObject);

const plainValue = fc.oneof(bound, fc.constantFrom("a", "", "x y", null, true, 1.5), fc.constant({ a: 1 }));

/** Schemas of all that a grammar says; what it relaxes comes as well. */
const schemas = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    schemaOf({
      type: fc.constantFrom("integer", "number"),
      minimum: some(fc.oneof(bound, fc.double({ min: -2, max: 2, noNaN: true }))),
      exclusiveMaximum: some(bound),
    }),
    schemaOf({
      type: fc.constant("string"),
      minLength: some(size),
      maxLength: some(size),
      pattern: some(fc.constantFrom("^[a-z]*$", "a|b", "^(x|yy){1,2}", "[^a]$")),
    }),
    schemaOf({
      enum: fc.array(plainValue, { maxLength: 4 }),
      type: some(fc.constantFrom("string", "integer", "object")),
    }),
    fc.constantFrom<JsonObject>(
      {},
      { type: "boolean" },
      { type: "null" },
      { type: ["string", "null"] },
      { not: {} },
    ),
    schemaOf({
      type: some(fc.constant("array")),
      items: some(tie("schema")),
      prefixItems: some(fc.array(tie("schema"), { minLength: 1, maxLength: 2 })),
      minItems: some(size),
      maxItems: some(size),
    }),
    schemaOf({
      type: some(fc.constant("object")),
      properties: some(fc.dictionary(name, tie("schema"), { maxKeys: 3 })),
      required: some(fc.uniqueArray(name, { maxLength: 2 })),
      additionalProperties: some(fc.oneof(fc.boolean(), tie("schema"))),
      minProperties: some(fc.integer({ min: 0, max: 1 })),
    }),
    schemaOf({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }), minimum: some(bound) }),
    schemaOf({ allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
    schemaOf({ oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
    fc.constantFrom<JsonObject>({ $ref: "#" }, { properties: { a: { $ref: "#/$defs/d" } } }),
  ),
})).schema;

const withDefinition = schemas.map((schema): JsonObject => ({
  ...schema,
  $defs: { d: { type: "integer", minimum: 3 } },
}));

/** Undefined for a schema that leads to itself in a circle, which is refused. */
function readerOf(schema: JsonObject): Schema | undefined {
  try {
    return toSchema(schema, { name: "random", role: "input", coerce: "none" });
  } catch (error) {
    if (isWritError(error, "schema-invalid")) return undefined;
    throw error;
  }
}

/** A walk that is told by its seed. */
const randomOf = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

describe("grammars of random schemas", () => {
  it("write nothing that a schema refuses, unless they say what they leave to validation", async () => {
    let strict = 0;
    await fc.assert(
      fc.asyncProperty(withDefinition, fc.integer(), async (schema, seed) => {
        const { grammar, relaxed } = compileGrammar(schema);
        const gbnf = readGbnf(grammar);
        const text = gbnf.sample(randomOf(seed));
        if (text === undefined) return;
        expect(gbnf.matches(text)).toBe(true);
        const value = JSON.parse(text) as Json;
        const reader = readerOf(schema);
        if (relaxed.length > 0 || reader === undefined) return;
        strict += 1;
        expect(await reader.parse(value), text).toMatchObject({ ok: true });
      }),
      { numRuns: 600 },
    );
    expect(strict).toBeGreaterThan(200);
  });

  it("write every value that a closed schema of objects permits, in its order", () => {
    const leaf = fc.constantFrom<JsonObject>(
      { type: "integer" },
      { type: "string" },
      { type: "number" },
      { type: "boolean" },
    );
    const closed = fc.record({
      properties: fc.dictionary(name, leaf, { minKeys: 1 }),
      required: fc.subarray(["a", "b", "ab"]),
    });
    const values: Readonly<Record<string, fc.Arbitrary<Json>>> = {
      integer: fc.maxSafeInteger(),
      string: fc.string({ unit: "binary" }),
      number: fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }),
      boolean: fc.boolean(),
    };
    const both = closed.chain(({ properties, required }) => {
      const known = required.filter((one) => Object.hasOwn(properties, one));
      const fields = Object.fromEntries(
        Object.entries(properties).map(([key, { type }]) => {
          const value = values[type as string] ?? fc.constant(null);
          return [key, known.includes(key) ? value : fc.option(value, { nil: undefined })];
        }),
      );
      return fc.tuple(fc.constant({ type: "object", properties, required: known }), fc.record(fields));
    });
    fc.assert(
      fc.property(both, ([schema, value]) => {
        expect(readGbnf(compileGrammar(schema).grammar).matches(JSON.stringify(value))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it("are made of any JSON, without a throw, and can be read", () => {
    const keyword = fc.constantFrom(
      ..."type enum const anyOf oneOf allOf not if then items prefixItems properties required pattern minimum $ref".split(
        " ",
      ),
      ..."maxLength minItems additionalProperties patternProperties propertyNames format $defs dependentRequired".split(
        " ",
      ),
    );
    const json = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<Json>(
          "object",
          "array",
          "string",
          "integer",
          "(",
          "^a$",
          "#",
          "#/$defs/a",
          null,
          true,
          false,
          3,
          -1,
        ),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(keyword, tie("value"), { maxKeys: 4 }),
      ),
    })).value;
    fc.assert(
      fc.property(fc.dictionary(keyword, json, { maxKeys: 5 }), (schema) => {
        expect(() => readGbnf(compileGrammar(schema).grammar)).not.toThrow();
      }),
      { numRuns: 1000 },
    );
  });
});

describe("the parts of grammars", () => {
  it("keep integers in their bounds, to the digit", () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.nat(5000),
        fc.integer({ min: -6000, max: 6000 }),
        (least, width, offset) => {
          const { expression } = numberExpression({ least, most: least + width, isInteger: true });
          const value = least + offset;
          expect(writes(expression, String(value))).toBe(offset >= 0 && offset <= width);
        },
      ),
    );
  });

  it("read patterns as regular expressions are", () => {
    const piece = fc.constantFrom(
      "a",
      "b",
      "[ab]",
      "[^a]",
      ".",
      String.raw`\d`,
      String.raw`\.`,
      "(?:a|bc)",
      "(b)",
      "x?",
      "a*",
      "b+?",
      "c{2}",
      "1{1,2}",
    );
    const pattern = fc
      .tuple(
        fc.constantFrom("", "^"),
        fc.array(piece, { maxLength: 4 }),
        fc.constantFrom("", "$"),
        fc.constantFrom("", "|a$", "|^b"),
      )
      .map(([start, pieces, end, other]) => start + pieces.join("") + end + other);
    const texts = fc.string({ unit: fc.constantFrom("a", "b", "c", "x", "1", ".", "\n"), maxLength: 6 });
    fc.assert(
      fc.property(pattern, texts, (source, text) => {
        const reading = readPattern(source);
        expect("expression" in reading && writes(reading.expression, text)).toBe(
          new RegExp(source).test(text),
        );
      }),
      { numRuns: 1000 },
    );
  });
});
