import { Transform } from "node:stream";
import { exactJson } from "../../util/json.ts";

/** The longest line that the library keeps: it refuses longer ones itself. */
const mostBytes = 10 * 1024 * 1024;

/** Passes on whole lines of JSON. Integers that the library would round become strings of their digits. */
export function exactLines(): Transform {
  let rest = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = Buffer.concat([rest, chunk]);
      const end = bytes.length > mostBytes ? bytes.length : bytes.lastIndexOf("\n") + 1;
      rest = bytes.subarray(end);
      if (end === 0) return done();
      const lines = bytes.subarray(0, end).toString().split("\n");
      done(null, lines.map(exactJson).join("\n"));
    },
    flush: (done) => done(null, rest),
  });
}
