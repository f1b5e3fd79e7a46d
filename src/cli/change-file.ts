import { randomUUID } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as later } from "node:timers/promises";

/** The time after which a folder counts as left behind by a process that died: writing a file takes less. */
const atWorkMs = 5_000;
const patienceMs = 10_000;
const pauseMs = 20;

/**
 * Replaces the text of a file, completely or not at all. Several processes that change it at once take turns: each calls `textOf`, which reads the file, after
 * the one before has written. The folder beside the file, whose name all of them use, is made by only one at a time, and holds the new file until it is
 * complete. Whoever could read the file before can read the new one.
 *
 * @throws the error of `textOf`; Error of the file system, also if another process does not finish
 */
export async function changeFile(given: string, textOf: () => string): Promise<void> {
  const path = existsSync(given) ? realpathSync(given) : given;
  const part = `${path}.part`;
  await makeAlone(part);
  try {
    const written = join(part, randomUUID()); // no other process uses this name
    const before = statSync(path, { throwIfNoEntry: false });
    writeFileSync(written, textOf(), { mode: 0o600, flush: true });
    const made = statSync(written);
    if (before !== undefined && (before.uid !== made.uid || before.gid !== made.gid))
      chownSync(written, before.uid, before.gid);
    if (before !== undefined) chmodSync(written, before.mode & 0o777);
    renameSync(written, path);
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
}

async function makeAlone(part: string): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    try {
      return mkdirSync(part, { mode: 0o700 });
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
      if (waitedMs >= patienceMs)
        throw new Error(`another process is writing it; if it died, remove "${part}"`, {
          cause: error,
        });
    }
    if (!removedLeft(part)) await later(pauseMs);
  }
}

/** Removes the folder of a process that died. It is renamed first, which only one process can do. */
function removedLeft(part: string): boolean {
  const left = statSync(part, { throwIfNoEntry: false });
  if (left === undefined) return true;
  if (Date.now() - left.mtimeMs < atWorkMs) return false;
  const aside = `${part}-${randomUUID()}`;
  try {
    renameSync(part, aside);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return true;
    throw error;
  }
  rmSync(aside, { recursive: true, force: true });
  return true;
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;
