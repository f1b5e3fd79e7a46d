import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll } from "vitest";

/** A temporary folder for the tests of a file. */
export interface Folder {
  /** Where it is: known once the tests run. */
  readonly path: (...parts: readonly string[]) => string;
  /** Writes a file and gives its path. */
  readonly file: (path: string, content: string | Uint8Array) => string;
}

/** Makes a folder before the tests of a file and removes it after them. */
export function temporaryFolder(): Folder {
  let root = "";
  beforeAll(() => void (root = mkdtempSync(join(tmpdir(), "writ-files-"))));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  const path: Folder["path"] = (...parts) => join(root, ...parts);
  return {
    path,
    file(name, content) {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), content);
      return path(name);
    },
  };
}
