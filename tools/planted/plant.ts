import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../source-files.ts";
import type { PlantedBug } from "./bugs.ts";

/** The finding of a hunt; without an invariant it found nothing. */
export interface Found {
  readonly agent?: string;
  readonly invariant?: string;
  readonly what?: string;
  readonly steps?: number;
  readonly schedules: number;
  readonly seconds: number;
  readonly trace?: string;
}

/** Plants a bug in a copy of the source, and has the simulator look for it. Returns a text that says why where there was no hunt. */
export function huntFor({ edits }: PlantedBug, { seconds }: { readonly seconds: number }): Found | string {
  const folder = mkdtempSync(join(tmpdir(), "writ-planted-"));
  try {
    for (const part of ["src", "test/simulate", "tools/planted", "package.json"])
      cpSync(join(root, part), join(folder, part), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
    for (const { file, find, put } of edits) {
      const path = join(folder, file);
      const text = readFileSync(path, "utf8");
      if (text.split(find).length !== 2) return `the text to be broken does not stand once in ${file}`;
      writeFileSync(
        path,
        text.replace(find, () => put),
      );
    }
    const ran = spawnSync(process.execPath, ["--no-warnings", "tools/planted/hunt.ts", String(seconds)], {
      cwd: folder,
      encoding: "utf8",
    });
    const line = ran.stdout.trim().split("\n").at(-1) ?? "";
    return line.startsWith("{") ? (JSON.parse(line) as Found) : `the hunt broke: ${ran.stderr.slice(0, 400)}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
