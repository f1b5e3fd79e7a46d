import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agent, exec, secret } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";
import { shellTool } from "../../src/workspace.ts";

const value = "supersecretvalue-0123456789-abcdefghij";
beforeAll(() => void (process.env["WRIT_CUT_SECRET"] = value));
afterAll(() => void delete process.env["WRIT_CUT_SECRET"]);

/** What the model is told of a program that prints so many signs, the secret, and so many more, of which it is told 4000. */
async function told(before: number, after: number, spelled = "$X"): Promise<string> {
  const shell = shellTool({
    programs: { sh: ["sh", "-c"] },
    env: { X: secret("WRIT_CUT_SECRET") },
    outputBytes: 4000,
  });
  const code = `printf '%0${before}d' 0; printf '%s' "${spelled}"; printf '%0${after}d' 1`;
  const model = scripted([
    { calls: [{ name: "run_program", arguments: { program: "sh", args: [code] } }] },
    "Done.",
  ]);
  const grants = [exec("sh"), secret("WRIT_CUT_SECRET")];
  const { transcript } = await agent({ name: "a", model, tools: [shell], grants }).run("Go");
  return transcript.messages.map((message) => (message.role === "tool" ? message.text : "")).join("");
}

describe("an output that is cut", () => {
  it("has no part of a secret, wherever the cut is", async () => {
    const parts = [value.slice(0, 6), value.slice(-6), value.slice(12, 18)];
    for (const [before, after] of [
      [980, 5000],
      [999, 5000],
      [970, 200_000],
      [5000, 2999],
      [200_000, 2970],
      [985, 2985],
    ] as const) {
      const text = await told(before, after);
      expect(text).toMatch(/\[… \d+ bytes are left out here …\]/);
      for (const part of parts) expect(text, `${before}, ${after}`).not.toContain(part);
    }
  });

  it("has no part of one that is spelled otherwise", async () => {
    const text = await told(990, 5000, '$(printf %s "$X" | base64)');
    expect(text).not.toContain(Buffer.from(value).toString("base64").slice(0, 6));
  });

  it("names a secret that no cut divides, and keeps as much as before of all else", async () => {
    expect(await told(20, 5000)).toContain(`0[secret WRIT_CUT_SECRET]0`);
    const [first = "", last = ""] = (await told(5000, 5000)).split(/\n\[… \d+ bytes are left out here …\]\n/);
    expect([first.length, last.split("\n", 1)[0]?.length]).toEqual([1000, 3000]);
    const whole = await told(3000, 500);
    expect(whole).not.toContain("left out");
  });
});
