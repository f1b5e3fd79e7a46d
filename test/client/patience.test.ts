import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { patienceUntil } from "../../src/client/patience.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function pauses(chance: number): Promise<readonly number[]> {
  vi.spyOn(Math, "random").mockReturnValue(chance);
  const { wait } = patienceUntil(new AbortController().signal);
  const waited: number[] = [];
  for (let time = 0; time < 3; time += 1) {
    const before = Date.now();
    const done = wait(new Error("the connection broke"));
    await vi.advanceTimersToNextTimerAsync();
    await done;
    waited.push(Date.now() - before);
  }
  return waited;
}

it("clients that a server lost together do not come back together", async () => {
  expect(await pauses(0)).toEqual([200, 400, 800]);
  expect(await pauses(0.8)).toEqual([240, 480, 960]);
});
