import { afterEach, describe, expect, it } from "vitest";
import { countText, durationText, oneLine, printable, shellWord, sizeText } from "../../../src/cli/output.ts";

describe("printable", () => {
  it("writes out what would steer a terminal, and keeps lines, tabs and letters", () => {
    expect(printable("a\u001B[2Jb\u009Bc\u202Ed\re\n\té👩‍👧")).toBe(
      "a\\u{1b}[2Jb\\u{9b}c\\u{202e}d\\u{d}e\n\té👩‍👧",
    );
  });
});

describe("shellWord", () => {
  const { platform } = process;
  afterEach(() => void Object.defineProperty(process, "platform", { value: platform }));

  it("has the quotes that every shell of the system knows", () => {
    expect(["a-b", "my agent", "it's"].map(shellWord)).toEqual(["a-b", "'my agent'", String.raw`'it'\''s'`]);
    Object.defineProperty(process, "platform", { value: "win32" });
    const path = String.raw`C:\Users\Ada Lovelace\a`;
    expect(["a-b", path, "it's"].map(shellWord)).toEqual(["a-b", `"${path}"`, `"it's"`]);
    for (const read of ["$(calc)", "a %PATH%", "a`b", 'a"b', "a\\"]) expect(shellWord(read)).toMatch(/^'/);
  });
});

describe("oneLine", () => {
  it("puts a text on one line and cuts it without half a character", () => {
    expect(oneLine("  a\n  b\t c ")).toBe("a b c");
    expect(oneLine("abcdef", 3)).toBe("abc…");
    expect(oneLine("ab😀cd", 3)).toBe("ab…");
    expect(oneLine("abc", 3)).toBe("abc");
  });
});

describe("durationText", () => {
  it.each([
    [0, "0 ms"],
    [999.4, "999 ms"],
    [1000, "1.0 s"],
    [8249, "8.2 s"],
    [59_949, "59.9 s"],
    [59_950, "1 min 0 s"],
    [185_000, "3 min 5 s"],
  ])("%d is %s", (ms, text) => expect(durationText(ms)).toBe(text));
});

describe("sizeText", () => {
  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1.0 kB"],
    [105_454_432, "105 MB"],
    [999_600_000, "1.0 GB"],
    [4_700_000_000, "4.7 GB"],
    [5e15, "5000 TB"],
  ])("%d is %s", (bytes, text) => expect(sizeText(bytes)).toBe(text));
});

it("counts things", () => {
  expect([countText(0, "call"), countText(1, "call"), countText(2, "call")]).toEqual([
    "0 calls",
    "1 call",
    "2 calls",
  ]);
});
