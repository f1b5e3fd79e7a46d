import { describe, expect, it } from "vitest";
import type { BfclAnswer, BfclCase } from "../bfcl/cases.ts";
import { type JudgedCall, wrongWith } from "../bfcl/judge.ts";
import type { Json, JsonObject } from "../../src/util/json.ts";

/** A case with one tool `f` of these parameters, all optional, and these allowed values. */
function caseOf(
  properties: JsonObject,
  allowed: BfclAnswer["arguments"],
  required: readonly string[] = [],
): BfclCase {
  return {
    id: "simple_python_0",
    category: "simple_python",
    messages: [{ role: "user", text: "?" }],
    functions: [{ name: "f", properties, required }],
    tools: [],
    answers: [{ name: "f", arguments: allowed }],
  };
}

function call(args: Json, name = "f"): JudgedCall {
  return { name, arguments: args };
}

/** The fault of `value` for one parameter of this schema. */
function fault(schema: JsonObject, allowed: readonly Json[], value: Json): string | undefined {
  return wrongWith(caseOf({ x: schema }, { x: allowed }), [call({ x: value })]);
}

const floats = { type: "array", items: { type: "float" } };
const texts = { type: "array", items: { type: "string" } };
const records = { type: "array", items: { type: "dict" } };

describe("the judge", () => {
  it.each<[what: string, schema: JsonObject, allowed: Json[], value: Json]>([
    ["an integer", { type: "integer" }, [5], 5],
    ["a whole number for a float", { type: "float" }, [5], 5],
    ["a float", { type: "float" }, [0.5], 0.5],
    ["a boolean", { type: "boolean" }, [true], true],
    ["another case, blanks and signs in a string", { type: "string" }, ["April 1, 2024"], "april 1 2024"],
    ["another kind of quote", { type: "string" }, ['say "hi"'], "Say 'hi'"],
    ["one of several strings", { type: "string" }, ["NYC", "New York"], "new york"],
    ["whole numbers in a list of floats", floats, [[1, 2]], [1, 2]],
    ["a list for a tuple", { type: "tuple", items: { type: "integer" } }, [[1, 2]], [1, 2]],
    ["strings in a list, written otherwise", texts, [["New York", "LA"]], ["new-york", "la"]],
    ["an empty list where it may be left out", texts, [["a"], ""], []],
    [
      "a dict with one of the values of each field",
      { type: "dict" },
      [{ a: [1, 2], b: ["x y"] }],
      { a: 2, b: "X-Y" },
    ],
    ["a dict without a field that may be left out", { type: "dict" }, [{ a: [1], b: [2, ""] }], { a: 1 }],
    ["a list of dicts in their order", records, [[{ a: [1] }, { a: [2] }]], [{ a: 1 }, { a: 2 }]],
    [
      "the name of a variable where the answer has it",
      { type: "array", items: { type: "integer" } },
      ["scores"],
      "scores",
    ],
    ["a string for any", { type: "any" }, ["rows"], "Rows"],
  ])("takes %s", (...[, schema, allowed, value]) => {
    expect(fault(schema, allowed, value)).toBeUndefined();
  });

  it.each<[what: string, schema: JsonObject, allowed: Json[], value: Json, says: string]>([
    ["another number", { type: "integer" }, [5], 6, "is 6, not one of [5]"],
    ["a fraction for an integer", { type: "integer" }, [5], 5.5, "is no integer: 5.5"],
    ["a number as text", { type: "integer" }, [5], "5", 'is no integer: "5"'],
    ["a boolean for a number", { type: "integer" }, [1], true, "is no integer: true"],
    ["a number for a boolean", { type: "boolean" }, [true], 1, "is no boolean: 1"],
    ["null", { type: "string" }, ["a", ""], null, "is no string: null"],
    ["a variable of another name", { type: "integer" }, ["size"], "Size", 'is "Size", not one of ["size"]'],
    ["a list in another order", floats, [[1, 2]], [2, 1], "is [2,1], not one of [[1,2]]"],
    ["text in a list of floats", floats, [[1, 2]], [1, "2"], 'is no array: [1,"2"]'],
    ["a list that is too long", texts, [["a"]], ["a", "b"], "not one of"],
    ["a dict with a strange field", { type: "dict" }, [{ a: [1] }], { a: 1, b: 2 }, "not one of"],
    [
      "a dict without a field that must be there",
      { type: "dict" },
      [{ a: [1], b: [2] }],
      { a: 1 },
      "not one of",
    ],
    ["a dict with a wrong value", { type: "dict" }, [{ a: [1] }], { a: 2 }, "not one of"],
    ["an empty dict for one that may be left out", { type: "dict" }, [""], {}, "not one of"],
    ["dicts in another order", records, [[{ a: [1] }, { a: [2] }]], [{ a: 2 }, { a: 1 }], "not one of"],
    ["too few dicts", records, [[{ a: [1] }, { a: [2] }]], [{ a: 1 }], "not one of"],
    ["a type that is none", { type: "date" }, ["x"], "x", "declared with a type that cannot be judged"],
  ])("refuses %s", (...[, schema, allowed, value, says]) => {
    expect(fault(schema, allowed, value)).toMatch(/^f: "x" is /);
    expect(fault(schema, allowed, value)).toContain(says);
  });

  const two = caseOf({ a: { type: "integer" }, b: { type: "integer" } }, { a: [1], b: [2, ""] }, ["a"]);

  it.each<[what: string, calls: JudgedCall[], says: string | undefined]>([
    ["an optional argument left out", [call({ a: 1 })], undefined],
    ["a required argument left out", [call({ b: 2 })], 'f lacks "a"'],
    ["an argument that is no parameter", [call({ a: 1, c: 3 })], 'f: "c" is no parameter'],
    ["another name", [call({ a: 1 }, "g")], "calls g, not f"],
    ["arguments that are no object", [call("1")], "f has no object of arguments"],
    ["no call", [], "makes 0 calls, not 1"],
    ["a call too many", [call({ a: 1 }), call({ a: 1 })], "makes 2 calls, not 1"],
  ])("knows %s", (_what, calls, says) => {
    expect(wrongWith(two, calls)).toBe(says);
  });

  it("wants an argument that the answer has, though the schema does not require it", () => {
    expect(wrongWith(caseOf({ a: { type: "integer" } }, { a: [1] }), [call({})])).toBe(
      'f lacks "a", which the answer has',
    );
  });

  it("refuses a parameter that the answer does not have", () => {
    const test = caseOf({ a: { type: "integer" }, b: { type: "integer" } }, { a: [1] });
    expect(wrongWith(test, [call({ a: 1, b: 2 })])).toBe('f: "b" is not in the answer');
  });

  const several: BfclCase = {
    ...two,
    category: "parallel_multiple",
    functions: ["f", "g"].map((name) => ({ name, properties: { a: { type: "integer" } }, required: ["a"] })),
    answers: [
      { name: "f", arguments: { a: [1, 2] } },
      { name: "f", arguments: { a: [1] } },
      { name: "g", arguments: { a: [3] } },
    ],
  };

  it("takes several calls in any order", () => {
    expect(wrongWith(several, [call({ a: 3 }, "g"), call({ a: 2 }), call({ a: 1 })])).toBeUndefined();
  });

  it("gives each answer the first call that fits it, as the leaderboard does", () => {
    expect(wrongWith(several, [call({ a: 1 }), call({ a: 2 }), call({ a: 3 }, "g")])).toContain('"a" is 2');
  });

  it("picks the tool by the answer, and wants that one", () => {
    const picked: BfclCase = { ...several, category: "multiple", answers: several.answers.slice(2) };
    expect(wrongWith(picked, [call({ a: 3 }, "g")])).toBeUndefined();
    expect(wrongWith(picked, [call({ a: 3 })])).toBe("calls f, not g");
  });

  it("wants no call where none is wanted, and any where one is", () => {
    const none: BfclCase = { ...two, category: "irrelevance", answers: [] };
    expect(wrongWith(none, [])).toBeUndefined();
    expect(wrongWith(none, [call({})])).toBe("calls f, and should not");
    const some: BfclCase = { ...two, category: "live_relevance", answers: [] };
    expect(wrongWith(some, [call({}, "anything")])).toBeUndefined();
    expect(wrongWith(some, [])).toBe("calls nothing");
  });
});
