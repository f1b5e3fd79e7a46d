import { describe, expect, it } from "vitest";
import { bundleSchemas } from "../../../src/driver/bundle-schemas.ts";
import { compileGrammar } from "../../../src/driver/grammar/grammar.ts";
import { toSchema } from "../../../src/schema/to-schema.ts";
import type { JsonObject } from "../../../src/util/json.ts";
import { readGbnf } from "../../gbnf.ts";

const tree: JsonObject = {
  type: "object",
  properties: { value: { $ref: "#/$defs/value" }, children: { type: "array", items: { $ref: "#" } } },
  required: ["value"],
  additionalProperties: false,
  $defs: { value: { type: "number" } },
};
const anchored: JsonObject = {
  type: "array",
  items: { $ref: "#word" },
  $defs: { word: { $anchor: "word", type: "string" } },
};

function wholeOf(schemas: Readonly<Record<string, JsonObject>>): JsonObject {
  const bundle = bundleSchemas(schemas);
  const options = Object.keys(schemas).map((name) => ({
    type: "object",
    properties: { tool: { const: name }, args: bundle.at(name) },
    required: ["tool", "args"],
    additionalProperties: false,
  }));
  return { anyOf: options, ...bundle.root };
}

describe("schemas inside a larger one", () => {
  const whole = wholeOf({ "trees/grow": tree, words: anchored, plain: { type: "object" } });
  const valid = [
    { tool: "trees/grow", args: { value: 1, children: [{ value: 2 }] } },
    { tool: "words", args: ["a"] },
    { tool: "plain", args: { any: 1 } },
  ];
  const wrong = [
    { tool: "trees/grow", args: { value: 1, children: [{ value: "2" }] } },
    { tool: "trees/grow", args: { value: 1, children: [{ tool: "plain", args: {} }] } },
    { tool: "words", args: [1] },
  ];

  it("keep their references, whatever their names, for validation", async () => {
    const reader = toSchema(whole, { name: "whole", role: "input", coerce: "none" });
    for (const value of valid) expect(await reader.parse(value)).toMatchObject({ ok: true });
    for (const value of wrong) expect(await reader.parse(value)).toMatchObject({ ok: false });
  });

  it("keep their references for grammars", () => {
    const { grammar, relaxed } = compileGrammar(whole);
    const gbnf = readGbnf(grammar);
    expect(relaxed).toEqual([]);
    expect(valid.filter((value) => !gbnf.matches(JSON.stringify(value)))).toEqual([]);
    expect(wrong.filter((value) => gbnf.matches(JSON.stringify(value)))).toEqual([]);
  });

  it("stay in their place when they refer to nothing", () => {
    const bundle = bundleSchemas({ plain: { type: "object" } });
    expect(bundle.at("plain")).toEqual({ type: "object" });
    expect(bundle.root).toEqual({});
  });
});
