import { describe, expect, it } from "vitest";
import { failureText, fuzzRuns, kindNames } from "./harness.ts";

/** How many scenes are played here: `npm run fuzz -- --runs 1000000` plays more. */
const runs = 20_000;
const seed = 20_263;

describe(`hostile scenes, ${runs} runs`, () => {
  it("break no invariant: nothing hangs, nothing runs that may not, every call has one result [Y12, Y20, Y21]", async () => {
    const fuzzed = await fuzzRuns({ runs, seed });
    expect(fuzzed.failures.map(failureText).join("\n\n")).toBe("");
    expect(fuzzed.runs).toBeGreaterThanOrEqual(runs);
    expect(Object.keys(fuzzed.byKind)).toEqual(kindNames);
    // The invariants are worth something only where things happen.
    for (const [what, number] of Object.entries(fuzzed.tally)) expect(number, what).toBeGreaterThan(20);
    expect(Object.keys(fuzzed.tally)).toHaveLength(9);
  }, 900_000);
});
