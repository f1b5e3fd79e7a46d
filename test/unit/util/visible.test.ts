import { expect, it } from "vitest";
import { visible, visibleText } from "../../../src/util/visible.ts";

it("writes out each character that is not drawn, also those of lines", () => {
  expect(visible("a\u200b\n\u202eb")).toBe(String.raw`a\u{200b}\u{a}\u{202e}b`);
});

it.each([
  ["\u202Egnp.exe", String.raw`\u{202e}gnp.exe`],
  ["a\u{e0041}b", String.raw`a\u{e0041}b`],
  ["a\0\u001b[2Jb", String.raw`a\u{0}\u{1b}[2Jb`],
  ["one\n\ttwo\r\n", "one\n\ttwo\r\n"],
  ["می\u200cروم 👨\u200d👩 ❤\ufe0f", "می\u200cروم 👨\u200d👩 ❤\ufe0f"],
])("leaves in a text of several lines what it needs, and writes out the rest: %j", (text, shown) => {
  expect(visibleText(text)).toBe(shown);
});
