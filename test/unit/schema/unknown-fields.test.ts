import { expect, it } from "vitest";
import { z } from "zod";
import { describeIssues, type ParseResult } from "../../../src/schema/schema.ts";
import { toSchema } from "../../../src/schema/to-schema.ts";
import { refusingUnknown, unknownFields } from "../../../src/schema/unknown-fields.ts";

const closed = (fields: object, more: object = {}) => ({
  type: "object",
  properties: fields,
  additionalProperties: false,
  ...more,
});
const found = (value: unknown, schema: unknown): readonly string[] =>
  unknownFields(value, schema as never).map(({ path }) => path.join("."));

it.each([
  ["of an alternative that may be null too", { anyOf: [closed({ a: {} }, { type: ["object", "null"] })] }],
  ["of one whose tag is left out, and may be", { anyOf: [closed({ kind: { const: "a" }, a: {} })] }],
  [
    "of a union of zod whose tag may be left out",
    z.toJSONSchema(
      z.union([
        z.strictObject({ kind: z.literal("a").optional(), a: z.number() }),
        z.strictObject({ b: z.number() }),
      ]),
    ),
  ],
])("unknown fields are found %s", (_what, schema) => {
  expect(found({ a: 1, more: 2 }, schema)).toEqual(["more"]);
  expect(found({ a: 1 }, schema)).toEqual([]);
});

it("an alternative whose tag must be there is not meant by a value without it", () => {
  const tagged = closed({ kind: { const: "a" }, a: {} }, { required: ["kind"] });
  expect(found({ a: 1, more: 2 }, { anyOf: [tagged, closed({ more: {} })] })).toEqual(["a"]);
});

const item = z.object({ a: z.number() });

it.each([
  ["a tuple", z.tuple([item]), [{ a: 1 }], [{ a: 1, dryRun: true }], "x[0].dryRun"],
  ["a record", z.record(z.string(), item), { k: { a: 1 } }, { k: { a: 1, dryRun: true } }, "x.k.dryRun"],
  ["a list that may be null", z.array(item).nullable(), [{ a: 1 }], [{ a: 1, dryRun: true }], "x[0].dryRun"],
  ["an object with room", z.looseObject({ o: item }), { o: { a: 1 }, p: 1 }, { o: { a: 1, p: 1 } }, "x.o.p"],
  ["other fields of a kind", z.object({}).catchall(item), { k: { a: 1 } }, { k: { a: 1, p: 1 } }, "x.k.p"],
])("a call has no fields that zod would leave out of %s", (...[, schema, right, wrong, path]) => {
  const refusing = refusingUnknown(toSchema(z.object({ x: schema }), { name: "t", role: "input" }));
  expect(refusing.parse({ x: right })).toMatchObject({ ok: true });
  const result = refusing.parse({ x: wrong }) as ParseResult<unknown>;
  expect(result.ok ? "" : describeIssues(result.issues)).toBe(`${path}: unknown; known: a`);
});
