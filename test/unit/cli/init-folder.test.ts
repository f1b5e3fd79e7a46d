import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeFolder } from "../../../src/adapters/make-folder.ts";

const main = join(import.meta.dirname, "../../../src/cli/main.ts");

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "writ-folder-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

describe("a folder that is made", () => {
  it("has those around it, and may be there already", () => {
    const path = join(folder(), "a/b/c");
    makeFolder(path);
    makeFolder(path);
    expect(statSync(path).isDirectory()).toBe(true);
  });

  it("is an error where a file is in the way, and where a link leads nowhere", () => {
    const parent = folder();
    writeFileSync(join(parent, "file"), "");
    expect(() => makeFolder(join(parent, "file/a"))).toThrow("ENOTDIR");
    symlinkSync(join(parent, "nowhere"), join(parent, "link"));
    expect(() => makeFolder(join(parent, "link"))).toThrow("EEXIST");
  });

  it.skipIf(!existsSync("/proc/self"))("is an error where none can be made, and the command ends", () => {
    const { status, stderr } = spawnSync(process.execPath, [main, "init", "/proc/writ/project"], {
      encoding: "utf8",
      timeout: 60_000,
    });
    expect(stderr).toContain("option-invalid");
    expect(stderr).toMatch(/cannot be written: ENOENT.*\/proc\/writ/);
    expect(status).toBe(2);
  });
});
