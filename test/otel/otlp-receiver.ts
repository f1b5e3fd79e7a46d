import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/** A span as a receiver has it. */
export interface ReceivedSpan {
  readonly name: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** A receiver of OTLP over HTTP. */
export interface Receiver {
  /** The address to which spans are sent. */
  readonly url: string;
  /** The spans that came so far. */
  readonly spans: () => Promise<readonly ReceivedSpan[]>;
}

/** A receiver that reads the protobuf which comes over the wire by the published numbers of the fields, and by nothing of the sender. */
export async function ownReceiver(): Promise<Receiver> {
  const received: ReceivedSpan[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      received.push(...spansIn(body));
      response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1/traces`, spans: async () => received };
}

/** `ExportTraceServiceRequest`: resource_spans = 1, in each scope_spans = 2, in each spans = 2. */
function spansIn(request: Buffer): readonly ReceivedSpan[] {
  return bytesOf(request, 1)
    .flatMap((resource) => bytesOf(resource, 2))
    .flatMap((scope) => bytesOf(scope, 2))
    .map((span) => ({
      name: textOf(span, 5),
      id: hexOf(span, 2) ?? "",
      parent: hexOf(span, 4),
      attributes: Object.fromEntries(
        bytesOf(span, 9).map((pair) => [textOf(pair, 1), valueOf(bytesOf(pair, 2)[0])]),
      ),
    }));
}

/** `AnyValue`: a text = 1, a boolean = 2, an integer = 3, a double = 4, an array = 5 with its values = 1. */
function valueOf(value: Buffer = Buffer.alloc(0)): unknown {
  const [field] = fieldsOf(value);
  if (field === undefined) return undefined;
  if (typeof field.value === "bigint") return field.number === 2 ? field.value === 1n : Number(field.value);
  if (field.number === 1) return field.value.toString();
  return field.number === 4 ? field.value.readDoubleLE() : bytesOf(field.value, 1).map(valueOf);
}

interface Field {
  readonly number: number;
  readonly value: Buffer | bigint;
}

/** The fields of a message of protobuf. */
function fieldsOf(message: Buffer): readonly Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++] ?? 0;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    const wire = tag & 7;
    if (wire === 0) fields.push({ number: tag >> 3, value: varint() });
    else {
      const length = wire === 1 ? 8 : wire === 5 ? 4 : Number(varint());
      fields.push({ number: tag >> 3, value: message.subarray(at, (at += length)) });
    }
  }
  return fields;
}

function bytesOf(message: Buffer, number: number): readonly Buffer[] {
  return fieldsOf(message).flatMap((field) =>
    field.number === number && typeof field.value !== "bigint" ? [field.value] : [],
  );
}

const textOf = (message: Buffer, number: number): string => bytesOf(message, number)[0]?.toString() ?? "";
const hexOf = (message: Buffer, number: number): string | undefined =>
  bytesOf(message, number)[0]?.toString("hex") || undefined;
