import type * as Files from "node:fs";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { ownerLocks } from "../../../src/adapters/sqlite/owner-lock.ts";

const busy = vi.hoisted(() => ({ files: true }));
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof Files>();
  return {
    ...fs,
    rmSync: (...given: Parameters<typeof fs.rmSync>) => {
      if (busy.files) throw Object.assign(new Error("EBUSY: resource busy or locked"), { code: "EBUSY" });
      fs.rmSync(...given);
    },
  };
});

it("leaves the file of a lock that Windows does not let it remove, for the next owner", () => {
  const folder = mkdtempSync(join(tmpdir(), "writ-left-lock-"));
  const [one, next] = [ownerLocks(join(folder, "runs.db")), ownerLocks(join(folder, "runs.db"))];
  const name = one.take();
  one.release();
  expect(one.isHeld(name)).toBe(false);
  busy.files = false;
  const other = next.take();
  expect(readdirSync(folder)).toEqual([`runs.db-owner-${other}`]);
  next.release();
  rmSync(folder, { recursive: true });
});
