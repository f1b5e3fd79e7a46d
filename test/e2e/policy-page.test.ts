import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { valueTypes } from "../../src/tool/parameters.ts";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/policy-file.md"), "utf8");
const blocks = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, kind, text = ""]) => ({
  kind,
  text,
}));
const textOf = (wanted: string): string => blocks.find(({ kind }) => kind === wanted)?.text ?? "";

it("the page alone leads from tools to a policy that is linted, scored and in use", () => {
  const folder = mkdtempSync(join(tmpdir(), "page-"));
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  symlinkSync(root, join(folder, "node_modules/writ"));
  writeFileSync(
    join(folder, "node_modules/.bin/writ"),
    `#!/bin/sh\nexec "${process.execPath}" "${root}/dist/cli/main.js" "$@"\n`,
    { mode: 0o755 },
  );
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "tools.json"), textOf("json"));
  writeFileSync(join(folder, "agent.ts"), textOf("ts"));
  const commands = blocks.filter(({ kind }) => kind === "sh").flatMap(({ text }) => text.trim().split("\n"));
  expect(commands).toHaveLength(8);
  const said = commands.map((command) =>
    execFileSync("/bin/sh", ["-c", command.replace(/^npx /, "node_modules/.bin/")], {
      cwd: folder,
      encoding: "utf8",
    }),
  );
  expect(said[4]).toMatch(/full policy\s+0 of 1\s+0\s+0\.0\s+1 of 1\s/);
  expect(said[6]).toContain('2 send {"to":"eve@outside.example"}\n    A person is asked');
});

it("the page has every type of values", () => {
  const [, types = ""] = page.split("## Types of values");
  expect([...types.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)).toEqual(valueTypes);
});
