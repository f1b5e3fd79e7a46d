import { describe, expect, it } from "vitest";
import { pythonicDriver } from "../../../src/drivers.ts";
import { fakeTool } from "../../../src/testing.ts";
import type { JsonObject } from "../../../src/util/json.ts";
import { readGbnf } from "../../gbnf.ts";
import { turnOf } from "./turn.ts";

/** What the grammar of a turn with this tool writes of the calls. */
function written(inputSchema: JsonObject, calls: readonly string[]): readonly string[] {
  const tools = [fakeTool("f", "done", { inputSchema })];
  const turn = turnOf({ tools, toolChoice: "required", features: { format: "grammar" } });
  const { format } = pythonicDriver().request(turn);
  const gbnf = readGbnf(format?.type === "grammar" ? format.grammar : "");
  return calls.filter((call) => gbnf.matches(`[${call}]`));
}

describe("the grammar of pythonic", () => {
  it("writes the words of Python as values, and leaves those of JSON in texts alone", () => {
    const word = { type: "string", pattern: "^(true|null)$" };
    const right = ['f(word="true")', 'f(word="null", flag=True)', "f(flag=None)"];
    const wrong = ['f(word="True")', 'f(word="None")', "f(flag=true)", 'f(flag="True")'];
    const properties = { word, flag: { enum: [true, false, null] } };
    expect(written({ type: "object", properties }, [...right, ...wrong])).toEqual(right);
  });

  it("writes the arguments as one object where the schema says more of them than their names", () => {
    const a = { properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false };
    const b = { properties: { b: { type: "boolean" } }, required: ["b"], additionalProperties: false };
    const right = ['f(**{"a":"x"})', 'f(**{"b":True})'];
    expect(written({ type: "object", anyOf: [a, b] }, [...right, "f()", "f(**{})"])).toEqual(right);
    const $ref = "#/$defs/b";
    expect(written({ $ref, $defs: { b } }, [...right, "f()"])).toEqual(['f(**{"b":True})']);
  });

  it("writes what leads to the whole schema by the whole schema", () => {
    const properties = { v: { type: "integer" }, kids: { type: "array", items: { $ref: "#" } } };
    const tree = { type: "object", properties, required: ["v"], additionalProperties: false };
    const right = ['f(**{"v":1,"kids":[{"v":2}]})'];
    expect(written(tree, [...right, 'f(**{"v":1,"kids":[[{"v":2}]]})'])).toEqual(right);
  });

  it("writes arguments that an open schema does not name in an object behind the others", () => {
    const properties = { a: { type: "integer" } };
    const open = { type: "object", properties, required: ["a"], additionalProperties: { type: "boolean" } };
    const right = ["f(a=1)", 'f(a=1, **{"x":True})'];
    const wrong = ["f()", 'f(a=1, **{"a":True})', 'f(a=1, **{"x":1})', 'f(**{"x":True})'];
    expect(written(open, [...right, ...wrong])).toEqual(right);
    expect(written({ type: "object" }, ["f()", 'f(**{"x":1})', "f(1)"])).toEqual(["f()", 'f(**{"x":1})']);
    expect(written({ type: "object", properties: {} }, ["f()", 'f(**{"x":1})'])).toEqual(["f()"]);
  });
});
