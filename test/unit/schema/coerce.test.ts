import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { JsonSchema, ParseResult } from "../../../src/schema/schema.ts";
import { toSchema } from "../../../src/schema/to-schema.ts";
import { parseJson } from "../../../src/util/json.ts";

const place = { name: "t", role: "input" } as const;

async function parse(schema: JsonSchema, value: unknown): Promise<ParseResult<unknown>> {
  return toSchema(schema, place).parse(value);
}

const field = (schema: JsonSchema): JsonSchema => ({
  type: "object",
  properties: { x: schema },
  required: ["x"],
});

describe("coercion without loss", () => {
  it.each<readonly [wanted: JsonSchema, given: unknown, becomes: unknown]>([
    [{ type: "string" }, 42, "42"],
    [{ type: "string" }, 1.5, "1.5"],
    [{ type: "string" }, true, "true"],
    [{ type: "integer" }, "42", 42],
    [{ type: "integer" }, "-7", -7],
    [{ type: "number" }, "0.1", 0.1],
    [{ type: "number" }, "1e+21", undefined],
    [{ type: "boolean" }, "false", false],
    [{ type: ["number", "null"] }, "3", 3],
    [{ enum: [1, 2] }, "2", 2],
    [{ enum: ["1", "2"] }, 2, "2"],
    [{ const: true }, "true", true],
    [{ anyOf: [{ const: "auto" }, { type: "number" }] }, "5", 5],
    [{ $ref: "#/$defs/n" }, "5", 5],
    [{ allOf: [{ minimum: 1 }, { type: "integer" }] }, "5", 5],
    [{ type: "object", additionalProperties: { type: "number" } }, '{"a":"1"}', { a: 1 }],
    [{ type: "array", items: { type: "number" } }, '["1",2]', [1, 2]],
    [{ type: "array", prefixItems: [{ type: "string" }], items: { type: "integer" } }, [1, "2"], ["1", 2]],
  ])("%o takes %o as %o", async (wanted, given, becomes) => {
    const schema = { ...field(wanted), $defs: { n: { type: "number" } } };
    const result = await parse(schema, { x: given });
    if (becomes === undefined) expect(result.ok).toBe(false);
    else expect(result).toMatchObject({ ok: true, value: { x: becomes } });
    if (becomes !== undefined) expect(result).toHaveProperty("coerced");
  });

  it.each<readonly [wanted: JsonSchema, given: unknown]>([
    [{ type: "integer" }, "abc"],
    [{ type: "integer" }, ""],
    [{ type: "integer" }, " 4"],
    [{ type: "integer" }, "4.0"],
    [{ type: "integer" }, "4.5"],
    [{ type: "integer" }, "0x10"],
    [{ type: "integer" }, "1e3"],
    [{ type: "number" }, "-0"],
    [{ type: "number" }, "NaN"],
    [{ type: "number" }, "Infinity"],
    [{ type: "number" }, "9007199254740993"],
    [{ type: "number" }, "123456789012345680000"],
    [{ type: "string" }, -0],
    [{ type: "string" }, 2 ** 53],
    [{ type: "string" }, Number.NaN],
    [{ type: "string" }, null],
    [{ type: "number" }, null],
    [{ type: "boolean" }, "True"],
    [{ type: "boolean" }, 1],
    [{ type: "object" }, "[1]"],
    [{ type: "object" }, "{"],
    [{ type: "object" }, '{"a":1,"a":2}'],
    [{ type: "array" }, '[{"a":1,"\\u0061":2}]'],
    [{ type: "object" }, [{}]],
    [{ type: "array" }, "{}"],
    [{ enum: [1, 2] }, "3"],
  ])("%o does not take %o", async (wanted, given) => {
    expect((await parse(field(wanted), { x: given })).ok).toBe(false);
  });

  it("leaves what fits as it is [T6]", async () => {
    expect(await parse(field({ type: ["string", "number"] }), { x: "5" })).toEqual({
      ok: true,
      value: { x: "5" },
    });
    expect(await parse(field({ type: "number" }), { x: 5 })).toEqual({ ok: true, value: { x: 5 } });
  });

  it("never rounds an integer that a double cannot hold [T6]", async () => {
    const parsed = parseJson('{"x":9007199254740993}');
    if (!parsed.ok) throw new Error(parsed.reason);
    expect(await parse(field({ type: "string" }), parsed.value)).toEqual({
      ok: true,
      value: { x: "9007199254740993" },
    });
    expect(await parse(field({ type: "integer" }), parsed.value)).toMatchObject({
      ok: false,
      issues: [{ path: ["x"] }],
    });
  });

  it("unwraps the whole arguments: JSON text, a list of one object, and what is inside", async () => {
    const schema = field({ type: "integer" });
    const whole = { ok: true, value: { x: 5 }, coerced: ["(root)", "x"] };
    expect(await parse(schema, '{"x":"5"}')).toEqual(whole);
    expect(await parse(schema, [{ x: "5" }])).toEqual(whole);
    expect(await parse(schema, '[{"x":"5"}]')).toMatchObject({ ok: false });
    expect(await parse(schema, [{ x: 1 }, { x: 2 }])).toMatchObject({ ok: false });
    expect(await parse({ type: ["object", "array"], items: { type: "number" } }, [{ x: 5 }])).toMatchObject({
      ok: false,
    });
  });

  it("does not pass hostile JSON text", async () => {
    expect(await parse(field({ type: "object" }), { x: '{"__proto__":{"polluted":1}}' })).toMatchObject({
      ok: false,
    });
    expect(await parse(field({ type: "object" }), { x: `${"[".repeat(99)}${"]".repeat(99)}` })).toMatchObject(
      { ok: false },
    );
  });

  it("copies only the way to what changed", async () => {
    const value = { x: "5", kept: { deep: [1] } };
    const result = await parse(field({ type: "integer" }), value);
    expect(value.x).toBe("5");
    expect(result).toEqual({ ok: true, value: { x: 5, kept: { deep: [1] } }, coerced: ["x"] });
    if (result.ok) expect((result.value as typeof value).kept).toBe(value.kept);
  });

  it("corrects a long list in one pass", async () => {
    const given = Array.from({ length: 500 }, (_, index) => String(index));
    const result = await parse({ type: "array", items: { type: "integer" } }, given);
    expect(result).toMatchObject({ ok: true, value: given.map(Number) });
  });

  it("tells what is wrong after it corrected what it could", async () => {
    const schema = { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } } };
    const result = await parse(schema, { a: "1", b: "one" });
    expect(result).toEqual({
      ok: false,
      issues: [{ path: ["b"], message: 'must be an integer, got "one"' }],
    });
  });
});

describe("coercion of a Standard Schema", () => {
  let schema: ReturnType<typeof toSchema>;
  beforeAll(() => {
    const kind = z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("a"), n: z.number() }),
      z.object({ kind: z.literal("b"), text: z.string() }),
    ]);
    schema = toSchema(
      z.object({
        kind,
        code: z.literal(5).optional(),
        either: z.union([z.number(), z.boolean()]).optional(),
      }),
      place,
    );
  });

  it("reaches into a discriminated union [T5]", () => {
    expect(schema.parse({ kind: { kind: "a", n: "1" } })).toMatchObject({
      ok: true,
      value: { kind: { n: 1 } },
    });
    expect(schema.parse({ kind: { kind: "b", text: 1 } })).toMatchObject({
      ok: true,
      value: { kind: { text: "1" } },
    });
  });

  it("meets literals and unions", () => {
    const result = schema.parse({ kind: '{"kind":"a","n":1}', code: "5", either: "true" });
    expect(result).toEqual({
      ok: true,
      value: { kind: { kind: "a", n: 1 }, code: 5, either: true },
      coerced: ["kind", "code", "either"],
    });
  });
});
