import { describe, expect, it } from "vitest";
import {
  boolean,
  count,
  either,
  finite,
  fits,
  having,
  list,
  map,
  misfitText,
  named,
  object,
  oneOf,
  optional,
  orNull,
  refined,
  type Shape,
  string,
  variants,
  whole,
} from "../../../src/util/shape.ts";

describe("a shape", () => {
  const cases: readonly (readonly [
    shape: Shape<unknown>,
    fitting: readonly unknown[],
    wrong: unknown,
    says: string,
  ])[] = [
    [string, ["", "x"], ["x"], "it must be a string, got a list"],
    [boolean, [true, false], undefined, "it must be true or false, got nothing"],
    [finite, [0, -1.5], Infinity, "it must be a finite number, got Infinity"],
    [count, [0, 1.5], -1, "it must be a number from 0 on, got -1"],
    [whole, [0, 7], 1.5, "it must be a whole number from 0 on, got 1.5"],
    [oneOf("a", "b"), ["a", "b"], "c", 'it must be "a" or "b", got "c"'],
    [oneOf("a", "b", "c", "d"), ["d"], null, "it must be one of a, b, c, d, got null"],
    [either(string, list(string)), ["x", ["x"]], 5, "it must be a string or a list, got 5"],
    [having("a journal", "step"), [{ step: () => 1 }], { step: 1 }, "it must be a journal, got an object"],
    [named("a name", string), ["x"], () => 1, "it must be a name, got a function"],
    [optional(string), ["x", undefined], null, "it must be a string, got null"],
    [orNull(string), ["x", undefined, null], 1, "it must be a string, got a number"],
    [list(string), [[], ["x"]], ["x", 1], "`[1]` must be a string, got a number"],
    [map(string), [{}, { a: "x" }], { a: "x", b: [] }, "`b` must be a string, got a list"],
    [
      object({ a: object({ b: list(string) }) }),
      [{ a: { b: [] }, more: 1 }],
      { a: { b: [null] } },
      "`a.b[0]` must be a string, got null",
    ],
    [object({ a: string }, "a person"), [{ a: "" }], [], "it must be a person, got a list"],
    [
      variants("type", { text: object({ text: string }) }),
      [{ type: "text", text: "" }],
      { type: "text" },
      "`text` must be a string, got nothing",
    ],
    [variants("type", { text: string }), [], { type: "toString" }, '`type` must be "text", got "toString"'],
    [
      refined(list(string), "must not be empty", ({ length }) => length > 0),
      [["x"]],
      [],
      "it must not be empty",
    ],
  ];
  it.each(cases)(
    "%# fits what it says, and names the place, what was expected and what is there",
    (...[shape, fitting, wrong, says]) => {
      for (const value of fitting)
        expect([fits(shape, value), misfitText(shape, value)]).toEqual([true, undefined]);
      expect([fits(shape, wrong), misfitText(shape, wrong)]).toEqual([false, says]);
    },
  );

  it("says what a field must be before the place in it that is wrong", () => {
    const names = list(oneOf("stop", "length"), "a list of reasons");
    expect(misfitText(names, ["stop", "lenght"], "endOn")).toBe(
      '`endOn` must be a list of reasons: `endOn[1]` must be "stop" or "length", got "lenght"',
    );
    expect(misfitText(names, "stop", "endOn")).toBe("`endOn` must be a list of reasons, got a string");
  });
});
