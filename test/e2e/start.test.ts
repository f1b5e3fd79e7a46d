import { statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runNode } from "./command-line.ts";

const main = join(import.meta.dirname, "../../dist/cli/main.js");
const hooks = `import { registerHooks } from "node:module";
const loaded = [];
registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
process.on("exit", () => process.stderr.write(loaded.filter((url) => url.startsWith("file:")).join("\\n")));`;

/** The files that a command loads, and their bytes together: what its start costs, on a busy machine too. */
async function loadedBy(
  ...words: readonly string[]
): Promise<{ readonly files: number; readonly bytes: number; readonly stdout: string }> {
  const program = `data:text/javascript,${encodeURIComponent(hooks)}`;
  const { stdout, stderr } = await runNode(["--import", program, main, ...words]);
  const files = stderr.split("\n").filter((line) => line.startsWith("file:"));
  const bytes = files.reduce((sum, url) => sum + statSync(fileURLToPath(url)).size, 0);
  return { files: files.length, bytes, stdout };
}

describe("the start of the command line", () => {
  // 32 ms over bare Node on the machine where this was written (medians of 15); all commands took 72 ms.
  it.each(["--version", "-V", "version"])("loads no command for `writ %s`", async (word) => {
    const { files, bytes, stdout } = await loadedBy(word);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(files).toBeGreaterThan(1);
    expect(files).toBeLessThanOrEqual(4);
    expect(bytes).toBeLessThan(62_000); // most of it the texts of errors, which the whole package shares
  });

  it("loads the commands themselves only when they are called", async () => {
    const { bytes } = await loadedBy("--help");
    expect(bytes).toBeLessThan(250_000);
  });
});
