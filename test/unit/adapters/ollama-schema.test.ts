import { describe, expect, it } from "vitest";
import { z } from "zod";
import { toOllamaFormat, toOllamaParameters } from "../../../src/adapters/model/ollama-schema.ts";
import type { JsonSchema } from "../../../src/schema/schema.ts";

const any = ["object", "array", "string", "number", "boolean", "null"];

describe("schemas for a format", () => {
  it("leaves out what makes Ollama refuse a schema, and the pattern that ends the server", () => {
    const schema = z.toJSONSchema(
      z.object({ mail: z.email(), note: z.any().describe("anything") }),
    ) as JsonSchema;
    expect(JSON.stringify(schema)).toContain('"pattern"');
    expect(toOllamaFormat(schema)).toMatchObject({
      type: "object",
      properties: { mail: { type: "string", format: "email" }, note: { description: "anything", type: any } },
      required: ["mail", "note"],
    });
    expect(JSON.stringify(toOllamaFormat(schema))).not.toContain('"pattern"');
  });

  it("opens what cannot be said: true, false, negations, anchors and the schema inside itself", () => {
    const schema: JsonSchema = {
      type: "object",
      properties: {
        pattern: { type: "string" },
        yes: true,
        not: { not: { type: "string" } },
        if: { type: "integer", if: { minimum: 1 }, else: { maximum: 2 } },
        anchor: { $ref: "#here" },
        nowhere: { $ref: "#/$defs/nowhere" },
        insideNot: { $ref: "#/properties/not/not" },
        root: { $ref: "#" },
        tuple: { type: "array", prefixItems: [{ type: "integer" }, true], items: false },
        map: { type: "object", additionalProperties: true },
        known: { $ref: "#/$defs/known" },
        choice: { oneOf: [{ const: { not: 1 } }, { enum: ["pattern"] }] },
      },
      additionalProperties: false,
      $defs: { known: { $anchor: "here", type: "string", pattern: "^(?=x)y$" } },
    };
    const before = JSON.stringify(schema);
    expect(toOllamaFormat(schema)).toEqual({
      type: "object",
      properties: {
        pattern: { type: "string" },
        yes: { type: any },
        not: { type: any },
        if: { type: "integer" },
        anchor: { type: any },
        nowhere: { type: any },
        insideNot: { type: any },
        root: { type: any },
        tuple: { type: "array", prefixItems: [{ type: "integer" }, { type: any }] },
        map: { type: "object", additionalProperties: true },
        known: { $ref: "#/$defs/known" },
        choice: { oneOf: [{ const: { not: 1 } }, { enum: ["pattern"] }] },
      },
      additionalProperties: false,
      $defs: { known: { $anchor: "here", type: "string" } },
    });
    expect(JSON.stringify(schema)).toBe(before);
    expect(toOllamaFormat(schema)).toBe(toOllamaFormat(schema));
  });
});

describe("schemas for the parameters of a tool", () => {
  it("stay as they are when Ollama knows all of it", () => {
    const schema: JsonSchema = {
      type: "object",
      properties: {
        city: { type: "string", description: "City" },
        days: { type: ["integer", "null"], minimum: 1 },
      },
      required: ["city"],
      additionalProperties: false,
    };
    expect(toOllamaParameters(schema)).toEqual(schema);
  });

  it("write references out, say const and oneOf in words it knows, and have no true or false", () => {
    const schema: JsonSchema = {
      properties: {
        place: { $ref: "#/$defs/place", description: "Where" },
        mode: { oneOf: [{ const: "fast" }, { $ref: "#/$defs/place" }] },
        anything: true,
        list: { type: "array", items: true },
      },
      $defs: { place: { type: "object", properties: { name: { type: "string" } }, description: "A place" } },
    };
    const place = { type: "object", properties: { name: { type: "string" } } };
    expect(toOllamaParameters(schema)).toEqual({
      type: "object",
      properties: {
        place: { ...place, description: "Where" },
        mode: { anyOf: [{ enum: ["fast"] }, { ...place, description: "A place" }] },
        anything: {},
        list: { type: "array", items: {} },
      },
    });
  });

  it("end where a schema leads to itself, and keep the definitions it needs then", () => {
    const tree: JsonSchema = {
      type: "object",
      properties: { kids: { type: "array", items: { $ref: "#/$defs/tree" } } },
    };
    const schema: JsonSchema = {
      type: "object",
      properties: { tree: { $ref: "#/$defs/tree" } },
      $defs: { tree },
    };
    expect(toOllamaParameters(schema)).toEqual({ type: "object", properties: { tree }, $defs: { tree } });
    const self: JsonSchema = { type: "object", properties: { again: { $ref: "#" } } };
    expect(JSON.stringify(toOllamaParameters(self)).length).toBeLessThan(300);
  });

  it("do not grow without bound when references double at each step", () => {
    const $defs: Record<string, JsonSchema> = { last: { type: "string" } };
    for (let step = 0; step < 40; step += 1) {
      const next = { $ref: `#/$defs/${step === 0 ? "last" : `step${step - 1}`}` };
      $defs[`step${step}`] = { type: "object", properties: { left: next, right: next } };
    }
    const schema: JsonSchema = { type: "object", properties: { root: { $ref: "#/$defs/step39" } }, $defs };
    expect(JSON.stringify(toOllamaParameters(schema)).length).toBeLessThan(20_000);
  });
});
