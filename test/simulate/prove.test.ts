import { expect, it } from "vitest";
import { look, subjects } from "../../tools/prove/proved.ts";

it.each([...subjects])(
  "is not broken by drawn runs, once it is proved: %s",
  { timeout: 600_000 },
  async (_name, subject) => {
    const { proved, simulation } = await look(subject, { seed: 1, schedules: 30 });
    expect(proved.length).toBeGreaterThan(1);
    expect(simulation.failure?.message).toBeUndefined();
  },
);
