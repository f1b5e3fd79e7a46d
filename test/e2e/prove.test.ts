import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GuaranteeSheet } from "../../src/testing.ts";
import { root } from "../../tools/source-files.ts";
import { runNode, writ } from "./command-line.ts";

const agentText = `
import { agent, ask, policy } from "writ";
import { arg, within } from "writ/policy";
import { fakeTool } from "writ/testing";

const inputSchema = { type: "object", properties: { euro: { type: "number" } }, required: ["euro"], additionalProperties: false };
const refund = fakeTool("refund", "done", { effect: "irreversible", inputSchema });
const small = arg("euro").is(within({ max: 50 }));
const rules = { open: [{ verdict: "allow", tools: ["refund"], when: small }], held: [ask("refund")] };
const make = (own) => agent({ name: "desk", model: () => "", tools: [refund], policy: own });

export const desk = make(policy({ name: "refunds", rules: rules[process.env.RULES ?? "open"] }));
`;
const toolsText = `
import { fakeTool } from "writ/testing";

export const refund = fakeTool("refund", "done", { effect: "irreversible", inputSchema: { type: "object" } });
`;
const opaqueText = agentText
  .replace("make(policy(", "make((call) => policy(")
  .replace("] }));", "] })(call));");
const sentences = "sentences:\n  - { type: never, tools: [refund], without: person }\n";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "writ-prove-"));
  mkdirSync(join(folder, "node_modules"));
  mkdirSync(join(folder, "of strangers"));
  symlinkSync(root, join(folder, "node_modules/writ"), "junction");
  const files = {
    "package.json": JSON.stringify({ type: "module", dependencies: { writ: "*" } }),
    "agent.ts": agentText,
    "opaque.ts": opaqueText,
    "sentences.yaml": sentences,
    "misspelt.yaml": sentences.replace("[refund]", "[refnud]"),
    "unknown.yaml": `${sentences}  - { type: never, tool: [refund] }\n`,
    "broken.yaml": "sentences: [",
    "of strangers/desk.md":
      "---\nname: desk\ndescription: Refunds.\nmodel: ollama/qwen2.5:7b\ntools: [refund]\n---\n\nBe kind.\n",
    "of strangers/tools.ts": toolsText,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const prove = (words: readonly string[], rules = "open") =>
  writ(["prove", ...words], { cwd: folder, env: { RULES: rules } });

describe("writ prove", () => {
  it("writes a program that shows what breaks, and ends with 1", async () => {
    const { code, stdout } = await prove(["agent.ts", "--sentences", "sentences.yaml", "--write", "shown"]);
    expect(stdout).toContain("broken     No call of refund runs without a person.");
    expect(code).toBe(1);
    const shown = await runNode([join(folder, "shown/broken-1.ts")], { cwd: folder });
    expect(shown.stdout).toContain("No call of refund runs without a person.: refund ran with");
    expect(shown.code).toBe(1);
    const mended = await runNode([join(folder, "shown/broken-1.ts")], {
      cwd: folder,
      env: { RULES: "held" },
    });
    expect(mended).toMatchObject({ code: 0, stdout: "The sentence held.\n" });
  });

  it("takes an agent in Markdown with the tools of a program, and shows it by a program of both", async () => {
    const [file, tools] = ["of strangers/desk.md", "of strangers/tools.ts"];
    const { code, stdout, stderr } = await prove([
      file,
      "--tools",
      tools,
      "--sentences",
      "sentences.yaml",
      "--write",
      "by file",
    ]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("broken")]);
    expect(stdout).toContain("broken     No call of refund runs without a person.");
    const shown = await runNode([join(folder, "by file/broken-1.ts")], { cwd: folder });
    expect(shown).toMatchObject({ code: 1, stdout: expect.stringContaining("refund ran with") });
    const without = await prove([file]);
    expect(without.code).toBe(2);
    expect(without.stderr).toContain("refund");
  });

  it("proposes sentences of its own, and prints the programs", async () => {
    const { code, stdout, stderr } = await prove(["agent.ts"]);
    expect(stdout).toContain("proved     A run has at most 8 turns.");
    expect(stdout).toContain('    import { desk as agent } from "./agent.ts";');
    expect(stderr).toContain("4 sentences: 2 proved, 2 broken, 0 undecided.");
    expect(code).toBe(1);
  });

  it("ends with 0 where all is proved, and with 3 where something is undecided", async () => {
    const held = await prove(["agent.ts", "--sentences", "sentences.yaml", "--json"], "held");
    expect(held.code).toBe(0);
    expect((JSON.parse(held.stdout) as GuaranteeSheet).sentences).toMatchObject([{ verdict: "proved" }]);
    const opaque = await prove(["opaque.ts", "--sentences", "sentences.yaml"], "held");
    expect(opaque.stdout).toContain("undecided  No call of refund runs without a person.");
    expect(opaque.stdout).toContain("the policy is a function");
    expect(opaque.code).toBe(3);
  });

  it.each([
    ["misspelt.yaml", 'did you mean "refund"?'],
    [
      "unknown.yaml",
      'unknown.yaml:3 cannot be used: `sentences[1]` has the unknown field "tool"; did you mean "tools"?',
    ],
    ["broken.yaml", "The sentences in broken.yaml"],
    ["missing.yaml", "missing.yaml"],
  ])("says what is wrong with %s, and ends with 2", async (file, said) => {
    const { code, stderr } = await prove(["agent.ts", "--sentences", file]);
    expect(stderr).toContain(said);
    expect(code).toBe(2);
  });
});
