import { describe, expect, it } from "vitest";
import { killWorkers } from "../../tools/kill/kill-workers.ts";
import { randomFrom } from "../random.ts";

describe("workers that are ended again and again", () => {
  it.each([
    { name: "by kill -9 and SIGTERM: lose no run and pay nothing twice", isGentle: false },
    { name: "by SIGTERM alone: hand over, and leave nothing unknown", isGentle: true },
  ])("$name", async ({ isGentle }) => {
    const next = randomFrom(5);
    const { ended, unknown, complaints } = await killWorkers({
      runs: 8,
      workers: 2,
      signal: () => (isGentle || next() < 0.5 ? "SIGTERM" : "SIGKILL"),
      next,
      most: 8,
    });
    expect(complaints).toEqual([]);
    expect(ended).toBeGreaterThanOrEqual(2);
    if (isGentle) expect(unknown).toBe(0);
  });
});
