import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteRuns } from "../../src/sqlite.ts";
import type { OpenRuns, SharedStoreUnderTest } from "./run-store.ts";

export const openRuns: OpenRuns = async (address) => sqliteRuns(address);

/** Stores in SQLite files. */
export const sqliteUnderTest: SharedStoreUnderTest = {
  module: import.meta.url,
  openRuns,
  async place() {
    const folder = mkdtempSync(join(tmpdir(), "writ-runs-"));
    return {
      address: join(folder, "runs.db"),
      remove: () => rmSync(folder, { recursive: true, force: true }),
    };
  },
};
