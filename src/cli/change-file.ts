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

/** The time in which another process has long written a file: what stands there longer was left by one that died. */
const atWorkMs = 5_000;
const patienceMs = 10_000;
const pauseMs = 20;

/**
 * Puts a text in the place of that of a file, whole or not at all. Of several processes that change it at once each makes its text, of what `textOf` reads,
 * when the one before has written: the folder beside it, of a name that all of them use, is made by one alone, and has the new file until it is whole. Who
 * could read the file before can read the new one.
 *
 * @throws what `textOf` throws; Error of the file system, also where another process does not come to its end
 */
export async function changeFile(given: string, textOf: () => string): Promise<void> {
  const path = existsSync(given) ? realpathSync(given) : given;
  const part = `${path}.part`;
  await makeAlone(part);
  try {
    const written = join(part, randomUUID()); // no other process takes it for its own
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
        throw new Error(`another process writes it, or died meanwhile: then remove "${part}"`, {
          cause: error,
        });
    }
    if (!removedLeft(part)) await later(pauseMs);
  }
}

/** Removes what a process left that died. It is moved away first, which one process alone can do. */
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
