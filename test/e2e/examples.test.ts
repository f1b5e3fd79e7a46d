import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { closedUrl, type Ended, runNode } from "./command-line.ts";

const folder = join(import.meta.dirname, "../../examples");
const stories = readdirSync(folder).filter((name) => existsSync(join(folder, name, "main.ts")));

/** Runs an example without a model: WRIT_MODEL asks it for its script. */
function play(
  story: string,
  words: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return runNode([join(folder, story, "main.ts"), ...words], { env: { WRIT_MODEL: "scripted", ...env } });
}

describe("every example", () => {
  it.each(stories)("%s runs offline, says something, and ends well", async (story) => {
    const { code, stdout, stderr } = await play(story);
    expect(code, stderr).toBe(0);
    expect(stdout.trim()).not.toBe("");
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

describe("calculator", () => {
  it("says what answers, which driver, each call with arguments, result and time, and the answer", async () => {
    const { stdout, stderr } = await play("calculator");
    expect(stdout).toBe("(3 + 5) * 2 = 16\n");
    expect(stderr).toContain("calculator with a script, driver native");
    expect(stderr).toMatch(/→ 1 add \{"a":3,"b":5\}\n✓ 1 add = 8 {2}\d+ ms\n/);
    expect(stderr).toMatch(/→ 2 multiply \{"a":8,"b":2\}\n✓ 2 multiply = 16 {2}\d+ ms\n/);
  });

  it("has no answer to another question without a model, and says why", async () => {
    const { code, stdout, stderr } = await play("calculator", ["What", "is", "1 + 1?"]);
    expect(stderr).toContain("No model: WRIT_MODEL asks for the script");
    expect(stderr).toContain('only knows the question "What is (3 + 5) * 2?"');
    expect([code, stdout]).toEqual([5, ""]);
  });

  it("uses the model that WRIT_MODEL names, and says plainly that it cannot be reached", async () => {
    const { code, stdout, stderr } = await play("calculator", [], {
      WRIT_MODEL: "ollama/qwen2.5:7b",
      OLLAMA_HOST: await closedUrl(),
    });
    expect(stderr).toContain("Model: ollama/qwen2.5:7b (WRIT_MODEL names it)");
    expect(stderr).toContain("error[provider-unreachable]");
    expect([code, stdout]).toEqual([5, ""]);
  });
});
