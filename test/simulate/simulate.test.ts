import { describe, expect, it } from "vitest";
import { simulate } from "../../src/testing.ts";
import { cases } from "./agents.ts";

/** The schedules of all cases together. */
const schedules = 8000;

describe("simulated agents", () => {
  const share = Math.ceil(schedules / Object.keys(cases).length);
  it.each(Object.entries(cases))(
    "hold in every schedule: %s",
    { timeout: 600_000 },
    async (_name, { agent, options }) => {
      const { failure, counts } = await simulate(agent, { ...options, seed: 1, schedules: share });
      expect(failure?.message).toBeUndefined();
      for (const what of ["requests", "calls", "effects", "steps", "deaths"])
        expect(counts[what]).toBeGreaterThan(20);
    },
  );
});
