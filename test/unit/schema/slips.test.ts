import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, skill, tool } from "../../../src/index.ts";
import type { JsonObject } from "../../../src/util/json.ts";

const told = (inputSchema: JsonObject) => () =>
  tool({ name: "send", description: "", inputSchema, execute: () => "" });

describe("a misspelt keyword of a JSON Schema", () => {
  it.each<[JsonObject, string]>([
    [
      { type: "object", property: { to: {} } },
      '"property" is not a keyword of JSON Schema; did you mean "properties"?',
    ],
    [{ type: "object", properties: { to: { tpye: "string" } } }, '"properties/to/tpye" is not a keyword'],
    [{ type: "object", properties: { to: { minlength: 3 } } }, 'did you mean "minLength"?'],
    [{ type: "object", properties: { to: { maxLenght: 3 } } }, 'did you mean "maxLength"?'],
    [{ type: "object", properties: { to: { enums: ["a"] } } }, 'did you mean "enum"?'],
    [{ type: "object", properties: { to: { type: "array", item: {} } } }, 'did you mean "items"?'],
    [{ type: "object", properties: {}, require: ["to"] }, 'did you mean "required"?'],
    [{ type: "object", additionalProperty: false }, 'did you mean "additionalProperties"?'],
    [{ type: "object", properties: { a: { anyOf: [{ patern: "^a" }] } } }, '"properties/a/anyOf/0/patern"'],
    [{ type: "object", properties: { a: { $ref: "#/defs/a" } }, defs: { a: {} } }, 'did you mean "$defs"?'],
  ])("is refused, with the one that is meant: %j", (schema, words) => {
    expect(told(schema)).toThrow(words);
  });

  it("is refused in what a tool gives, and in what agents and skills take and give", () => {
    const slip = { type: "object", property: {} } as const;
    const basic = { name: "a", model: () => "" };
    const about = { name: "a", description: "" };
    const makers = [
      () => tool({ ...about, inputSchema: { type: "object" }, outputSchema: slip, execute: () => ({}) }),
      () => agent({ ...basic, input: slip }),
      () => agent({ ...basic, output: slip }),
      () => agent({ ...basic, skills: [skill({ ...about, tools: [], output: slip })] }),
      () => agent({ name: "a", skills: [skill({ ...about, input: slip, execute: () => "" })] }),
    ];
    for (const make of makers) expect(make).toThrow(/"a" cannot be used: "property" is not a keyword/);
  });

  it.each<JsonObject>([
    { properties: { property: { type: "string" }, require: {}, tpye: {} } },
    { properties: { a: { "x-type": "string", "x-enum": [1] } } },
    {
      properties: {
        a: { example: ["a"], id: "a", cost: 5, note: "a", nullable: true, in: "query", when: "a" },
      },
    },
    {
      properties: {
        a: { type: "string", unit: "kg", widget: "area", count: 5, enumNames: ["a"], tags: ["a"] },
      },
    },
    { properties: { a: { const: { tpye: "object" }, default: { property: {} }, enum: [{ require: [] }] } } },
  ])("is no property, extension, note or value: %j", (schema) => {
    expect(told({ type: "object", ...schema })).not.toThrow();
  });

  it("is not looked for in what a library says of its schema", () => {
    const inputSchema = z.object({ a: z.string().meta({ typ: "string" }) });
    expect(() => tool({ name: "a", description: "", inputSchema, execute: () => "" })).not.toThrow();
  });
});
