import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { describe, expect, it } from "vitest";
import { durableRuns, memoryRuns } from "writ/durable";
import { agents, done } from "./upgrade/agents.ts";

const folder = new URL("upgrade/", import.meta.url);
const releases = readdirSync(folder).filter((name) => name.endsWith(".json"));

/** The runs that a release recorded, in a store of now. */
async function storeOf(release: string) {
  const kept: unknown = JSON.parse(readFileSync(new URL(release, folder), "utf8"));
  const runs = durableRuns({ store: memoryRuns(), agents });
  for (const text of Object.values(kept as Readonly<Record<string, string>>)) await runs.import(text);
  return runs;
}

describe.each(releases)("runs of an earlier build, %s", (release) => {
  it("can all go on: nothing that they are held to is another", async () => {
    const runs = await storeOf(release);
    expect(await runs.list()).toHaveLength(2 * agents.length);
    expect(await runs.check()).toEqual([]);
  });

  it("can go on in a program that is bundled and minified", async () => {
    const dir = mkdtempSync(join(tmpdir(), "bundle-"));
    const input = fileURLToPath(new URL("check.ts", folder));
    await build({ input, platform: "node", output: { dir, minify: true }, logLevel: "silent" });
    const program = [join(dir, "check.js"), fileURLToPath(new URL(release, folder))];
    const printed: unknown = JSON.parse(execFileSync(process.execPath, program, { encoding: "utf8" }));
    rmSync(dir, { recursive: true });
    expect(printed).toEqual({ runs: 2 * agents.length, stranded: [] });
  });

  it.each(agents.map(({ name }) => name))(
    "go on after their answers, and do nothing again: %s",
    async (name) => {
      const runs = await storeOf(release);
      const questions = await runs.waiting(`${name}-waits`);
      expect(questions.map(({ request }) => request.tool)).toContain("pay");
      done.length = 0;
      for (const { key, request } of questions)
        await runs.answer(`${name}-waits`, key, { approved: true, hash: request.hash });
      const worker = runs.work();
      const { outcome } = await runs.result(`${name}-waits`);
      await worker.drain();
      expect(outcome.type).toBe("answered");
      expect(done).toEqual(
        questions.map(({ request }) => `pay ${String((request.arguments as { to?: unknown }).to)}`),
      );
    },
  );

  it.each(agents.map(({ name }) => name))("replay to the same end: %s", async (name) => {
    const runs = await storeOf(release);
    done.length = 0;
    const { outcome } = await runs.replay(`${name}-ended`);
    expect(outcome.type).toBe("answered");
    expect(done).toEqual([]);
  });
});
