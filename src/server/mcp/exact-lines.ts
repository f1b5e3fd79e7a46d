import { Transform } from "node:stream";
import { WritError } from "../../error/writ-error.ts";
import { parseCallJson } from "../../util/call-json.ts";
import { asObject, exactJson, parseJson } from "../../util/json.ts";

/** The longest line that the library keeps: it refuses longer ones itself. */
const mostBytes = 10 * 1024 * 1024;

/** The code of JSON-RPC for a message that is no request. */
const invalidRequest = -32_600;

/**
 * Passes on whole lines of JSON. Integers that the library would round become strings of their digits. A message with a key twice in one object is refused:
 * a request is answered with an error, an answer becomes an error, and a notification is dropped.
 */
export function exactLines(answer: (line: string) => void): Transform {
  let rest = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = Buffer.concat([rest, chunk]);
      const end = bytes.length > mostBytes ? bytes.length : bytes.lastIndexOf("\n") + 1;
      rest = bytes.subarray(end);
      if (end === 0) return done();
      const lines = bytes.subarray(0, end).toString().split("\n");
      done(null, lines.map((line) => exactLine(line, answer)).join("\n"));
    },
    flush: (done) => done(null, rest),
  });
}

function exactLine(line: string, answer: (line: string) => void): string {
  const read = parseCallJson(line);
  if (!("twice" in read)) return exactJson(line);
  const parsed = parseJson(line);
  const { id, method } = asObject(parsed.ok ? parsed.value : undefined);
  if (id === undefined) return "";
  const { message } = new WritError("request-invalid", { where: "the message", reason: read.reason });
  const refusal = JSON.stringify({ jsonrpc: "2.0", id, error: { code: invalidRequest, message } });
  if (method === undefined) return refusal;
  answer(`${refusal}\n`);
  return "";
}
