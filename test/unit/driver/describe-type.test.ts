import { describe, expect, it } from "vitest";
import { describeType } from "../../../src/driver/describe-type.ts";
import type { Json } from "../../../src/util/json.ts";

const choice = { enum: ["a", "b"] };

describe("a schema as models are shown it", () => {
  it.each<readonly [schema: Json, type: string]>([
    [{ type: "array", items: { type: "string" } }, "string[]"],
    [{ type: "array", items: choice }, '("a" | "b")[]'],
    [{ type: "array", items: { enum: ["a"] } }, '"a"[]'],
    [{ type: "array", items: { type: ["string", "null"] } }, "(string | null)[]"],
    [
      { type: "array", items: { anyOf: [{ type: "integer" }, { type: "array", items: choice }] } },
      '(integer | ("a" | "b")[])[]',
    ],
    [{ type: "array", items: { type: "object", properties: { c: choice } } }, '{ c?: "a" | "b" }[]'],
    [{ type: "object" }, "{}"],
    [{ type: "object", additionalProperties: { type: "number" } }, "{ [name: string]: number }"],
    [{ type: "object", additionalProperties: {} }, "{ [name: string]: any }"],
    [{ type: "object", additionalProperties: true }, "{ [name: string]: any }"],
    [{ type: "object", additionalProperties: false }, "{}"],
    [{ additionalProperties: { type: "number" } }, "any"],
    [
      { type: "object", propertyNames: choice, additionalProperties: { type: "number" } },
      '{ [name: "a" | "b"]: number }',
    ],
    [
      {
        type: "object",
        properties: { a: { type: "string" } },
        required: ["a"],
        patternProperties: { "^x-": { type: "array", items: choice } },
        additionalProperties: { type: "null" },
      },
      '{ a: string, [name: /^x-/]: ("a" | "b")[], [name: string]: null }',
    ],
    [{ anyOf: [{ type: "array", items: { type: "number" } }, { type: "null" }] }, "number[] | null"],
  ])("%j is %s", (schema, type) => {
    expect(describeType(schema)).toBe(type);
  });
});
