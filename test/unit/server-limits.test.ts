import { expect, it } from "vitest";
import type { Host } from "../../src/journal/host.ts";
import { defaultBounds, Usages } from "../../src/server/limits.ts";

/** Usages at a clock that the test turns. */
function atClock(bounds: Partial<typeof defaultBounds> = {}): {
  readonly usages: Usages;
  readonly turn: (ms: number) => void;
} {
  let now = 0;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else of it is used
  const host = { now: () => now } as Host;
  return { usages: new Usages({ ...defaultBounds, ...bounds }, host), turn: (ms) => (now += ms) };
}

/** The number of callers of whom something is kept. */
const kept = (usages: Usages): number =>
  new Set(
    ["left", "open"].flatMap((name) => [
      ...(Reflect.get(usages, name) as ReadonlyMap<string, unknown>).keys(),
    ]),
  ).size;

it("Keeps nothing of a caller who has asked nothing for a minute, or has left its last stream", () => {
  const { usages, turn } = atClock();
  for (let caller = 0; caller < 1000; caller += 1) {
    usages.count(`caller ${caller}`);
    turn(1000);
  }
  expect(kept(usages)).toBe(60);
  turn(60_000);
  usages.count("a");
  expect(kept(usages)).toBe(1);
  const leave = [usages.stream("a"), usages.stream("b"), usages.stream("b")];
  leave[1]?.();
  leave[1]?.();
  expect(kept(usages)).toBe(2);
  leave[2]?.();
  expect(kept(usages)).toBe(1);
});

it("Counts on for a caller who asks within the minute, and begins anew after it", () => {
  const { usages, turn } = atClock({ requestsAMinute: 2, streams: 1 });
  const ask = (): void => usages.count("a");
  ask();
  ask();
  expect(ask).toThrow(expect.objectContaining({ code: "request-too-many", retryAfterMs: 30_000 }));
  turn(30_000);
  ask();
  expect(ask).toThrow(expect.objectContaining({ code: "request-too-many" }));
  turn(60_000);
  usages.count("b");
  ask();
  ask();
  expect(ask).toThrow(expect.objectContaining({ code: "request-too-many" }));
  const leave = usages.stream("a");
  expect(() => usages.stream("a")).toThrow(expect.objectContaining({ code: "request-too-many" }));
  leave();
  expect(usages.stream("a")).toBeTypeOf("function");
});

it("Refuses nobody because the clock was set back, and nobody for longer than a minute", () => {
  const { usages, turn } = atClock({ requestsAMinute: 2 });
  usages.count("a");
  turn(-600_000);
  usages.count("a");
  expect(() => usages.count("a")).toThrow(expect.objectContaining({ retryAfterMs: 30_000 }));
  turn(-600_000);
  expect(() => usages.count("a")).toThrow(expect.objectContaining({ retryAfterMs: 30_000 }));
  turn(30_000);
  usages.count("a");
});
