import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/**
 * Locks by which the owners of a file's runs are known to live. An owner holds that of a small file beside it, and the system lets go of it when the
 * process or the thread ends, however that happens. It is seen from other containers of the machine, which see neither its number nor its host name.
 */
export interface OwnerLocks {
  /** Takes a lock, and removes the files of owners that are dead. A part of a transaction, so that nobody takes another one meanwhile. */
  take(): string;
  isHeld(name: string): boolean;
  /** Gives up the lock that was taken. Until then it is held, though nothing refers to the store any more. */
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
        if (nameShape.test(name) && !isHeld(name)) rmSync(fileOf(name), { force: true });
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
      rmSync(fileOf(held.name), { force: true });
      held = undefined;
    },
  };
}

// Register: a file that nothing refers to is closed, and its lock lost.
const lockedFiles = new Set<DatabaseSync>();

/** SQLite's lock of a whole file is one of the system. */
function locked(path: string): DatabaseSync {
  const file = new DatabaseSync(path);
  file.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE"); // nothing is ever written
  return file;
}

/** True also where nobody can tell: a run is not taken from an owner that may live. */
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
