import { describe, expect, it } from "vitest";
import { cut, widthOf, wrapped } from "../../../src/cli/text-width.ts";

describe("widthOf", () => {
  it.each([
    ["", 0],
    ["Oslo", 4],
    ["天気", 4],
    ["한국어", 6],
    ["né", 2],
    ["ne\u0301", 2],
    ["👩‍💻", 2],
    ["❤️", 2],
    ["\u001B[1mbold\u001B[22m", 4],
  ])("%j takes %i columns", (text, width) => expect(widthOf(text)).toBe(width));
});

describe("cut", () => {
  it("leaves what fits, and says that something is left out", () => {
    expect(cut("Oslo", 4)).toBe("Oslo");
    expect(cut("Oslo and Rome", 6)).toBe("Oslo …");
    expect(cut("Oslo", 0)).toBe("");
  });

  it("never takes half of a wide character", () => {
    for (let columns = 1; columns < 12; columns += 1) {
      const text = cut("天気は晴れです", columns);
      expect(widthOf(text)).toBeLessThanOrEqual(columns);
      expect(text.isWellFormed()).toBe(true);
    }
  });
});

describe("wrapped", () => {
  it("breaks between words, and has what goes on further to the right", () => {
    expect(wrapped("  one two three four", 12, 4)).toBe("  one two\n    three\n    four");
    expect(wrapped("short", 12, 4)).toBe("short");
  });

  it("leaves a word whole that is longer than a line", () => {
    expect(wrapped("see https://example.com/a/long/path now", 10, 2)).toBe(
      "see\n  https://example.com/a/long/path\n  now",
    );
  });
});
