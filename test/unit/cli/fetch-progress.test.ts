import { expect, it } from "vitest";
import { catalogueModel } from "../../../src/adapters/model-files/cache.ts";
import { defaultModel } from "../../../src/adapters/model-files/catalogue.ts";
import { fetchProgress } from "../../../src/cli/models.ts";
import type { Output } from "../../../src/cli/output.ts";

function watch(isTerminal: boolean): {
  told: string[];
  tell: ReturnType<typeof fetchProgress>;
  pass: (ms: number) => void;
} {
  const told: string[] = [];
  let time = 1000;
  const style = (_style: string, text: string): string => text;
  const output: Output = {
    answer: () => undefined,
    progress: (text) => void told.push(text),
    isTerminal,
    answersTerminal: false,
    style,
    styleAnswer: style,
  };
  return { told, tell: fetchProgress(output, () => time), pass: (ms) => void (time += ms) };
}

it("announces name, size and licence first", () => {
  const { told, tell } = watch(false);
  tell({
    type: "begin",
    file: { ...catalogueModel(defaultModel), sizeBytes: 98_362_432, licence: "Apache-2.0" },
  });
  expect(told).toEqual([`Fetching ${defaultModel}: 98 MB, licence Apache-2.0\n`]);
});

it("writes a line for each tenth where there is no terminal", () => {
  const { told, tell, pass } = watch(false);
  tell({ type: "source", from: "hub", sizeBytes: 100e6 });
  for (let received = 0; received <= 100; received += 1) {
    tell({ type: "bytes", received: received * 1e6, sizeBytes: 100e6 });
    pass(100);
  }
  expect(told).toHaveLength(11);
  expect(told[1]).toBe("10 %  10 MB of 100 MB, 10 MB/s, 9.0 s left\n");
  expect(told[10]).toBe("100 %  100 MB of 100 MB, 10 MB/s\n");
  expect(told.join("")).not.toContain("\r");
});

it("skips the tenths that an earlier try left, and does not count them as speed", () => {
  const { told, tell, pass } = watch(false);
  tell({ type: "source", from: "hub", sizeBytes: 100e6 });
  tell({ type: "bytes", received: 55e6, sizeBytes: 100e6 });
  pass(1000);
  tell({ type: "bytes", received: 60e6, sizeBytes: 100e6 });
  expect(told.slice(1)).toEqual([
    "55 %  55 MB of 100 MB, 0 B/s\n",
    "60 %  60 MB of 100 MB, 5.0 MB/s, 8.0 s left\n",
  ]);
});

it("draws a bar on a terminal, ten times a second at most, and ends its line", () => {
  const { told, tell, pass } = watch(true);
  tell({ type: "source", from: "hub", sizeBytes: 1000 });
  for (let received = 1; received <= 1000; received += 1) {
    tell({ type: "bytes", received, sizeBytes: 1000 });
    pass(1);
  }
  const bars = told.slice(1);
  expect(bars.length).toBeGreaterThan(9);
  expect(bars.length).toBeLessThan(13);
  expect(bars.every((bar) => bar.startsWith("\r"))).toBe(true);
  expect(bars.filter((bar) => bar.endsWith("\n"))).toEqual([bars.at(-1)]);
  expect(bars.at(-1)).toContain(`${"█".repeat(24)} 100 %`);
});

it("tells of a source that failed on a line of its own, and begins anew with the next", () => {
  const { told, tell } = watch(true);
  tell({ type: "source", from: "hub", sizeBytes: 1000 });
  tell({ type: "bytes", received: 100, sizeBytes: 1000 });
  tell({ type: "source-failed", from: "hub", reason: "HTTP 500\nInternal" });
  tell({ type: "source", from: "pip", sizeBytes: 1000 });
  expect(told.slice(2)).toEqual(["\nhub failed: HTTP 500 Internal\n", "from pip\n"]);
});
