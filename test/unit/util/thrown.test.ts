import { expect, it } from "vitest";
import { thrownText } from "../../../src/util/thrown.ts";

it.each<readonly [what: string, thrown: unknown, text: string]>([
  ["an error", new Error("no line"), "no line"],
  ["an error without words", new TypeError(""), "TypeError"],
  ["a text", "no line", "no line"],
  ["nothing", undefined, "undefined"],
  ["an object with a message, as clients of databases throw", { message: "no line", code: "42" }, "no line"],
  ["an object without one", { status: 500, body: "secret" }, "an object with status, body"],
  ["an object without fields", {}, "an object without fields"],
  [
    "several errors, as of a refused connection",
    new AggregateError([new Error("::1 refused"), new Error("127.0.0.1 refused")]),
    "::1 refused; 127.0.0.1 refused",
  ],
  [
    "several errors, with words of their own",
    new AggregateError([new Error("a")], "All failed"),
    "All failed",
  ],
  ["none of several", new AggregateError([]), "AggregateError"],
])("says of %s that was thrown what it is about", (_, thrown, text) => {
  expect(thrownText(thrown)).toBe(text);
});
