import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { closedUrl, runNode } from "./command-line.ts";

const root = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/start.md"), "utf8");

/** A project with a copy of writ, which finds there what was installed beside it and nothing of the repository. */
function freshProject(installed: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "writ-start-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const modules = join(folder, "node_modules");
  for (const part of ["dist", "docs/errors.md", "package.json"])
    cpSync(join(root, part), join(modules, "writ", part), { recursive: true });
  for (const name of ["yaml", "@standard-schema/spec", ...installed]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(modules, name), "junction");
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  return folder;
}

it("has its first agent asked with what the page installs, and nothing else", async () => {
  const [, packages = ""] = /^npm i writ (.*)$/m.exec(page) ?? [];
  const [, program = ""] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
  const folder = freshProject(packages.split(" "));
  writeFileSync(join(folder, "agent.ts"), program);
  const { stderr } = await runNode(
    ["node_modules/writ/dist/cli/main.js", "run", "agent.ts", "Where is order 17?"],
    {
      cwd: folder,
      env: { OPENAI_API_KEY: "a key", OPENAI_BASE_URL: await closedUrl() },
    },
  );
  expect(stderr).toContain("error[provider-unreachable]");
});
