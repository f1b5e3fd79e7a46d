import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { isWritError } from "../../../src/error/writ-error.ts";
import { describeIssues, type JsonSchema } from "../../../src/schema/schema.ts";
import { type SchemaSource, toSchema } from "../../../src/schema/to-schema.ts";

const input = { name: "t", role: "input" } as const;

function reasonOf(source: unknown): string {
  try {
    toSchema(source as SchemaSource, input);
    return "nothing was wrong";
  } catch (error) {
    return isWritError(error, "schema-invalid") ? String(error.data.reason) : "another error";
  }
}

async function issuesOf(schema: JsonSchema, value: unknown): Promise<string> {
  const result = await toSchema(schema, { ...input, coerce: "none" }).parse(value);
  return result.ok ? "fits" : describeIssues(result.issues);
}

const preset = (name: string): JsonSchema => ({ properties: { [name]: { default: 1 } }, required: [name] });
const again: JsonSchema = { properties: { a: { $ref: "#" } } };

describe("the length of a text", () => {
  it.each(["ab", "a😀", "😀a", "😀😀", "a\uD83D", "\uDE00\uD83D"])(
    "of %j is two characters",
    async (text) => {
      const length = async (count: number) => issuesOf({ minLength: count, maxLength: count }, text);
      expect(await length(2)).toBe("fits");
      expect(await length(1)).not.toBe("fits");
      expect(await length(3)).not.toBe("fits");
    },
  );
});

describe("a multiple", () => {
  it.each([
    [0.3, 0.1, true],
    [19.99, 0.01, true],
    [-4.35, 0.01, true],
    [1e-7, 1e-8, true],
    [1e308, 0.5, true],
    [7, 2, false],
    [0.35, 0.1, false],
    [19.999, 0.01, false],
    [1e15, 0.7, false],
    [1e308, 0.123456789, false],
  ])("as numbers are written: %d of %d is %s", async (value, multipleOf, isOne) => {
    expect(await issuesOf({ multipleOf }, value)).toBe(isOne ? "fits" : `must be multiple of ${multipleOf}`);
  });
});

describe("what the model is shown of a JSON Schema", () => {
  const source: JsonSchema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    "x-vendor": true,
    properties: {
      a: { type: "integer", default: 1 },
      b: { type: "object", properties: { c: { default: "x" }, d: {} }, required: ["c", "d"] },
      e: { anyOf: [{ properties: { f: { default: 1 } }, required: ["f"] }, { type: "null" }] },
      g: { $ref: "#/$defs/g" },
    },
    required: ["a", "b"],
    $defs: { g: { properties: { h: { default: 1 } }, required: ["h"] } },
  };

  it("is what was given, where properties with a default are not required", () => {
    expect(toSchema(source, input).jsonSchema).toEqual({
      type: "object",
      "x-vendor": true,
      properties: {
        a: { type: "integer", default: 1 },
        b: { type: "object", properties: { c: { default: "x" }, d: {} }, required: ["d"] },
        e: { anyOf: [{ properties: { f: { default: 1 } }, required: ["f"] }, { type: "null" }] },
        g: { $ref: "#/$defs/g" },
      },
      required: ["b"],
      $defs: { g: { properties: { h: { default: 1 } }, required: [] } },
    });
  });

  it("stays as given for output", () => {
    const { $schema: _, ...rest } = source;
    expect(toSchema(source, { name: "t", role: "output" }).jsonSchema).toEqual(rest);
  });

  it("does not change when the author changes the source", async () => {
    const mine = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
    const schema = toSchema(mine, input);
    mine.required.push("b");
    mine.properties.a.type = "number";
    expect(schema.jsonSchema).toEqual({
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
    });
    expect((await schema.parse({ a: "x" })).ok).toBe(true);
  });

  it("takes the JSON Schema that zod makes, hidden properties and all", async () => {
    const schema = toSchema(z.toJSONSchema(z.object({ a: z.number() })) as JsonSchema, input);
    expect(schema.jsonSchema).toMatchObject({ type: "object", required: ["a"] });
    expect(await schema.parse({ a: 1 })).toEqual({ ok: true, value: { a: 1 } });
  });
});

describe("a value that does not fit", () => {
  it("is shown by its first forty characters", async () => {
    const parsed = await toSchema({ type: "string", enum: ["a"] }, input).parse("0123456789".repeat(5));
    const text = parsed.ok ? "" : describeIssues(parsed.issues);
    expect(text).toContain(`"${"0123456789".repeat(4)}…"`);
  });
});

describe("defaults", () => {
  it("are filled in a copy, wherever a value surely has the schema", async () => {
    const schema = toSchema(
      {
        properties: {
          a: { default: { list: [1] } },
          b: { $ref: "#/$defs/b" },
          c: { items: { $ref: "#/$defs/b" } },
        },
        additionalProperties: { properties: { z: { default: 0 } } },
        allOf: [{ properties: { e: { default: null } } }],
        $defs: { b: { properties: { d: { default: 2 } }, required: ["d"] } },
      },
      input,
    );
    const value = { b: {}, c: [{}, { d: 5 }], other: {} };
    const first = await schema.parse(value);
    expect(first).toEqual({
      ok: true,
      value: { a: { list: [1] }, b: { d: 2 }, c: [{ d: 2 }, { d: 5 }], other: { z: 0 }, e: null },
    });
    expect(value).toEqual({ b: {}, c: [{}, { d: 5 }], other: {} });
    if (first.ok) (first.value as { a: { list: number[] } }).a.list.push(2);
    expect(await schema.parse(value)).toMatchObject({ value: { a: { list: [1] } } });
  });

  it("are not filled in alternatives, where they would decide which one fits", async () => {
    const schema = toSchema(
      { oneOf: [{ $ref: "#/$defs/a" }, preset("b")], $defs: { a: preset("a") } },
      input,
    );
    expect(await schema.parse({ a: 5 })).toEqual({ ok: true, value: { a: 5 } });
    expect(await schema.parse({})).toMatchObject({ ok: false });
  });

  it("must fit like any value, and do not replace what is there", async () => {
    const schema = toSchema({ properties: { a: { type: "integer", default: 1 } } }, input);
    expect(await schema.parse({ a: null })).toMatchObject({ ok: false });
    expect(
      await toSchema({ properties: { a: { type: "integer", minimum: 2, default: 1 } } }, input).parse({}),
    ).toMatchObject({ ok: false });
  });

  it("of another type than their property are an author's slip, and fill nothing", async () => {
    const wrong = { type: "object", properties: { a: { type: "boolean", default: "false" } } } as const;
    expect(await toSchema(wrong, input).parse({})).toEqual({ ok: true, value: {} });
    const needed = toSchema({ ...wrong, required: ["a"] }, input);
    expect(needed.jsonSchema["required"]).toEqual(["a"]);
    expect(await needed.parse({})).toMatchObject({ ok: false });
  });

  it("return the value itself when nothing is missing", async () => {
    const value = { a: 2, b: [{ c: 1 }] };
    const result = await toSchema(
      { properties: { a: { default: 1 }, b: { items: { properties: { c: { default: 0 } } } } } },
      input,
    ).parse(value);
    expect(result.ok && result.value).toBe(value);
  });
});

describe("a wrong JSON Schema fails when it is defined", () => {
  const circle: Record<string, unknown> = { type: "object" };
  circle["properties"] = { circle };
  const nested = (depth: number): unknown => (depth === 0 ? {} : { not: nested(depth - 1) });

  it.each<readonly [reason: RegExp, source: unknown]>([
    [/no keyword of JSON Schema, only: city/, { city: { type: "string" } }],
    [/^"type" is "strng", which is no JSON type/, { type: "strng" }],
    [/^"type" is \["string","x"\]/, { type: ["string", "x"] }],
    [/^"properties\/a\/required" must be a list of property names/, { properties: { a: { required: "b" } } }],
    [/^"required" must be a list of property names/, { required: [1] }],
    [/^"properties" must be an object of schemas/, { properties: [] }],
    [/^"properties\/a" must be a schema/, { properties: { a: "string" } }],
    [/^"items" must be one schema; `prefixItems`/, { items: [{}] }],
    [/^"allOf" must be a list/, { allOf: {} }],
    [/^"allOf" must be a list/, { allOf: [] }],
    [/^"anyOf\/0" must be a schema/, { anyOf: [1] }],
    [/^"enum" must be a list/, { enum: "a" }],
    [/^"minimum" must be a number/, { minimum: "1" }],
    [/^"exclusiveMinimum" must be a number/, { minimum: 1, exclusiveMinimum: true }],
    [/^"maxLength" must be an integer of at least 0/, { maxLength: -1 }],
    [/^"multipleOf" must be a number above 0/, { multipleOf: 0 }],
    [/^"dependentRequired" must be an object of lists/, { dependentRequired: { a: "b" } }],
    [/^"description" must be a string/, { description: 1 }],
    [/^"properties\/a\/pattern" is no regular expression/, { properties: { a: { pattern: "(" } } }],
    [/^"patternProperties" is no regular expression/, { patternProperties: { "[": {} } }],
    [/with look-ahead, which cannot be matched in linear time/, { pattern: "a(?=b)" }],
    [/with a back-reference/, { pattern: "(a)\\1" }],
    [/refers to "https:\/\/example.com\/s".+nothing is fetched/, { $ref: "https://example.com/s" }],
    [/refers to "other.json"/, { properties: { a: { $ref: "other.json" } } }],
    [/refers to "#\/\$defs\/b", which is not in it/, { $ref: "#/$defs/b" }],
    [/refers to "#\/constructor", which is not in it/, { $ref: "#/constructor" }],
    [/refers to "#nope", which is not in it/, { $ref: "#nope" }],
    [/refers to "#\/%", which is not in it/, { $ref: "#/%" }],
    [/^"#\/title" must be a schema/, { title: "x", $ref: "#/title" }],
    [/circle that never reaches a part/, { $ref: "#" }],
    [
      /circle/,
      {
        allOf: [{ $ref: "#/$defs/a" }],
        $defs: { a: { not: { $ref: "#/$defs/b" } }, b: { $ref: "#/$defs/a" } },
      },
    ],
    [
      /several possible targets/,
      { $dynamicAnchor: "x", $defs: { b: { $id: "b", $dynamicAnchor: "x", not: { $dynamicRef: "#x" } } } },
    ],
    [/nested deeper than 256 keys, or holds itself/, circle],
    [/nested deeper than 256 keys/, nested(300)],
    [/"default" is a bigint, which JSON cannot hold/, { default: 1n }],
    [/"minimum" is NaN, which JSON cannot hold/, { minimum: Number.NaN }],
    [/"properties" has the key "__proto__", which is refused/, JSON.parse('{"properties":{"__proto__":{}}}')],
  ])("%s", (reason, source) => {
    expect(reasonOf(source)).toMatch(reason);
  });

  it.each<JsonSchema>([
    {},
    { title: "anything" },
    { type: "object", "x-order": 1, nullable: true, id: "old", $async: true },
    { $ref: "#/$defs/a%20b~1c", $defs: { "a b/c": true } },
    { $ref: "#/$defs/100%", $defs: { "100%": true } },
    { $ref: "#here", $defs: { a: { $anchor: "here" } } },
    { $ref: "#/components/a", components: { a: { $ref: "#/components/b" }, b: { type: "string" } } },
    { properties: { a: { $ref: "#" } } },
    { $dynamicAnchor: "node", properties: { a: { $dynamicRef: "#node" } } },
    {
      $id: "not a uri %",
      properties: { a: { $id: "inner", $ref: "#/$defs/b", $defs: { b: { type: "string" } } } },
    },
    { properties: { constructor: {}, toString: { type: "string" } }, required: ["valueOf"] },
    { definitions: { a: {} }, items: { $ref: "#/definitions/a" } },
  ])("%j is right, and can be compiled", async (schema) => {
    const result = await toSchema(schema, input).parse(null);
    expect(JSON.stringify(result)).not.toContain("cannot be checked");
  });
});

describe("issues of a JSON Schema", () => {
  const person: JsonSchema = {
    type: "object",
    properties: {
      name: { type: "string", minLength: 2 },
      age: { type: "integer", minimum: 0 },
      mood: { enum: ["good", "bad"] },
    },
    required: ["name"],
    additionalProperties: false,
  };

  it.each<readonly [value: unknown, issues: string]>([
    [{}, "name: missing"],
    [{ name: "Bo", agee: 1 }, "agee: unknown; known: name, age, mood"],
    [{ name: "B", age: -1 }, "name: must NOT have fewer than 2 characters; age: must be >= 0"],
    [{ name: "Bo", mood: "so-so" }, 'mood: must be one of "good", "bad", got "so-so"'],
    [{ name: ["Bo"] }, "name: must be a string, got a list"],
    [5, "must be an object, got 5"],
  ])("%j: %s", async (value, issues) => {
    expect(await issuesOf(person, value)).toBe(issues);
  });

  it("say in one place what several alternatives want", async () => {
    expect(await issuesOf({ anyOf: [{ type: "string" }, { type: ["null", "array"] }] }, 5)).toBe(
      "must be a string or null or a list, got 5",
    );
    expect(await issuesOf({ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 5)).toBe(
      "fits more than one alternative",
    );
    expect(await issuesOf({ not: { type: "number" } }, 5)).toBe("is what the schema forbids under `not`");
    expect(await issuesOf({ enum: [] }, 5)).toBe("is not allowed");
    expect(await issuesOf({ propertyNames: { maxLength: 2 } }, { long: 1 })).toMatch(
      /^long: this name must NOT/,
    );
    expect(await issuesOf({ dependentRequired: { a: ["b"] } }, { a: 1 })).toBe(
      'b: missing, since "a" is given',
    );
  });

  it("tell places in lists from names that are digits, and read escapes", async () => {
    const schema = { properties: { "a/b~c": { items: { properties: { "0": { type: "string" } } } } } };
    const result = await toSchema(schema, { ...input, coerce: "none" }).parse({ "a/b~c": [{ "0": 1 }] });
    expect(result).toMatchObject({ ok: false, issues: [{ path: ["a/b~c", 0, "0"] }] });
  });

  it("stay short for long values", async () => {
    expect((await issuesOf({ type: "number" }, "x".repeat(5000))).length).toBeLessThan(100);
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`key${index}`, 1]));
    expect((await issuesOf({ additionalProperties: false }, many)).split(";")).toHaveLength(11);
  });
});

describe("a foreign schema cannot do harm", () => {
  it("matches inherited names nowhere", async () => {
    expect(await issuesOf({ required: ["toString", "constructor"] }, {})).toBe(
      "toString: missing; constructor: missing",
    );
    const schema: JsonSchema = { properties: { toString: { type: "number" } }, additionalProperties: false };
    expect(await issuesOf(schema, {})).toBe("fits");
    expect(await issuesOf(schema, { valueOf: 1 })).toContain("valueOf: unknown");
    expect(await issuesOf({ dependentRequired: { toString: ["x"] } }, {})).toBe("fits");
  });

  it("keeps a hostile value's own __proto__ from the prototype", async () => {
    const value: unknown = JSON.parse('{"__proto__":{"polluted":"yes"},"a":"1"}');
    const schema: JsonSchema = { properties: { a: { type: "number" }, b: { default: 1 } } };
    const result = await toSchema(schema, input).parse(value);
    expect(result).toMatchObject({ ok: true, value: { a: 1, b: 1 } });
    if (result.ok) expect(Object.getPrototypeOf(result.value)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("stops references that meet again and again", async () => {
    const bomb: JsonSchema = { type: "object", anyOf: [again, again] };
    const filling: JsonSchema = {
      properties: { a: { allOf: [{ $ref: "#" }, { $ref: "#" }] }, b: { default: 1 } },
    };
    const deep = (end: string): unknown => JSON.parse(`${'{"a":'.repeat(40)}${end}${"}".repeat(40)}`);
    expect(await issuesOf(bomb, deep("5"))).toContain("too large for its schema");
    expect(await issuesOf(filling, deep("{}"))).toContain("too large for its schema");
    expect(await issuesOf(bomb, deep("{}"))).toBe("fits");
  });

  it("answers a value deeper than the stack with an issue", async () => {
    let deep: unknown = {};
    for (let index = 0; index < 50_000; index += 1) deep = { a: deep };
    expect(await issuesOf({ properties: { a: { $ref: "#" } } }, deep)).toContain("cannot be checked");
  });

  it("does not become asynchronous or loud by keywords of the validator", async () => {
    const schema = toSchema(
      { $async: true, $data: true, type: "object", format: "nope", discriminator: { propertyName: "x" } },
      input,
    );
    await schema.parse({});
    expect(schema.parse({})).toEqual({ ok: true, value: {} });
  });
});

describe("loading", () => {
  it("is of the engine for patterns alone, at the first parse that needs it; all else is synchronous", () => {
    const module = fileURLToPath(new URL("../../../src/schema/to-schema.ts", import.meta.url));
    const script = `
      import { toSchema } from ${JSON.stringify(module)};
      const options = { name: "t", role: "input" };
      const schema = toSchema({ type: "string", pattern: "a" }, options);
      const plain = toSchema({ type: "array" }, options).parse([]);
      const pending = schema.parse("a");
      console.log(JSON.stringify([plain, pending instanceof Promise, await pending, schema.parse("a")]));`;
    const run = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
    expect(JSON.parse(run.stdout)).toEqual([
      { ok: true, value: [] },
      true,
      { ok: true, value: "a" },
      { ok: true, value: "a" },
    ]);
  });
});
