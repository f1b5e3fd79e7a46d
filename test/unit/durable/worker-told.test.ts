import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { durableRuns, memoryRuns } from "../../../src/durable.ts";
import { agent } from "../../../src/index.ts";

it("A worker asks for a run when one may go on, and not for each record of another worker", async () => {
  const store = memoryRuns();
  const tell: ((id?: string, isProgress?: boolean) => void)[] = [];
  vi.spyOn(store, "watch").mockImplementation((onChange) => {
    tell.push(onChange);
    return () => undefined;
  });
  const claim = vi.spyOn(store, "claim");
  await using _worker = durableRuns({ store, agents: [agent({ name: "a", model: () => "x" })] }).work();
  await sleep(1); // its first look is over
  const asked = (...given: Parameters<(typeof tell)[number]>): number => {
    const before = claim.mock.calls.length;
    for (const each of tell) each(...given);
    return claim.mock.calls.length - before;
  };
  expect(asked("b", true)).toBe(0);
  expect(asked("b")).toBe(1);
});
