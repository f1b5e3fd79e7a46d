import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeFrame, type Frame, frameReader } from "../../../../src/adapters/isolate/child/frames.ts";

interface Read {
  readonly frames: Frame[];
  readonly tooLong: number[];
  readonly feed: (chunk: Buffer) => void;
}

function reader(maxBytes = 1_000_000): Read {
  const frames: Frame[] = [];
  const tooLong: number[] = [];
  const feed = frameReader({
    maxBytes,
    onFrame: (frame) => frames.push({ ...frame, bytes: new Uint8Array(frame.bytes) }),
    onTooLong: (bytes) => tooLong.push(bytes),
  });
  return { frames, tooLong, feed };
}

describe("frames", () => {
  it("come out as they went in, however the pipe cuts them", () => {
    const message = fc.tuple(fc.jsonValue(), fc.uint8Array({ maxLength: 50 }));
    const cuts = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 5 }), cuts, (messages, sizes) => {
        const { frames, tooLong, feed } = reader();
        const whole = Buffer.concat(messages.map(([value, bytes]) => encodeFrame(value, bytes)));
        for (let at = 0, turn = 0; at < whole.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          feed(whole.subarray(at, at + size));
          at += size;
        }
        const got = frames.map(({ text, bytes }) => [text, [...bytes]]);
        expect(got).toEqual(messages.map(([value, bytes]) => [JSON.stringify(value), [...bytes]]));
        expect(tooLong).toEqual([]);
      }),
    );
  });

  it("that say they are too long are refused before they are kept, and nothing is read after them", () => {
    const { frames, tooLong, feed } = reader(100);
    const header = Buffer.alloc(8);
    header.writeUInt32BE(60, 0);
    header.writeUInt32BE(60, 4);
    feed(encodeFrame("first"));
    feed(header);
    feed(encodeFrame("second"));
    expect(frames.map(({ text }) => text)).toEqual(['"first"']);
    expect(tooLong).toEqual([128]);
  });

  it("have the digits of a bigint as text, as JSON of this process has it", () => {
    const { frames, feed } = reader();
    feed(encodeFrame({ big: 12n }));
    expect(frames[0]?.text).toBe('{"big":"12"}');
  });
});
