import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";
import { z as z3 } from "zod/v3";
import { isWritError } from "../../../src/error/writ-error.ts";
import { describeIssues, type JsonSchema, type ParseResult } from "../../../src/schema/schema.ts";
import { type SchemaSource, toSchema } from "../../../src/schema/to-schema.ts";

const input = { name: "forecast", role: "input" } as const;
const output = { name: "forecast", role: "output" } as const;

const libraries: readonly [library: string, source: SchemaSource][] = [
  [
    "zod",
    z.object({ city: z.string().describe("where"), days: z.int().default(3), note: z.string().optional() }),
  ],
  [
    "arktype",
    type({ city: type("string").describe("where"), days: "number.integer = 3", "note?": "string" }),
  ],
  [
    "valibot",
    toStandardJsonSchema(
      v.object({
        city: v.pipe(v.string(), v.description("where")),
        days: v.optional(v.pipe(v.number(), v.integer()), 3),
        note: v.optional(v.string()),
      }),
    ),
  ],
];

function sync(result: ParseResult<unknown> | Promise<ParseResult<unknown>>): ParseResult<unknown> {
  if (result instanceof Promise) throw new Error("expected a result, got a promise");
  return result;
}

function faultOf(
  source: unknown,
  role: "input" | "output" = "input",
): Error & { readonly hint: string; readonly code: string } {
  try {
    toSchema(source as SchemaSource, { name: "forecast", role });
  } catch (error) {
    if (isWritError(error)) return error;
    throw error;
  }
  throw new Error("expected toSchema to throw");
}

describe.each(libraries)("toSchema of a %s schema", (_library, source) => {
  const schema = toSchema(source, input);

  it("shows the model an object that is closed, with descriptions, where defaults are not required [T5, G1.1]", () => {
    expect(schema.jsonSchema).toMatchObject({
      type: "object",
      properties: {
        city: { type: "string", description: "where" },
        days: { type: "integer" },
        note: { type: "string" },
      },
      required: ["city"],
      additionalProperties: false,
    });
    expect(schema.jsonSchema).not.toHaveProperty("$schema");
  });

  it("parses without a promise and fills defaults in what it returns", () => {
    const value = { city: "Oslo" };
    expect(schema.parse(value)).toEqual({ ok: true, value: { city: "Oslo", days: 3 } });
    expect(value).toEqual({ city: "Oslo" });
  });

  it("names the path of each issue once", () => {
    const result = sync(schema.parse({ city: null, days: "soon" }));
    expect(result).toMatchObject({ ok: false, issues: [{ path: ["city"] }, { path: ["days"] }] });
    if (result.ok) return;
    expect(describeIssues(result.issues)).toMatch(/^city: (?!city).+; days: (?!days).+/);
  });

  it("coerces input, says what it coerced, and leaves output alone", () => {
    expect(schema.parse({ city: 42, days: "4" })).toEqual({
      ok: true,
      value: { city: "42", days: 4 },
      coerced: ["city", "days"],
    });
    expect(sync(toSchema(source, output).parse({ city: 42, days: 4 })).ok).toBe(false);
    expect(sync(toSchema(source, { ...input, coerce: "none" }).parse({ city: 42 })).ok).toBe(false);
  });
});

describe("what the model is shown", () => {
  it("is the side of a transforming schema that the role says", () => {
    const source = z.object({ days: z.string().transform(Number).pipe(z.number()) });
    expect(toSchema(source, input).jsonSchema).toMatchObject({ properties: { days: { type: "string" } } });
    expect(toSchema(source, output).jsonSchema).toMatchObject({ properties: { days: { type: "number" } } });
  });

  it("leaves an object open whose author said so, and alternatives untouched", () => {
    expect(toSchema(z.looseObject({ a: z.string() }), input).jsonSchema["additionalProperties"]).not.toBe(
      false,
    );
    expect(toSchema(z.record(z.string(), z.number()), input).jsonSchema["additionalProperties"]).toEqual({
      type: "number",
    });
    const either = z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]);
    expect(toSchema(either, input).jsonSchema).not.toHaveProperty("additionalProperties");
    const both = z.intersection(z.object({ a: z.string() }), either);
    expect(toSchema(both, input).jsonSchema).not.toHaveProperty("additionalProperties");
  });

  it("keeps the references of a recursive schema", () => {
    const Node = z.object({
      value: z.number(),
      get children() {
        return z.array(Node).default([]);
      },
    });
    const schema = toSchema(Node, input);
    expect(JSON.stringify(schema.jsonSchema)).toContain('"$ref"');
    expect(schema.parse({ value: 1, children: [{ value: "2", children: '[{"value":"3"}]' }] })).toEqual({
      ok: true,
      value: { value: 1, children: [{ value: 2, children: [{ value: 3, children: [] }] }] },
      coerced: ["children[0].value", "children[0].children", "children[0].children[0].value"],
    });
  });
});

describe("a schema that cannot be used fails when it is defined", () => {
  it.each<readonly [what: string, source: unknown, reason: RegExp]>([
    ["nothing", undefined, /"forecast" cannot be used: it is missing/],
    ["null", null, /it is null/],
    ["a list", [], /it is a list/],
    ["a function", () => true, /it is a function/],
    ["text", "string", /it is a string/],
    [
      "a plain object of schemas",
      { city: z.string() },
      /"city" is a Standard Schema inside a plain object.+z\.object/,
    ],
    ["a half Standard Schema", { "~standard": { vendor: "x" } }, /no `~standard\.validate`/],
    ["what has no JSON form", z.object({ when: z.date() }), /zod cannot describe it as JSON Schema: Date/],
  ])("%s", (_what, source, reason) => {
    const fault = faultOf(source);
    expect(fault.code).toBe("schema-invalid");
    expect(fault.message).toMatch(reason);
    expect(fault.message).toContain("The input schema of");
  });

  it("names the role", () => {
    expect(faultOf(1, "output").message).toContain('The output schema of "forecast"');
  });

  it("tells how to wrap a valibot schema", () => {
    const fault = faultOf(v.object({ city: v.string() }));
    expect(fault.code).toBe("schema-without-json-schema");
    expect(fault.message).toContain("valibot");
    expect(fault.hint).toContain('import { toStandardJsonSchema } from "@valibot/to-json-schema"');
    expect(fault.hint).toContain("toStandardJsonSchema(schema)");
  });

  it.each([
    ["zod 3", z3.object({ city: z3.string() })],
    ["zod/mini", mini.object({ city: mini.string() })],
  ])("tells which zod can, and not to update one that is the newest: %s", (_what, source) => {
    const fault = faultOf(source);
    expect(fault.code).toBe("schema-without-json-schema");
    expect(fault.hint).toContain('Import it from "zod" 4.2 or later');
    expect(fault.hint).toContain("z.toJSONSchema(schema)");
  });

  it("takes what zod/mini makes of a schema as its JSON Schema", async () => {
    const source = mini.toJSONSchema(mini.object({ city: mini.string() })) as JsonSchema; // oxlint-disable-line typescript/no-unsafe-type-assertion -- it is one
    expect(await toSchema(source, input).parse({ city: "Oslo" })).toMatchObject({ ok: true });
    expect(await toSchema(source, input).parse({ town: "Oslo" })).toMatchObject({ ok: false });
  });

  it("tells other libraries what is missing", () => {
    const standard = { version: 1, validate: (value: unknown) => ({ value }) };
    expect(faultOf({ "~standard": { ...standard, vendor: "tiny" } }).hint).toContain("jsonSchema");
    expect(faultOf({ "~standard": { ...standard, vendor: "arktype" } }).hint).toContain("Update arktype");
  });
});

describe("parse never throws", () => {
  it("waits for a schema that is asynchronous, and coerces there too", async () => {
    const source = z.object({ days: z.number().refine((days) => Promise.resolve(days < 10)) });
    const pending = toSchema(source, input).parse({ days: "4" });
    await expect(Promise.resolve(pending)).resolves.toEqual({
      ok: true,
      value: { days: 4 },
      coerced: ["days"],
    });
    await expect(Promise.resolve(toSchema(source, input).parse({ days: 12 }))).resolves.toMatchObject({
      ok: false,
    });
  });

  it("turns what the author's code throws into an issue", async () => {
    const throwing = z.string().refine(() => {
      throw new Error("broken check");
    });
    const result = await toSchema(throwing, input).parse("x");
    expect(result).toEqual({
      ok: false,
      issues: [{ path: [], message: "the schema itself failed: broken check" }],
    });
  });

  it.each([undefined, null, "no", 5])("survives a library that answers %o", async (answer) => {
    const jsonSchema = { input: () => ({}), output: () => ({}) };
    const source = { "~standard": { version: 1, vendor: "odd", validate: () => answer, jsonSchema } };
    const result = await toSchema(source as unknown as SchemaSource, input).parse(1);
    expect(typeof result.ok).toBe("boolean");
  });

  it("reads symbols and segments in the paths of a library", () => {
    const issues = [{ message: "bad", path: [{ key: "list" }, 0, Symbol("tag")] }];
    const jsonSchema = { input: () => ({}), output: () => ({}) };
    const source = { "~standard": { version: 1, vendor: "odd", validate: () => ({ issues }), jsonSchema } };
    const result = sync(toSchema(source as unknown as SchemaSource, input).parse(1));
    expect(result).toEqual({ ok: false, issues: [{ path: ["list", 0, "Symbol(tag)"], message: "bad" }] });
  });

  it("reports ten issues and counts the rest", () => {
    const result = sync(toSchema(z.array(z.string()), input).parse(Array.from({ length: 25 }, () => null)));
    if (result.ok) throw new Error("expected issues");
    expect(result.issues).toHaveLength(11);
    expect(result.issues.at(-1)).toEqual({ path: [], message: "and 15 more" });
  });
});
