import { describe, expect, it } from "vitest";
import { nodeIsNewEnough, oldestNode } from "../../../src/adapters/node-version.ts";
import { countOf, formatOf, lenientFormatOf, wordOf } from "../../../src/cli/options.ts";
import { packageVersion } from "../../../src/cli/package-version.ts";
import { readFileSync } from "node:fs";

describe("formatOf", () => {
  it.each([
    [{}, "text"],
    [{ json: true }, "json"],
    [{ outputFormat: "json" }, "json"],
    [{ outputFormat: "stream-json" }, "stream-json"],
    [{ json: true, outputFormat: "json" }, "json"],
  ] as const)("%o is %s", (flags, format) => expect(formatOf(flags)).toBe(format));

  it("refuses an unknown format and a contradiction, and still knows how to tell it", () => {
    expect(() => formatOf({ outputFormat: "xml" })).toThrow(
      expect.objectContaining({ code: "option-invalid" }),
    );
    expect(() => formatOf({ json: true, outputFormat: "text" })).toThrow(
      expect.objectContaining({ code: "option-invalid" }),
    );
    expect(lenientFormatOf({ json: true, outputFormat: "xml" })).toBe("json");
    expect(lenientFormatOf({ outputFormat: "xml" })).toBe("text");
  });
});

describe("countOf", () => {
  it("takes whole numbers from 1 on, and nothing else", () => {
    expect(countOf("--max-turns", "12")).toBe(12);
    for (const value of ["0", "-1", "1.5", "1e3", "many", "", " 3", "99999999999"]) {
      expect(() => countOf("--max-turns", value)).toThrow(
        expect.objectContaining({ code: "option-invalid" }),
      );
    }
  });
});

describe("wordOf", () => {
  it("takes a known word, and names them all otherwise", () => {
    expect(wordOf("--driver", "json", ["auto", "json"])).toBe("json");
    expect(() => wordOf("--driver", "constructor", ["auto", "json"])).toThrow(
      expect.objectContaining({
        message: '--driver cannot be "constructor".',
        hint: "It is one of: auto, json.",
      }),
    );
  });
});

describe("the version of Node", () => {
  it.each([
    ["22.18.0", true],
    ["22.17.9", false],
    ["22.9.0", false],
    ["20.20.2", false],
    ["24.0.0", true],
    ["100.1.0", true],
  ])("%s: %s", (version, isNew) => expect(nodeIsNewEnough(version)).toBe(isNew));

  it("is the one that package.json asks for", () => {
    const { engines, version } = JSON.parse(
      readFileSync(new URL("../../../package.json", import.meta.url), "utf8"),
    ) as {
      engines: { node: string };
      version: string;
    };
    expect(`${engines.node}.0`).toBe(`>=${oldestNode}`);
    expect(packageVersion()).toBe(version);
  });
});
