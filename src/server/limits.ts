import { WritError } from "../error/writ-error.ts";
import type { Host } from "../journal/host.ts";
import { parseCallJson } from "../util/call-json.ts";
import { exactJson } from "../util/json.ts";

/** Bounds on the requests to a server. */
export interface ServerLimits {
  /** Bytes of the body of a request. Default 1 000 000. */
  readonly bodyBytes?: number;
  /** Milliseconds that the body of a request may take to arrive. Default 30 000. */
  readonly bodyMs?: number;
  /** Requests of a caller in a minute. Default 6 000. */
  readonly requestsAMinute?: number;
  /** Streams of a caller that are open at a time. Default 1 000. */
  readonly streams?: number;
}

/** All bounds of a server. */
export type Bounds = Required<ServerLimits>;

export const defaultBounds: Bounds = {
  bodyBytes: 1_000_000,
  bodyMs: 30_000,
  requestsAMinute: 6000,
  streams: 1000,
};

const minuteMs = 60_000;

/** The use of each caller. Requests of a caller that has made none for a minute are forgotten. */
export class Usages {
  private readonly bounds: Bounds;
  private readonly host: Host;
  private readonly left = new Map<string, { count: number; at: number }>();
  private readonly open = new Map<string, number>();

  constructor(bounds: Bounds, host: Host) {
    this.bounds = bounds;
    this.host = host;
  }

  /** Counts a request: a caller may use the whole bound at once, and regains it over a minute. @throws WritError `request-too-many` */
  count(caller: string): void {
    const { requestsAMinute: limit } = this.bounds;
    const now = this.host.now();
    const known = this.left.get(caller) ?? { count: limit, at: now };
    const passedMs = Math.max(0, now - known.at); // the clock of a machine may be set back
    const count = Math.min(limit, known.count + (passedMs * limit) / minuteMs);
    const isOver = count < 1;
    this.left.delete(caller); // the latest caller comes last
    this.left.set(caller, { count: isOver ? count : count - 1, at: now });
    for (const [name, { at }] of this.left) {
      if (now - at < minuteMs) break;
      this.left.delete(name);
    }
    if (!isOver) return;
    const retryAfterMs = Math.ceil(((1 - count) * minuteMs) / limit);
    throw new WritError("request-too-many", { limit, what: "requests in a minute" }, { retryAfterMs });
  }

  /** Counts a stream until the returned function is called. @throws WritError `request-too-many` */
  stream(caller: string): () => void {
    const { streams: limit } = this.bounds;
    const count = this.open.get(caller) ?? 0;
    if (count >= limit)
      throw new WritError("request-too-many", { limit, what: "open streams" }, { retryAfterMs: 1000 });
    this.open.set(caller, count + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const others = (this.open.get(caller) ?? 1) - 1;
      if (others > 0) this.open.set(caller, others);
      else this.open.delete(caller);
    };
  }
}

/**
 * Reads the text of a body, up to the bound of its size and of its time.
 *
 * @throws WritError `request-too-large`, `request-slow`, `request-compressed`, `request-invalid`
 */
export async function boundedText(
  request: Request,
  { bodyBytes, bodyMs }: Pick<Bounds, "bodyBytes" | "bodyMs">,
  host: Pick<Host, "timer">,
): Promise<string> {
  if (Number(request.headers.get("content-length") ?? 0) > bodyBytes)
    throw new WritError("request-too-large", { limit: bodyBytes });
  const { body } = request;
  if (body === null) return "";
  const encoding = request.headers.get("content-encoding")?.trim() ?? "";
  if (encoding !== "" && encoding.toLowerCase() !== "identity")
    throw new WritError("request-compressed", { encoding: encoding.slice(0, 100) });
  const reader = body.getReader();
  const late = Promise.withResolvers<never>();
  const stopTimer = host.timer(bodyMs, () => {
    late.reject(new WritError("request-slow", { seconds: bodyMs / 1000 }));
    leave(reader);
  });
  try {
    return utf8(await Promise.race([readAll(reader, bodyBytes), late.promise]));
  } finally {
    stopTimer();
  }
}

/**
 * Reads a whole request as `boundedText` does, for a library that would wait without a bound, would round large integers, and would take the later
 * one of a key that stands twice.
 *
 * @throws WritError `request-too-large`, `request-slow`, `request-invalid`
 */
export async function wholeRequest(
  request: Request,
  bounds: Bounds,
  host: Pick<Host, "timer">,
): Promise<Request> {
  if (request.body === null) return request;
  const { url, method, headers, signal } = request;
  const text = await boundedText(request, bounds, host);
  const read = parseCallJson(text);
  if ("twice" in read) throw new WritError("request-invalid", { where: "the body", reason: read.reason });
  const body = exactJson(text);
  return new Request(url, { method, headers, signal, body });
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

/** The bytes of a body. A body that its client breaks off is not a fault of the server. */
async function readAll(reader: BodyReader, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { value } = await reader.read().catch((cause: unknown) => {
      throw new WritError("request-invalid", { where: "the body", reason: "it broke off" }, { cause });
    });
    if (value === undefined) return Buffer.concat(chunks);
    bytes += value.byteLength;
    chunks.push(value);
    if (bytes <= limit) continue;
    leave(reader);
    throw new WritError("request-too-large", { limit });
  }
}

/** Stops reading a body. Its sender may have gone. */
function leave(reader: BodyReader): void {
  reader.cancel().catch(() => undefined);
}

function utf8(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new WritError("request-invalid", { where: "the body", reason: "it is not UTF-8" }, { cause });
  }
}
