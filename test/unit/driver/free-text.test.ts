import { describe, expect, it } from "vitest";
import { textWithout } from "../../../src/driver/free-text.ts";

describe("the grammar of text without a literal", () => {
  it("begins where its first sign leaves it: at the literal's second sign after its first one, else at the beginning", () => {
    const { expression, rules } = textWithout("@tool");
    for (const [sign, state] of [
      ["@", 1],
      ["t", 0],
      ["o", 0],
      ["l", 0],
    ])
      expect(expression).toContain(`"${sign}" text-${state} `);
    expect(rules).toHaveLength(5);
    expect(rules[4]).not.toContain('"l" text'); // nothing goes on from `@too` with the sign that ends it
    expect(rules[4]).toContain('"@" text-1');
  });
});
