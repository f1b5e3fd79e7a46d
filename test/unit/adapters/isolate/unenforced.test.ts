import { describe, expect, it, vi } from "vitest";
import { codeTool, enforcement, isolatedTool } from "../../../../src/adapters/isolate/isolate.ts";
import { contextOf } from "../../../contract/isolate-context.ts";

vi.mock(import("../../../../src/adapters/isolate/bubblewrap.ts"), () => ({
  boxes: async () => ({ works: false as const, reason: "bubblewrap (bwrap) is not installed", probes: [] }),
}));

const definition = {
  name: "untrusted",
  description: "",
  inputSchema: { type: "object" },
  module: new URL("../../../contract/isolate-modules/honest.ts", import.meta.url),
} as const;

describe("where nothing isolates", () => {
  it("a tool that is not trusted is not defined, and the reason is said", async () => {
    for (const allowUnenforced of [undefined, "", "  "])
      await expect(isolatedTool({ ...definition, allowUnenforced })).rejects.toMatchObject({
        code: "enforcement-unavailable",
        data: { tool: "untrusted", reason: "bubblewrap (bwrap) is not installed" },
      });
    expect((await enforcement())[0]).toMatchObject({
      level: "none",
      reason: "bubblewrap (bwrap) is not installed",
    });
  });

  it.each([
    ["another field", { foo: 1 }, /unknown field "foo"; known are module, export, files, (?!.*isCatalogued)/],
    ["a misspelt one", { allowUnenforce: "x" }, /did you mean "allowUnenforced"\?/],
    ["a function beside the module", { execute: () => 1 }, /unknown field "execute"/],
    ["no module", { module: undefined }, /`module` must be a path or a URL/],
    ["files that are no list", { files: "x" }, /`files` must be a list of paths and URLs/],
    ["a name of an export that is none", { export: 4 }, /`export` must be a string/],
  ])("a definition with %s is refused, and says what it may have", async (_, more, message) => {
    const wrong = { ...definition, ...more } as unknown as typeof definition; // as plain JavaScript may have it
    await expect(isolatedTool(wrong)).rejects.toMatchObject({
      code: "definition-invalid",
      message: expect.stringMatching(message),
    });
  });

  it("it runs in a plain process when the author says why, without any claim", async () => {
    const made = await isolatedTool({ ...definition, allowUnenforced: "a demonstration on my laptop" });
    expect(await made.execute({ words: ["a", "b"] }, contextOf())).toEqual({ text: "a b", calls: 1 });
    expect(made.enforcement?.()).toEqual({
      level: "none",
      mechanism: "plain process",
      platform: `${process.platform}-${process.arch}`,
      probes: [],
      unenforced: "a demonstration on my laptop",
    });
  });

  it("code that a model writes is isolated all the same: its interpreter is enough", async () => {
    const made = await codeTool({ timeoutMs: 300 });
    expect(await made.execute({ code: "6 * 7" }, contextOf())).toBe(42);
    expect(made.enforcement?.()?.probes.every(({ held }) => held)).toBe(true);
    const endless = async (): Promise<unknown> =>
      made.execute({ code: "new Array(1e9).join('x').length" }, contextOf());
    await expect(endless()).rejects.toMatchObject({ code: "isolate-failed" });
  });

  it.each([
    [{ memoryBytes: 1 }, "`memoryBytes` must be a number of at least 16000000"],
    [{ processes: 0 }, "`processes` must be a number of at least 1"],
    [{ idleMs: NaN }, "`idleMs` must be a number of at least 0"],
    [{ timeoutMs: -1 }, "`timeoutMs`"],
    [{ module: "./not-there.ts" }, "there is no file ./not-there.ts"],
  ])("nothing is defined by mistake: %j", async (wrong, reason) => {
    await expect(isolatedTool({ ...definition, allowUnenforced: "test", ...wrong })).rejects.toThrow(reason);
  });
});
