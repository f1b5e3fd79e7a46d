import { createWriteStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";

/** A file to fetch over HTTP into `path`. */
export interface Download {
  readonly url: string;
  readonly path: string;
  readonly sizeBytes: number;
  readonly signal: AbortSignal;
  /** Told the bytes there are so far, those of an earlier try included. */
  readonly onBytes: (received: number) => void;
  /** A server that says nothing for so long is given up. Default 20 s. */
  readonly silenceMs?: number;
}

/**
 * Fetches a file, going on where an earlier try stopped when the server can. Never writes more than the announced size.
 *
 * @throws Error when the server refuses, falls silent, or sends another number of bytes; what came stays for the next try.
 */
export async function download({
  url,
  path,
  sizeBytes,
  signal,
  onBytes,
  silenceMs = 20_000,
}: Download): Promise<void> {
  const have = await bytesAt(path);
  if (have === sizeBytes) return;
  const from = have < sizeBytes ? have : 0;
  const silence = watchdog(signal, silenceMs);
  try {
    const headers = { "accept-encoding": "identity", ...(from > 0 ? { range: `bytes=${from}-` } : {}) };
    const response = await fetch(url, { headers, signal: silence.signal, redirect: "follow" });
    const resumed = response.status === 206 && startsAt(response, from);
    if (response.body === null || (response.status !== 200 && !resumed))
      throw new Error(`${url} answered ${response.status}`);
    const start = resumed ? from : 0;
    const announced = Number(response.headers.get("content-length") ?? sizeBytes - start);
    if (announced !== sizeBytes - start)
      throw new Error(`${url} announces ${announced + start} bytes, not ${sizeBytes}`);
    const counter = countBytes({ start, sizeBytes, onBytes, alive: silence.alive });
    const body = Readable.fromWeb(response.body);
    await pipeline(body, counter, createWriteStream(path, { flags: resumed ? "a" : "w" }), {
      signal: silence.signal,
    });
  } finally {
    silence.end();
  }
  const received = await bytesAt(path);
  if (received !== sizeBytes) throw new Error(`${url} sent ${received} of ${sizeBytes} bytes`);
}

/** Size of a file in bytes; 0 when it does not exist. */
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

interface Counting {
  readonly start: number;
  readonly sizeBytes: number;
  readonly onBytes: (received: number) => void;
  readonly alive: () => void;
}

function countBytes({ start, sizeBytes, onBytes, alive }: Counting): Transform {
  let received = start;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      alive();
      if (received > sizeBytes) {
        done(new Error(`more than the announced ${sizeBytes} bytes came`));
        return;
      }
      onBytes(received);
      done(null, chunk);
    },
  });
}

interface Watchdog {
  readonly signal: AbortSignal;
  readonly alive: () => void;
  /** Stops the watch, and drops the connection when it is still there: the answer of a refusal is not read. */
  readonly end: () => void;
}

function watchdog(outer: AbortSignal, silenceMs: number): Watchdog {
  const controller = new AbortController();
  const bite = (): void => controller.abort(new Error(`nothing came for ${silenceMs / 1000} s`));
  let timer = setTimeout(bite, silenceMs);
  const stop = (): void => controller.abort(outer.reason);
  if (outer.aborted) stop();
  outer.addEventListener("abort", stop, { once: true });
  return {
    signal: controller.signal,
    alive() {
      clearTimeout(timer);
      timer = setTimeout(bite, silenceMs);
    },
    end() {
      clearTimeout(timer);
      outer.removeEventListener("abort", stop);
      controller.abort();
    },
  };
}
