import { describe, expect, it } from "vitest";
import { compileGrammar, grammarFor, type Relaxed } from "../../../src/driver/grammar/grammar.ts";
import { type Json, type JsonObject } from "../../../src/util/json.ts";
import { type Gbnf, readGbnf } from "../../gbnf.ts";

interface Case {
  readonly schema: JsonObject;
  /** Values in the order of the schema, written by `JSON.stringify`. */
  readonly writes: readonly Json[];
  readonly refuses: readonly Json[];
  /** The paths and keywords that are listed. Default: none. */
  readonly relaxed?: readonly string[];
}

const read = (schema: JsonObject): { readonly gbnf: Gbnf; readonly relaxed: readonly Relaxed[] } => {
  const { grammar, relaxed } = compileGrammar(schema);
  return { gbnf: readGbnf(grammar), relaxed };
};

function check({ schema, writes, refuses, relaxed: listed = [] }: Case): void {
  const { gbnf, relaxed } = read(schema);
  const written = (value: Json): boolean => gbnf.matches(JSON.stringify(value));
  expect(writes.filter((value) => !written(value))).toEqual([]);
  expect(refuses.filter(written)).toEqual([]);
  expect(relaxed.map(({ path, keyword }) => `${path} ${keyword}`)).toEqual(listed);
}

const person = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" } },
} as const;

describe("the grammar of objects", () => {
  it("lets each optional property be left out, in the order of the schema", () => {
    const properties = { a: { type: "number" }, b: { type: "string" }, c: { type: "boolean" } };
    check({
      schema: { type: "object", properties, required: ["b"] },
      writes: [{ b: "" }, { a: 1, b: "" }, { b: "", c: true }, { a: 1, b: "", c: false }],
      refuses: [{}, { a: 1 }, { b: "", a: 1 }, { b: 1 }, { b: "", d: 1 }],
    });
    check({
      schema: { type: "object", properties },
      writes: [
        {},
        { a: 1 },
        { b: "" },
        { c: true },
        { a: 1, c: true },
        { a: 1, b: "", c: true },
        { b: "", c: true },
      ],
      refuses: [{ c: true, a: 1 }, [], null],
    });
  });

  it("writes what is required but not described, and escapes names", () => {
    check({
      schema: { type: "object", properties: { 'a"\n': { type: "null" } }, required: ["é\\", 'a"\n'] },
      writes: [{ 'a"\n': null, "é\\": [1] }],
      refuses: [{ 'a"\n': null }],
    });
  });

  it("writes other properties by their schema, under names that are not taken", () => {
    const { gbnf } = read({ ...person, additionalProperties: { type: "integer" } });
    expect(gbnf.matches('{"name":"x","na":1,"names":2,"":3,"é":4}')).toBe(true);
    expect(gbnf.matches('{"na":"x"}')).toBe(false);
    for (const other of ['{"name":1}', '{"na\\u006de":1}', '{"x":1,"age":2.5}'])
      expect(gbnf.matches(other)).toBe(false);
    check({ schema: { type: "object" }, writes: [{}, { any: [1] }], refuses: [[]] });
    check({ schema: { ...person, additionalProperties: false }, writes: [{}], refuses: [{ x: 1 }] });
  });

  it("counts properties where none can be left out", () => {
    check({
      schema: {
        type: "object",
        additionalProperties: { type: "integer" },
        minProperties: 1,
        maxProperties: 2,
      },
      writes: [{ a: 1 }, { a: 1, b: 2 }],
      refuses: [{}, { a: 1, b: 2, c: 3 }],
    });
    check({ schema: { ...person, minProperties: 1 }, writes: [{ age: 1 }], refuses: [{}] });
    check({
      schema: { ...person, minProperties: 2 },
      writes: [{ name: "", age: 1 }],
      refuses: [{}],
      relaxed: [" minProperties"],
    });
  });

  it.each<JsonObject>([
    { minProperties: 3, maxProperties: 2 },
    { required: ["a", "b"], maxProperties: 1 },
    { properties: { a: {} }, additionalProperties: false, minProperties: 2 },
  ])("writes no object where no number of properties will do: %o", (counts) => {
    check({
      schema: { anyOf: [{ type: "object", ...counts }, { type: "null" }] },
      writes: [null],
      refuses: [{}, { a: 1 }, { a: 1, b: 2 }, { a: 1, b: 2, c: 3 }],
    });
  });

  it("tells names by one pattern or by a list, and lists what it cannot", () => {
    check({
      schema: {
        type: "object",
        patternProperties: { "^x-": { type: "integer" } },
        additionalProperties: false,
      },
      writes: [{}, { "x-a": 1, "x-": 2 }],
      refuses: [{ a: 1 }, { "x-a": "" }],
    });
    check({
      schema: {
        type: "object",
        propertyNames: { enum: ["a", "b"] },
        additionalProperties: { type: "integer" },
      },
      writes: [{}, { a: 1 }, { a: 1, b: 2 }],
      refuses: [{ c: 1 }, { a: "" }],
    });
    check({
      schema: {
        type: "object",
        propertyNames: { type: "string" },
        additionalProperties: { type: "integer" },
      },
      writes: [{ any: 1 }],
      refuses: [{ any: "" }],
    });
    check({
      schema: { type: "object", patternProperties: { a: { type: "integer" }, b: { type: "integer" } } },
      writes: [{ a: 1, b: 2 }],
      refuses: [[]],
      relaxed: [" patternProperties"],
    });
  });

  it("lets stand what only a condition speaks of, and lists the condition", () => {
    check({
      schema: {
        type: "object",
        properties: { kind: { enum: ["a", "b"] } },
        required: ["kind"],
        if: { properties: { kind: { const: "a" } } },
        else: { properties: { size: { type: "integer" } }, required: ["size"] },
        dependentRequired: { kind: ["why"] },
      },
      writes: [{ kind: "a", size: 1, why: "x" }, { kind: "b" }],
      refuses: [{ size: 1 }],
      relaxed: [" if", " dependentRequired"],
    });
  });
});

describe("the grammar of arrays", () => {
  it("counts items", () => {
    const items = { type: "integer" };
    check({ schema: { type: "array", items }, writes: [[], [1], [1, 2, 3]], refuses: [["1"], {}] });
    check({
      schema: { type: "array", items, minItems: 2, maxItems: 3 },
      writes: [
        [1, 2],
        [1, 2, 3],
      ],
      refuses: [[], [1], [1, 2, 3, 4]],
    });
    check({ schema: { type: "array", items, maxItems: 0 }, writes: [[]], refuses: [[1]] });
    check({
      schema: { type: "array", items, minItems: 500 },
      writes: [Array(500).fill(1)],
      refuses: [[1]],
      relaxed: [" minItems"],
    });
  });

  it("tells the first items by their place", () => {
    const prefixItems = [{ type: "string" }, { type: "integer" }];
    check({
      schema: { type: "array", prefixItems, items: false },
      writes: [[], ["a"], ["a", 1]],
      refuses: [[1], ["a", 1, 2]],
    });
    check({
      schema: { type: "array", prefixItems, minItems: 1, items: { type: "null" } },
      writes: [["a"], ["a", 1, null, null]],
      refuses: [[], ["a", null]],
    });
  });
});

describe("the grammar of values", () => {
  it("keeps integers in their bounds, exactly", () => {
    check({
      schema: { type: "integer", minimum: -12, exclusiveMaximum: 105 },
      writes: [-12, -9, 0, 7, 99, 104],
      refuses: [-13, -20, 105, 110, 1000, 1.5, "1"],
    });
    check({
      schema: { type: "integer" },
      writes: [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
      refuses: [0.1],
    });
    expect(read({ type: "integer" }).gbnf.matches("9007199254740993")).toBe(false);
    expect(read({ type: "integer" }).gbnf.matches("007")).toBe(false);
  });

  it("writes no number where none is in the bounds, and has left nothing out for that", () => {
    for (const type of ["integer", "number"])
      check({ schema: { type: [type, "null"], minimum: 3, maximum: 1 }, writes: [null], refuses: [1, 2, 3] });
  });

  it("keeps numbers in their bounds, and can write every double", () => {
    check({
      schema: { type: "number", exclusiveMinimum: 0, maximum: 2.5 },
      writes: [0.1, 1, 2.5, 2.49, 5e-324, 1e-7, 0.1 + 0.2, 0.000001],
      refuses: [0, -1, 2.51, 3, 1e21],
    });
    check({
      schema: { type: "number" },
      writes: [0.1 + 0.2, -1.5, 1e21, 1e-300, 1.6e308, 123456.789],
      refuses: ["1", true],
    });
    expect(read({ type: "number" }).gbnf.matches("1e999")).toBe(false);
    check({
      schema: { type: "number", minimum: 1e-9 },
      writes: [1e-9, 1],
      refuses: [0, -1],
      relaxed: [" minimum"],
    });
    for (const minimum of [2, 1e20])
      check({
        schema: { type: "number", minimum },
        writes: [1e21, 2.5e300],
        refuses: [1, -1e21],
        relaxed: minimum > Number.MAX_SAFE_INTEGER ? [" minimum"] : [],
      });
    check({
      schema: { type: "number", multipleOf: 0.5 },
      writes: [0.5],
      refuses: ["0.5"],
      relaxed: [" multipleOf"],
    });
  });

  it("keeps lengths and patterns of texts", () => {
    check({
      schema: { type: "string", minLength: 2, maxLength: 3 },
      writes: ["ab", 'a"\n', "日本😀"],
      refuses: ["a", "abcd"],
    });
    expect(read({ type: "string", minLength: 2 }).gbnf.matches(String.raw`"\ud83d\ude00"`)).toBe(false);
    check({
      schema: { type: "string", pattern: "^[a-z]+$", maxLength: 3 },
      writes: ["a", "abc"],
      refuses: ["", "A", "abcd"],
    });
    check({
      schema: { type: "string", pattern: String.raw`^\d{3}-(?:a|b\.)"?$` },
      writes: ["123-a", '000-b."'],
      refuses: ["12-a", "123-bx"],
    });
    check({ schema: { type: "string", pattern: "b+" }, writes: ["b", "abba", "\nb"], refuses: ["", "a"] });
    const controls = ["t", "n", "v", "f", "r", "0"].map((name) => `\\${name}`);
    for (const control of controls) {
      const pattern = new RegExp(`^${control}$`);
      const all = Array.from({ length: 32 }, (_, code) => String.fromCodePoint(code));
      check({
        schema: { type: "string", pattern: pattern.source },
        writes: all.filter((character) => pattern.test(character)),
        refuses: all.filter((character) => !pattern.test(character)),
      });
    }
    check({
      schema: { type: "string", pattern: "^(?!a)b" },
      writes: ["b", "x"],
      refuses: [1],
      relaxed: [" pattern"],
    });
    check({
      schema: { type: "string", pattern: "^a+b$", maxLength: 3 },
      writes: ["ab", "aab"],
      refuses: ["aa", "aaab"],
    });
    check({
      schema: { type: "string", pattern: "^a+b+$", maxLength: 3 },
      writes: ["aab", "aabb"],
      refuses: ["aa"],
      relaxed: [" maxLength"],
    });
    check({
      schema: { type: "string", pattern: "^a+$", maxLength: 90_000 },
      writes: ["a"],
      refuses: [""],
      relaxed: [" maxLength"],
    });
    check({
      schema: { type: "string", maxLength: 5000 },
      writes: ["x"],
      refuses: [1],
      relaxed: [" maxLength"],
    });
  });

  it("knows the usual formats, and lists the others", () => {
    check({
      schema: { type: "string", format: "date" },
      writes: ["2024-02-29", "1999-12-31"],
      refuses: ["2024-13-01", "2024-04-31", "2024-2-9"],
    });
    check({
      schema: { type: "string", format: "date-time" },
      writes: ["2024-02-29T23:59:59.5Z", "2024-01-01T00:00:00+02:00"],
      refuses: ["2024-01-01", "2024-01-01T24:00:00Z"],
    });
    check({
      schema: { type: "string", format: "ipv4" },
      writes: ["127.0.0.1", "255.255.255.255"],
      refuses: ["256.0.0.1", "01.0.0.1", "1.2.3"],
    });
    check({
      schema: { type: "string", format: "uuid" },
      writes: ["2eb8aa08-aa98-11ea-b4aa-73b441d16380"],
      refuses: ["2eb8aa08"],
    });
    check({
      schema: { type: "string", format: "email" },
      writes: ["a.b+c@example.org"],
      refuses: ["a@b", "a b@c.de", "@c.de"],
    });
    check({ schema: { type: "string", format: "uri" }, writes: ["x"], refuses: [1], relaxed: [" format"] });
  });

  it("writes the values of a list that fit what stands beside it", () => {
    check({
      schema: { enum: ["a", 1, null, { x: [1] }, 'q"'] },
      writes: ["a", 1, null, { x: [1] }, 'q"'],
      refuses: ["b", 2, {}, ""],
    });
    check({
      schema: { type: "string", enum: ["a", 1, "bb"], maxLength: 1 },
      writes: ["a"],
      refuses: [1, "bb"],
    });
    check({ schema: { const: "a b" }, writes: ["a b"], refuses: ["a"] });
    const many = Array.from({ length: 3000 }, (_, index) => `value ${index}😀`);
    check({
      schema: { enum: many },
      writes: [many[0] ?? "", many[2999] ?? "", many[77] ?? ""],
      refuses: ["value 3000😀", "value "],
    });
    check({ schema: { enum: ["x".repeat(200_000)] }, writes: ["x"], refuses: [], relaxed: [" enum"] });
  });

  it("takes what several schemas say of one value together", () => {
    check({
      schema: {
        anyOf: [
          { type: "string", maxLength: 1 },
          { type: "integer", minimum: 5 },
        ],
        type: ["string", "integer"],
      },
      writes: ["a", 5],
      refuses: ["ab", 4, null],
    });
    check({
      schema: {
        allOf: [
          { type: "object", properties: { a: { type: "integer", minimum: 1 } }, required: ["a"] },
          { properties: { a: { maximum: 3 }, b: { type: "null" } } },
        ],
      },
      writes: [{ a: 3 }, { a: 1, b: null }],
      refuses: [{ a: 0 }, { a: 4 }, { b: null }],
    });
    check({
      schema: {
        type: "object",
        properties: { id: { type: "integer" } },
        required: ["id"],
        oneOf: [
          { properties: { kind: { const: "a" } }, required: ["kind"] },
          { properties: { kind: { const: "b" }, n: { type: "integer" } }, required: ["kind"] },
        ],
      },
      writes: [
        { id: 1, kind: "a" },
        { id: 1, kind: "b", n: 2 },
      ],
      refuses: [{ id: 1 }, { id: 1, kind: "a", n: 2 }, { kind: "a" }],
    });
    check({ schema: { oneOf: [{ type: "string" }, { type: "integer" }] }, writes: ["a", 1], refuses: [1.5] });
    check({
      schema: { oneOf: [{ minimum: 2 }, { maximum: 5 }] },
      writes: [1, 3],
      refuses: [],
      relaxed: [" oneOf"],
    });
  });

  it("follows references, also to itself, and what stands beside them", () => {
    check({
      schema: {
        type: "object",
        properties: { children: { type: "array", items: { $ref: "#" } } },
        required: ["children"],
        additionalProperties: false,
      },
      writes: [{ children: [] }, { children: [{ children: [{ children: [] }] }] }],
      refuses: [{}, { children: [{}] }],
    });
    check({
      schema: {
        $defs: { a: { type: "object", properties: { x: { type: "string" } }, required: ["x"] } },
        $ref: "#/$defs/a",
        properties: { y: { type: "number" } },
        required: ["y"],
      },
      writes: [{ y: 1, x: "" }],
      refuses: [{ x: "" }, { y: 1 }],
    });
    check({
      schema: { $defs: { t: { $anchor: "t", type: "null" } }, items: { $ref: "#t" }, type: "array" },
      writes: [[null]],
      refuses: [[1]],
    });
  });

  it("leaves out the types that `not` forbids", () => {
    check({ schema: { not: { type: ["null", "string"] } }, writes: [1, [null]], refuses: [null, "a"] });
    check({ schema: { not: { type: "integer" } }, writes: [1.5], refuses: [], relaxed: [" not"] });
    check({ schema: { anyOf: [{ not: {} }, { type: "null" }] }, writes: [null], refuses: [1] });
  });

  it("takes a schema of true, of false, and of nothing", () => {
    check({ schema: {}, writes: [null, 1, [{ a: "x" }]], refuses: [] });
    check({
      schema: { type: "object", properties: { a: true, b: false } },
      writes: [{}, { a: [1] }],
      refuses: [{ b: 1 }],
    });
  });
});

describe("a grammar that cannot be what its schema is", () => {
  it.each<JsonObject>([
    { enum: [] },
    { type: "string", minLength: 3, maxLength: 2 },
    { type: "object", required: ["a"], properties: { a: false } },
    { type: "object", properties: { next: { $ref: "#" } }, required: ["next"] },
    { allOf: [{ type: "string" }, { type: "number" }] },
  ])("is that of any value, and says so: %j", (schema) => {
    check({ schema, writes: [1, "x", {}], refuses: [], relaxed: [" (whole)"] });
  });

  it("drops what nothing fits where it may be left out", () => {
    check({
      schema: { type: "object", properties: { a: { enum: [] }, b: { type: "null" } }, anyOf: [false, true] },
      writes: [{}, { b: null }],
      refuses: [{ a: 1 }],
    });
  });

  it("lists what it cannot say, where it stands", () => {
    const schema = {
      type: "object",
      properties: {
        "a/b": { type: "array", uniqueItems: true, contains: { type: "null" } },
        c: { not: { minLength: 1 } },
      },
    };
    expect(compileGrammar(schema).relaxed).toEqual([
      { path: "/properties/a~1b", keyword: "contains", reason: "a grammar cannot say it" },
      { path: "/properties/a~1b", keyword: "uniqueItems", reason: "a grammar cannot say it" },
      { path: "/properties/c", keyword: "not", reason: "a grammar cannot say it" },
    ]);
  });

  it("stays small, whatever is nested in what", () => {
    const deep = Array.from({ length: 200 }).reduce<JsonObject>(
      (inner) => ({ type: "array", items: inner }),
      {},
    );
    expect(compileGrammar(deep).relaxed.map(({ keyword }) => keyword)).toEqual(["(depth)"]);
    // Each alternative with each: 4^8 sets of parts.
    const wide = {
      allOf: Array.from({ length: 8 }, (_, place) => ({
        anyOf: Array.from({ length: 4 }, (_, option) => ({
          properties: { [`p${place}`]: { const: option } },
        })),
      })),
    };
    const { grammar, relaxed } = compileGrammar(wide);
    expect(relaxed.map(({ keyword }) => keyword)).toContain("(size)");
    expect(grammar.length).toBeLessThan(1_000_000);
  });
});

describe("the grammar of several schemas", () => {
  it("keeps the references of each inside it", () => {
    const tree = {
      type: "object",
      properties: { of: { type: "array", items: { $ref: "#" } } },
      required: ["of"],
      additionalProperties: false,
    };
    const list = { type: "array", items: { $ref: "#" }, maxItems: 1 };
    const gbnf = readGbnf(grammarFor([tree, list], ([a = "", b = ""]) => `"tree " ${a} | "list " ${b}`));
    expect(gbnf.matches('tree {"of":[{"of":[]}]}')).toBe(true);
    expect(gbnf.matches("list [[[]]]")).toBe(true);
    expect(gbnf.matches('list [{"of":[]}]')).toBe(false);
  });
});

describe("a schema that is not right", () => {
  it.each([
    [{ $ref: "#/nope" }, "which is not in it"],
    [{ type: "array", minItems: "3" }, '"minItems" must be an integer'],
    [{ "~standard": { version: 1 } }, "a schema of a library"],
  ])("is any value, and the list says why: %j", (schema, reason) => {
    const { relaxed } = compileGrammar(schema);
    expect(relaxed[0]).toMatchObject({ path: "", keyword: "(schema)" });
    expect(relaxed[0]?.reason).toContain(reason);
  });
});
