import { describe, expect, it } from "vitest";
import { questionText } from "../../../src/cli/question-text.ts";
import type { ApprovalRequest } from "../../../src/policy/rules/approval-request.ts";

const style = (_style: unknown, text: string): string => text;

function asked(change: Partial<ApprovalRequest>): ApprovalRequest {
  return {
    agent: "clerk",
    skill: "clerk",
    turn: 1,
    callId: "1",
    tool: "shop/book",
    effect: "undeclared",
    arguments: {},
    rule: "elicitation",
    reason: "",
    values: [],
    label: { integrity: "untrusted", secrecy: "public", sources: ["mcp/shop"] },
    intent: { text: "", hash: "" },
    links: [],
    show: [],
    hash: "",
    path: ["clerk"],
    policy: "",
    ...change,
  };
}

describe("a question at the terminal", () => {
  it("shows all that a server asks, also what stands at its end", () => {
    const reason = `its server asks: ${"May I book the table by the window? ".repeat(20)}A yes costs 500 euros.`;
    expect(questionText(asked({ reason }), { style })).toContain(" A yes costs 500 euros.\n");
  });

  it("names all sources of what the model had read", () => {
    const sources = Array.from({ length: 40 }, (_each, index) => `tool/source_${index}`);
    const label = { integrity: "untrusted", secrecy: "public", sources: [...sources, "mcp/evil"] } as const;
    expect(questionText(asked({ label }), { style })).toContain("mcp/evil");
  });

  it("says of each value whether the person said it, or the tool's schema fills it in", () => {
    const values = [
      { path: "to", value: "ada", bound: true },
      { path: "text", value: "Hello", bound: false },
      { path: "priority", value: "normal", bound: true, default: true },
    ] as const;
    expect(questionText(asked({ values }), { style }).split("\n").slice(1, 4)).toEqual([
      '    to: "ada"  (you said it)',
      '    text: "Hello"  (you did not say it)',
      `    priority: "normal"  (the default of the tool's schema)`,
    ]);
  });
});
