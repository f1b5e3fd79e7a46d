import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { JsonSchema, ParseResult, Schema } from "../../src/schema/schema.ts";
import {
  type InferInput,
  type InferOutput,
  type SchemaSource,
  toSchema,
} from "../../src/schema/to-schema.ts";

const ofZod = z.object({
  city: z.string(),
  days: z.int().default(3),
  at: z.string().transform((text) => text.length),
});
const ofArktype = type({ city: "string", days: "number.integer = 3", at: "string.integer.parse" });
const ofValibot = toStandardJsonSchema(
  v.object({
    city: v.string(),
    days: v.optional(v.number(), 3),
    at: v.pipe(
      v.string(),
      v.transform((text) => text.length),
    ),
  }),
);
const raw = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;

interface Parsed {
  city: string;
  days: number;
  at: number;
}

interface Given {
  city: string;
  days?: number | undefined;
  at: string;
}

describe("a schema source", () => {
  it("infers what parse returns", () => {
    expectTypeOf<InferOutput<typeof ofZod>>().toEqualTypeOf<Parsed>();
    expectTypeOf<InferOutput<typeof ofArktype>>().toEqualTypeOf<Parsed>();
    expectTypeOf<InferOutput<typeof ofValibot>>().toEqualTypeOf<Parsed>();
    expectTypeOf<InferOutput<typeof raw>>().toBeUnknown();
    expectTypeOf<InferOutput<JsonSchema>>().toBeUnknown();
    expectTypeOf<InferOutput<z.ZodString>>().toEqualTypeOf<string>();
  });

  it("infers what may be given", () => {
    expectTypeOf<InferInput<typeof ofZod>>().toEqualTypeOf<Given>();
    expectTypeOf<InferInput<typeof ofArktype>>().toExtend<Given>();
    expectTypeOf<InferInput<typeof ofValibot>>().toEqualTypeOf<Given>();
    expectTypeOf<InferInput<typeof raw>>().toBeUnknown();
  });

  it("gives a typed schema", () => {
    const schema = toSchema(ofZod, { name: "t", role: "input" });
    expectTypeOf(schema).toEqualTypeOf<Schema<Parsed>>();
    expectTypeOf(schema.parse({})).toEqualTypeOf<ParseResult<Parsed> | Promise<ParseResult<Parsed>>>();
    expectTypeOf(toSchema(raw, { name: "t", role: "input" })).toEqualTypeOf<Schema>();
    expectTypeOf(schema).toExtend<Schema>();
  });

  it("is a Standard Schema or a JSON Schema, and nothing else", () => {
    expectTypeOf<typeof ofZod>().toExtend<SchemaSource>();
    expectTypeOf<typeof ofArktype>().toExtend<SchemaSource>();
    expectTypeOf<typeof ofValibot>().toExtend<SchemaSource>();
    expectTypeOf<typeof raw>().toExtend<SchemaSource>();
    expectTypeOf<string>().not.toExtend<SchemaSource>();
    expectTypeOf<() => void>().not.toExtend<SchemaSource>();
    // @ts-expect-error a schema inside a plain object is none
    toSchema({ city: z.string() }, { name: "t", role: "input" });
    // @ts-expect-error a schema has one of two roles
    toSchema(raw, { name: "t", role: "reply" });
  });
});
