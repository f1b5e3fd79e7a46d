import { appendFileSync, renameSync, rmSync, statSync, truncateSync } from "node:fs";

/** The place of a file of lines, and the bounds of its size. */
export interface RotatingOptions {
  readonly path: string;
  /** The file is put aside before a write that would make it larger. */
  readonly rotateBytes: number;
  /** The number of files that stay when they were put aside; `path.1` is the youngest. */
  readonly keepFiles: number;
}

/** Adds text to the file, which is put aside first when it would become too large. @throws what the disk says */
export function appendRotating(text: string, { path, rotateBytes, keepFiles }: RotatingOptions): void {
  const size = sizeOf(path);
  const isFull = size > 0 && size + Buffer.byteLength(text) > rotateBytes;
  if (isFull) putAside(path, keepFiles);
  try {
    appendFileSync(path, text, { mode: 0o600 });
  } catch (error) {
    const before = isFull ? 0 : size;
    if (sizeOf(path) > before) truncateSync(path, before); // a full disk took the beginning, which is written again
    throw error;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function putAside(path: string, keepFiles: number): void {
  rmSync(`${path}.${keepFiles}`, { force: true });
  for (let age = keepFiles - 1; age >= 1; age -= 1)
    if (statSync(`${path}.${age}`, { throwIfNoEntry: false }) !== undefined)
      renameSync(`${path}.${age}`, `${path}.${age + 1}`);
  if (keepFiles > 0) renameSync(path, `${path}.1`);
  else rmSync(path);
}
