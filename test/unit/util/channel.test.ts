import { describe, expect, it } from "vitest";
import { mergeLive } from "../../../src/event/merge-live.ts";
import type { RunEvent } from "../../../src/event/event.ts";
import { channel } from "../../../src/util/channel.ts";

describe("channel", () => {
  it("gives everything in order, then the end or the error", async () => {
    const numbers = channel<number>();
    numbers.push(1);
    setTimeout(() => {
      numbers.push(2);
      numbers.close(new Error("over"));
      numbers.push(3);
    }, 5);
    const seen: number[] = [];
    await expect(
      (async () => {
        for await (const number of numbers) seen.push(number);
      })(),
    ).rejects.toThrow("over");
    expect(seen).toEqual([1, 2]);
  });

  it("merges live events for a slow reader and says how many, but never drops a fact [L6]", async () => {
    const events = channel<RunEvent>(mergeLive, 10);
    for (let turn = 1; turn <= 100; turn += 1) {
      for (let piece = 0; piece < 100; piece += 1) events.push({ type: "text-delta", turn, text: "x" });
      events.push({ type: "turn-end", turn });
    }
    events.close();
    const read: RunEvent[] = [];
    for await (const event of events) read.push(event);
    expect(read.filter((event) => event.type === "turn-end")).toHaveLength(100);
    const deltas = read.filter((event) => event.type === "text-delta");
    expect(deltas.reduce((sum, event) => sum + event.text.length, 0)).toBe(10_000);
    expect(deltas.reduce((sum, event) => sum + (event.merged ?? 1), 0)).toBe(10_000);
    expect(read.length).toBeLessThan(400);
  });
});
