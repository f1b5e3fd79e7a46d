import { DatabaseSync } from "node:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { sqliteRuns } from "../../../src/sqlite.ts";

const folder = mkdtempSync(join(tmpdir(), "writ-steps-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const never = (key: string) => ({
  key,
  run: () => Promise.resolve(key),
  lost: () => Promise.resolve("lost"),
});

it("commits once for all records that come together, of several runs, and refuses those alone whose run was taken", async () => {
  const path = join(folder, "together.db");
  using store = sqliteRuns(path);
  using other = sqliteRuns(path);
  await using mine = await store.open("mine");
  const lost = await store.open("lost");
  await other.moveOut("lost"); // its journal writes no more
  const exec = vi.spyOn(DatabaseSync.prototype, "exec");
  const commits = () => exec.mock.calls.filter(([sql]) => sql === "COMMIT").length;
  const steps = Array.from({ length: 16 }, (_, place) => never(`${place}`));
  const [all, taken] = await Promise.allSettled([mine.all(steps), lost.step(never("x"))]);
  expect(commits()).toBeLessThanOrEqual(4); // that they begin, their results, and the look why one was refused
  exec.mockRestore();
  expect(all).toEqual({ status: "fulfilled", value: steps.map(({ key }) => key) });
  expect(taken).toMatchObject({ status: "rejected", reason: { code: "run-taken" } });
  const kept = await other.records("mine");
  expect(kept.map(({ key, json }) => [key, json])).toEqual(steps.map(({ key }) => [key, `"${key}"`]));
});

it("keeps what is on its way when the file is closed", async () => {
  const path = join(folder, "closed.db");
  const store = sqliteRuns(path);
  const journal = await store.open("r");
  const begun = journal.step({ ...never("a"), run: () => new Promise(() => undefined) });
  void begun;
  await Promise.resolve();
  store.close();
  using other = sqliteRuns(path);
  expect(await other.records("r")).toEqual([{ key: "a", fingerprint: "" }]);
});
