import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { takeOutput } from "../../../src/adapters/own-output.ts";

it("a stream that is piped to standard output while it is taken waits for the reader of standard error, and goes on", async () => {
  const written: string[] = [];
  const slow = vi.spyOn(process.stderr, "write").mockImplementation((chunk) => {
    written.push(String(chunk));
    setImmediate(() => process.stderr.emit("drain"));
    return false;
  });
  const giveBack = takeOutput();
  onTestFinished(() => {
    giveBack();
    slow.mockRestore();
  });
  await pipeline(Readable.from(["a", "b", "c"]), process.stdout, { end: false });
  expect(written).toEqual(["a", "b", "c"]);
});
