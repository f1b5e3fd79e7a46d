import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openaiCompatible } from "../../../src/adapters/model/openai-compatible.ts";
import { agent } from "../../../src/index.ts";
import { filesUnder } from "../../../tools/source-files.ts";

describe("faults that a first user met", () => {
  it("a server on this machine may be a proxy: it is not free unless its author says so", () => {
    const baseUrl = "http://127.0.0.1:4000/v1";
    const define = (options: object) => () =>
      agent({
        name: "a",
        model: openaiCompatible("gpt-4o", { baseUrl, ...options }),
        budget: { costUsd: 0.000001 },
      });
    expect(define({})).toThrow(expect.objectContaining({ code: "budget-without-price" }));
    expect(define({ price: 0 })).not.toThrow();
  });

  it("the README says how to install it, with a hosted provider and without a key", () => {
    const readme = readFileSync("README.md", "utf8");
    for (const said of [
      /npm i writ zod @ai-sdk\/\w+/,
      /npm i writ zod ollama/,
      /model: "openai\//,
      /"ollama\//,
    ])
      expect(readme).toMatch(said);
  });

  it("no advice omits optional packages: npm removes those of the whole project then", () => {
    const told = [
      ...filesUnder("src", ".ts"),
      ...filesUnder("src/error/messages", ".md"),
      { path: "README.md", text: readFileSync("README.md", "utf8") },
    ];
    expect(told.length).toBeGreaterThan(300);
    for (const { path, text } of told) expect(text, path).not.toMatch(/npm i[^\n]*--omit=optional/);
  });
});
