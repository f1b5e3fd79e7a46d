import {
  chmodSync,
  chownSync,
  existsSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { setTimeout as later } from "node:timers/promises";

/** The time in which another process has long written a file. */
const patienceMs = 5_000;
const pauseMs = 20;

/**
 * Puts a text in the place of that of a file, whole or not at all. Of several processes that change it at once each makes its text, of what `textOf` reads,
 * when the one before has written: the new file beside it, of a name that all of them use, is made by one alone. Who could read the file before can read
 * the new one.
 *
 * @throws what `textOf` throws; Error of the file system, also where another process does not come to its end
 */
export async function changeFile(given: string, textOf: () => string): Promise<void> {
  const path = existsSync(given) ? realpathSync(given) : given;
  const part = `${path}.part`;
  await makeAlone(part);
  try {
    const before = statSync(path, { throwIfNoEntry: false });
    writeFileSync(part, textOf(), { flush: true });
    const made = statSync(part);
    if (before !== undefined && (before.uid !== made.uid || before.gid !== made.gid))
      chownSync(part, before.uid, before.gid);
    if (before !== undefined) chmodSync(part, before.mode & 0o777);
    renameSync(part, path);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

async function makeAlone(part: string): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    try {
      return writeFileSync(part, "", { mode: 0o600, flag: "wx" });
    } catch (error) {
      if (!isThere(error)) throw error;
      if (waitedMs >= patienceMs)
        throw new Error(`another process writes it, or died meanwhile: then remove "${part}"`, {
          cause: error,
        });
    }
    await later(pauseMs);
  }
}

const isThere = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EEXIST";
