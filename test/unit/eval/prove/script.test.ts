import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { agent, skill } from "../../../../src/index.ts";
import { fakeTool, prove } from "../../../../src/testing.ts";
import { root } from "../../../../tools/source-files.ts";

const folder = mkdtempSync(join(tmpdir(), "prove-script-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** What a program prints that is made for the package, with the source in its place. */
function printed(script: string): Promise<string> {
  const path = join(folder, "shown.mts");
  const entry = (name: string): string => pathToFileURL(join(root, `src/${name}.ts`)).href;
  writeFileSync(
    path,
    script.replaceAll('"writ/testing"', `"${entry("testing")}"`).replaceAll('"writ"', `"${entry("index")}"`),
  );
  return new Promise((resolve) => {
    execFile(process.execPath, [path], (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}

describe("the program that shows how a bound breaks", () => {
  it("runs also where the agent has several skills to choose from", async () => {
    const skills = ["look", "act"].map((name) =>
      skill({ name, description: name, tools: [fakeTool(`do_${name}`, "done")] }),
    );
    const lines = [
      'import { agent as make, skill } from "writ";',
      'const skills = ["look", "act"].map((name) => skill({ name, description: name, tools: [] }));',
      'const agent = make({ name: "clerk", model: () => "", skills });',
    ];
    const clerk = agent({ name: "clerk", model: () => "", skills });
    const { sentences } = await prove(clerk, {
      sentences: [{ type: "bound", of: "tokens", most: 100 }],
      source: { lines },
    });
    expect(sentences[0]?.verdict).toBe("broken");
    expect(await printed(sentences[0]?.script ?? "")).toBe(
      "The model was asked again after it had used 100.\n",
    );
  });
});
