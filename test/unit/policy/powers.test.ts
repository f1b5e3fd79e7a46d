import { describe, expect, it } from "vitest";
import { narrow, permits, whyNot } from "../../../src/policy/powers.ts";
import { fs, llm, net, type Resource } from "../../../src/tool/capability.ts";

const api: Resource = { kind: "net", protocol: "https:", host: "api.x.com", port: 443 };

describe("powers", () => {
  it("permits what every list covers, and nothing without a list [Y12, Y3.1]", () => {
    expect(permits([[net("*.x.com")], [net("api.x.com")]], api)).toBe(true);
    expect(permits([[net("*.x.com")], []], api)).toBe(false);
    expect(permits([[], [net("api.x.com")]], api)).toBe(false);
    expect(permits([[net("*.x.com")], [llm]], api)).toBe(false);
    expect(permits([], api)).toBe(false);
    expect(permits([[]], { kind: "llm" })).toBe(false);
  });

  it("covers one resource by different capabilities of each list", () => {
    const lists = [
      [fs.read("/a"), fs.read("/b")],
      [fs.read("/b/c"), fs.read("/z")],
    ];
    expect(permits(lists, { kind: "fs.read", path: "/b/c/d" })).toBe(true);
    expect(permits(lists, { kind: "fs.read", path: "/b/d" })).toBe(false);
    expect(permits(lists, { kind: "fs.read", path: "/a/x" })).toBe(false);
  });

  it("narrows", () => {
    const outer = [[net("*.x.com"), llm]];
    expect(permits(narrow(outer, [net("*")]), api)).toBe(true);
    expect(permits(narrow(outer, [net("*")]), { kind: "llm" })).toBe(false);
    expect(outer).toHaveLength(1);
  });

  it("says which list lacks it, and nothing of what the lists have", () => {
    const has = [net("*")];
    expect(whyNot([has, has, has], api)).toBeUndefined();
    expect(whyNot([has, has, [net("other.com")]], api)).toBe("The tool did not declare it.");
    expect(whyNot([has, [], has], api)).toBe("It was not granted.");
    expect(whyNot([[], has, has], api)).toBe(
      "What is around it (a call, a run, or the command line) does not grant it.",
    );
    expect(whyNot([], api)).toBe("Nothing is granted here.");
  });
});
