import type { IncomingMessage } from "node:http";
import { pipeline, type Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { handleFailed } from "./lifetime.ts";

export interface BodyOptions {
  readonly resource: string;
  /** The most bytes after decompression. */
  readonly maxBytes: number;
  /** Makes the error for a failure of reading. */
  readonly errorOf: (thrown: unknown) => unknown;
}

const decoders: ReadonlyMap<string, () => Transform> = new Map([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

/** The body of an answer, decompressed while it is read, up to the allowed size. @throws WritError `handle-failed` */
export function bodyOf(
  answer: IncomingMessage,
  options: BodyOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { resource, maxBytes, errorOf } = options;
  const source = decoded(answer, resource);
  const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer<ArrayBuffer>>;
  let bytes = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next();
          if (done === true) return controller.close();
          bytes += value.length;
          if (bytes > maxBytes) throw handleFailed(resource, `the answer has more than ${maxBytes} bytes.`);
          controller.enqueue(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
        } catch (error) {
          answer.destroy();
          source.destroy();
          controller.error(errorOf(error));
        }
      },
      cancel() {
        answer.destroy();
        source.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}

function decoded(answer: IncomingMessage, resource: string): Readable {
  const coding = (answer.headers["content-encoding"] ?? "").trim().toLowerCase();
  if (coding === "" || coding === "identity") return answer;
  const decoder = decoders.get(coding)?.();
  if (decoder === undefined) {
    answer.destroy();
    const reason = `the answer is encoded in a way that is not read: ${JSON.stringify(coding)}.`;
    throw handleFailed(resource, reason);
  }
  // An error of either side destroys both; the reader of the decoder gets it.
  pipeline(answer, decoder, () => undefined);
  return decoder;
}
