import { createWriteStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";

/** A file to fetch over HTTP into `path`. */
export interface Download {
  readonly url: string;
  readonly path: string;
  readonly sizeBytes: number;
  readonly signal: AbortSignal;
  /** Called with the number of bytes so far, including those of an earlier attempt. */
  readonly onBytes: (received: number) => void;
  /** The time after which a silent server is given up. Default 20 s. */
  readonly silenceMs?: number;
}

/**
 * Fetches a file, and continues where an earlier attempt stopped if the server supports that. Never writes more than the announced size.
 *
 * @throws Error if the server refuses, falls silent, or sends another number of bytes; the received bytes stay for the next attempt.
 */
export async function download(file: Download): Promise<void> {
  const { url, path, sizeBytes, signal, onBytes, silenceMs = 20_000 } = file;
  const have = await bytesAt(path);
  if (have === sizeBytes) return;
  const from = have < sizeBytes ? have : 0;
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  let silence: NodeJS.Timeout | undefined;
  const hear = (): void => {
    clearTimeout(silence);
    silence = setTimeout(() => stop.abort(new Error(`nothing came for ${silenceMs / 1000} s`)), silenceMs);
  };
  hear();
  try {
    const headers = { "accept-encoding": "identity", ...(from > 0 ? { range: `bytes=${from}-` } : {}) };
    const response = await fetch(url, { headers, signal: either, redirect: "follow" });
    const resumed = response.status === 206 && startsAt(response, from);
    if (response.body === null || (response.status !== 200 && !resumed))
      throw new Error(`${url} answered ${response.status}`);
    let received = resumed ? from : 0;
    const announced = received + Number(response.headers.get("content-length") ?? sizeBytes - received);
    if (announced !== sizeBytes) throw new Error(`${url} announces ${announced} bytes, not ${sizeBytes}`);
    async function* counted(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of chunks) {
        received += chunk.length;
        hear();
        if (received > sizeBytes) throw new Error(`more than the announced ${sizeBytes} bytes came`);
        onBytes(received);
        yield chunk;
      }
    }
    const target = createWriteStream(path, { flags: resumed ? "a" : "w" });
    await pipeline(response.body, counted, target, { signal: either });
  } finally {
    clearTimeout(silence);
    stop.abort(); // drops a connection whose answer is not read
  }
  const received = await bytesAt(path);
  if (received !== sizeBytes) throw new Error(`${url} sent ${received} of ${sizeBytes} bytes`);
}

/** The size of a file in bytes; 0 if it does not exist. */
export async function bytesAt(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}

/** Removes a file if it is there. */
export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true });
}

function startsAt(response: Response, from: number): boolean {
  return response.headers.get("content-range")?.startsWith(`bytes ${from}-`) === true;
}
