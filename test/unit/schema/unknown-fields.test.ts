import { expect, it } from "vitest";
import { z } from "zod";
import { unknownFields } from "../../../src/schema/unknown-fields.ts";

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
