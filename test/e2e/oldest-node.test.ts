import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { oldestNode } from "../../src/adapters/node-version.ts";
import type { Ended } from "./command-line.ts";

const repository = join(import.meta.dirname, "../..");
const node = join(repository, "node_modules/.cache/runtimes/node_modules/node/bin/node"); // `.ci/run` puts it there
if (!existsSync(node)) console.log(`skipped: Node ${oldestNode} is not on this machine`);

function play(words: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(node, ["--no-warnings", ...words], { cwd: repository }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

const { engines, exports } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as {
  readonly engines: { readonly node: string };
  readonly exports: Readonly<Record<string, unknown>>;
};
const entries = Object.keys(exports).flatMap((path) =>
  path.endsWith(".json") ? [] : [`writ${path.slice(1)}`],
);

const stores = ["run-store", "question-pages", "session-store", "note-store", "memory-store"].map(
  (name) => `contract/${name}`,
);

/** Parses each file of the package, also those that only some command loads. */
const parsing = `
  import { globSync, readFileSync } from "node:fs";
  import { SourceTextModule } from "node:vm";
  for (const file of globSync("dist/**/*.{js,mjs}"))
    try { new SourceTextModule(readFileSync(file, "utf8")); } catch (error) { console.log(file, String(error)); }`;

describe.skipIf(!existsSync(node))(`on Node ${oldestNode}, the oldest that package.json allows`, () => {
  it("is that Node", async () => {
    expect(oldestNode.startsWith(engines.node.replace(">=", ""))).toBe(true);
    expect((await play(["--version"])).stdout.trim()).toBe(`v${oldestNode}`);
  });

  it("each file of the package can be read", async () => {
    const words = ["--experimental-vm-modules", "--input-type=module", "-e", parsing];
    expect(await play(words)).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  it("the demo goes through calls, refusals, an approval and a crash", async () => {
    const { code, stdout, stderr } = await play(["dist/cli/main.js", "demo"]);
    expect(code, stderr).toBe(0);
    expect(stdout + stderr).toContain("charged 1 time");
  });

  it.each([
    ["each store in SQLite does what its contract says", "SQLite", stores],
    ["a run waits, is answered by another command, and goes on", "keeps a run that waits", ["e2e/durable"]],
    ["a conversation on a terminal is not disturbed", "brings back what was asked before", ["e2e/chat"]],
  ])("%s", async (_what, only, suites) => {
    const words = suites.map((name) => `test/${name}.test.ts`);
    const { code, stdout } = await play(["node_modules/vitest/vitest.mjs", "run", ...words, "-t", only]);
    expect(code, stdout).toBe(0);
    expect(stdout).toMatch(/^[1-9]\d* passed, 0 failed/m);
  });

  it("each entry can be imported", async () => {
    const loading = `
      for (const entry of ${JSON.stringify(entries)})
        await import(entry).catch((error) => console.log(entry, String(error)));`;
    expect(await play(["--input-type=module", "-e", loading])).toEqual({ code: 0, stdout: "", stderr: "" });
  });
});
