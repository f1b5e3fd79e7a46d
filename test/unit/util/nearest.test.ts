import { describe, expect, it } from "vitest";
import { nearest } from "../../../src/util/nearest.ts";

const known = ["name", "description", "tools", "toolsDeny", "toolChoice"];

describe("nearest", () => {
  it.each([
    ["tols", "tools"],
    ["tolos", "tools"],
    ["tools-deny", "toolsDeny"],
    ["TOOL_CHOICE", "toolChoice"],
    ["decsription", "description"],
    ["nmae", "name"],
    ["nam", "name"],
    ["nothing", undefined],
    ["tea", undefined],
    ["", undefined],
    ["x".repeat(1_000_000), undefined],
  ])("of %.20s is %s", (word, meant) => {
    expect(nearest(word, known)).toBe(meant);
  });

  it("is the first of two that are equally near", () => {
    expect(nearest("cat", ["bat", "rat"])).toBe("bat");
  });
});
