import { join } from "node:path";
import { WritError } from "../../error/writ-error.ts";
import { cacheFolder } from "./cache.ts";
import { bytesAt } from "./download.ts";
import { failureOf, pullFile, type PullOptions, sumOf } from "./pull.ts";

/** A model file outside of the catalogue: its address, and the SHA-256 that its bytes must have. */
export interface ModelAddress {
  readonly url: string;
  readonly sha256: string;
}

/**
 * Fetches a GGUF file from any address into the cache folder, under its own name, and returns its path. Does nothing if the same file is there.
 *
 * @throws WritError `option-invalid` for a wrong address of a GGUF file or a wrong SHA-256, and if another file has its name;
 *   `download-failed`, `checksum-mismatch`, `download-busy`
 */
export async function pullUrl({ url, sha256 }: ModelAddress, options: PullOptions = {}): Promise<string> {
  const expected = sha256.toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(expected)) throw notTaken("--sha256", sha256, "It is 64 hexadecimal digits.");
  const file = fileAt(url);
  const path = join(options.folder ?? cacheFolder(), "models", file);
  if ((await bytesAt(path)) > 0) {
    const found = await sumOf(path);
    if (found === expected) return path;
    throw notTaken("--sha256", sha256, `${path} is there and has ${found}. Remove it, or give its SHA-256.`);
  }
  const sizeBytes = await announcedSize(url, { file, path, signal: options.signal });
  const model = {
    name: file,
    description: url,
    file,
    parameters: 0,
    sizeBytes,
    sha256: expected,
    licence: "not known",
  };
  return pullFile({ ...model, sources: [{ type: "hub", url }] }, path, options);
}

/** The last part of an address, as the name of a file, which cannot lead out of its folder. */
function fileAt(url: string): string {
  const { protocol = "", pathname = "" } = URL.parse(url) ?? {};
  const file = /\/(\w[\w.+-]*\.gguf)$/i.exec(pathname)?.[1];
  if (file !== undefined && /^https?:$/.test(protocol)) return file;
  throw notTaken(
    "<name>",
    url,
    "A model that is not in `writ models list` is an http or https address that ends in .gguf.",
  );
}

async function announcedSize(
  url: string,
  {
    file,
    path,
    signal,
  }: { readonly file: string; readonly path: string; readonly signal?: AbortSignal | undefined },
): Promise<number> {
  const failed = (reason: string): WritError =>
    new WritError("download-failed", { name: file, reason, path });
  const headers = { "accept-encoding": "identity" };
  const response = await fetch(url, { method: "HEAD", headers, signal: signal ?? null }).catch(
    (error: unknown) => {
      signal?.throwIfAborted();
      throw failed(`${url}: ${failureOf(error)}`);
    },
  );
  const size = Number(response.headers.get("content-length"));
  if (!response.ok) throw failed(`${url} answered ${response.status}`);
  if (!Number.isSafeInteger(size) || size <= 0) throw failed(`${url} does not announce its size`);
  return size;
}

function notTaken(option: string, value: string, advice: string): WritError {
  return new WritError("option-invalid", { option, value, advice });
}
