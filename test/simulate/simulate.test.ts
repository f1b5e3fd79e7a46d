import { describe, expect, it } from "vitest";
import { type Schedule, simulate } from "../../src/testing.ts";
import { type Case, cases } from "./agents.ts";

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

it("tells in a replay of a call that ended beside one that waits, when their run's time is over", async () => {
  const { agent, options } = cases["delegating"] as Case;
  const reads = { name: "reader", arguments: { input: "a" } };
  const schedule: Schedule = {
    durable: true,
    deviations: [
      { at: "model 1", does: "proposes", calls: [reads, { ...reads, arguments: { input: "b" } }] },
      { at: "model 2", does: "is-silent" },
      { at: "model 3", does: "proposes", calls: [{ name: "pay", arguments: { order: "A1", amount: 5 } }] },
    ],
  };
  const { failure, counts } = await simulate(agent, { ...options, schedule });
  expect(failure?.message).toBeUndefined();
  expect(counts).toMatchObject({ requests: 3, questions: 1, effects: 0 });
});
