import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/**
 * Locks that show whether the owners of a file's runs are alive. An owner locks a small file beside it, and the system releases the lock when the
 * process or the thread ends, for any reason. Other containers of the machine see the lock, although they do not see the process's number or host name.
 */
export interface OwnerLocks {
  /** Takes a lock, and removes the files of dead owners. Runs inside a transaction, so that no other owner takes a lock meanwhile. */
  take(): string;
  isHeld(name: string): boolean;
  /** Releases the lock. Until then it is held, even if nothing refers to the store any more. */
  release(): void;
}

const nameShape = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** The locks beside a file. */
export function ownerLocks(path: string): OwnerLocks {
  const [folder, start] = [dirname(path), `${basename(path)}-owner-`];
  const fileOf = (name: string): string => join(folder, start + name);
  const isHeld = (name: string): boolean => nameShape.test(name) && isLocked(fileOf(name));
  let held: { readonly name: string; readonly file: DatabaseSync } | undefined;
  return {
    isHeld,
    take() {
      if (held !== undefined) return held.name;
      for (const file of readdirSync(folder)) {
        const name = file.startsWith(start) ? file.slice(start.length) : "";
        if (nameShape.test(name) && !isHeld(name)) removeLeft(fileOf(name));
      }
      const name = randomUUID();
      held = { name, file: locked(fileOf(name)) };
      lockedFiles.add(held.file);
      return name;
    },
    release() {
      if (held === undefined) return;
      lockedFiles.delete(held.file);
      held.file.close();
      removeLeft(fileOf(held.name));
      held = undefined;
    },
  };
}

// Register: the locked files, because a file that nothing refers to is closed, and its lock lost.
const lockedFiles = new Set<DatabaseSync>();

/** Locks a file: SQLite's lock of a whole file is a lock of the system. */
function locked(path: string): DatabaseSync {
  const file = new DatabaseSync(path);
  file.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE"); // nothing is ever written
  return file;
}

/** Removes the file of a released lock. Windows refuses it while another process looks at the file: the next owner removes it then. */
function removeLeft(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // it is left
  }
}

/** True also if the state is unknown: a run is not taken from an owner that may be alive. */
function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  let file: DatabaseSync | undefined;
  try {
    file = new DatabaseSync(path, { readOnly: true, timeout: 0 });
    file.prepare("SELECT 1 FROM sqlite_schema").get();
    return false;
  } catch {
    return true;
  } finally {
    file?.close();
  }
}
