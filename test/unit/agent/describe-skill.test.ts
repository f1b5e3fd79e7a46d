import { describe, expect, it } from "vitest";
import { z } from "zod";
import { describeSkill, skillContext } from "../../../src/agent/describe/describe-skill.ts";
import { skill } from "../../../src/agent/skill.ts";
import type { JsonSchema } from "../../../src/schema/schema.ts";
import { knowledge } from "../../../src/tool/knowledge.ts";
import { tool } from "../../../src/tool/tool.ts";

const add = tool({
  name: "add",
  description: "Add two numbers",
  inputSchema: { type: "object" },
  execute: () => 1,
});
const state = { text: "Q: When? A: At four.", loads: 0 };
const faq = knowledge({
  name: "faq",
  description: "Frequent questions",
  load: () => {
    state.loads += 1;
    return state.text;
  },
});
const prices = knowledge({ name: "prices", description: "What it costs", load: async () => ({ tea: 3 }) });

describe("describeSkill", () => {
  it("is Markdown of name, types with the words of their fields, description, tools and an index of knowledge; loads nothing [K5]", () => {
    const support = skill({
      name: "support",
      description: "Helps customers",
      tools: [[add], "multiply"],
      knowledge: [faq, prices],
      input: z.object({ question: z.string() }),
      output: z.object({ answer: z.string().describe("in one sentence"), sure: z.boolean().optional() }),
    });
    expect(describeSkill(support)).toBe(
      [
        "# support",
        "Helps customers",
        "Takes: { question: string }",
        "Gives: { answer: string (in one sentence), sure?: boolean }",
        "## Tools\n\n- add: Add two numbers\n- multiply",
        "## Knowledge, loaded when its name is called\n\n- faq: Frequent questions\n- prices: What it costs",
      ].join("\n\n"),
    );
    expect(state.loads).toBe(0);
  });

  it("says what a function gives, too", () => {
    const count = skill({
      name: "count",
      description: "Counts words",
      input: z.string(),
      output: z.object({ words: z.int().default(0) }),
      execute: (text) => ({ words: text.split(" ").length }),
    });
    expect(describeSkill(count)).toBe(
      ["# count", "Counts words", "Takes: string", "Gives: { words: integer }"].join("\n\n"),
    );
  });

  it("is short for a skill that has nothing", () => {
    expect(describeSkill(skill({ name: "a", description: "Does it", execute: () => 1 }))).toBe(
      "# a\n\nDoes it",
    );
  });

  it("gives the author's own words instead [K5]", () => {
    const own = skill({ name: "a", description: "b", tools: [add], modelDescription: "**Mine**" });
    expect(describeSkill(own)).toBe("**Mine**");
  });

  it("shows what a type has far inside as any: a prompt is no place for it", () => {
    let input: JsonSchema = { type: "string" };
    for (let depth = 0; depth < 8; depth += 1) input = { type: "array", items: input };
    const shown = describeSkill(skill({ name: "deep", description: "Deep", tools: [], input }));
    expect(shown).toContain("any[][][][][][]");
    expect(shown).not.toContain("string");
  });
});

describe("skillContext", () => {
  it("is the description and every entry under its name, in their order, loaded anew each time [K5, K4.4]", async () => {
    const plain = skill({ name: "a", description: "Helps", knowledge: [faq, prices], execute: () => 1 });
    expect(await skillContext(plain)).toBe(
      'Helps\n\n--- faq ---\nQ: When? A: At four.\n\n--- prices ---\n{"tea":3}',
    );
    state.text = "Closed.";
    expect(await skillContext(plain)).toContain("--- faq ---\nClosed.");
  });

  it("hands the signal to the loaders, and their errors on", async () => {
    const { signal } = new AbortController();
    const failing = knowledge({
      name: "down",
      description: "",
      load: (context) => {
        throw new Error(context.signal === signal ? "with the signal" : "without it");
      },
    });
    const given = skill({ name: "a", description: "", knowledge: [failing], tools: [] });
    await expect(skillContext(given, { signal })).rejects.toThrow("with the signal");
  });
});

describe("knowledge of a skill", () => {
  it("must be knowledge, and each name stands once", () => {
    expect(() => skill({ name: "a", description: "", tools: [], knowledge: [add as never] })).toThrow(
      'Skill "a": `knowledge` has "add", which is not made with knowledge(); list it in `tools`.',
    );
    expect(() => skill({ name: "a", description: "", execute: () => 1, knowledge: [faq, faq] })).toThrow(
      'Two tools are called "faq" in skill "a"',
    );
  });
});
