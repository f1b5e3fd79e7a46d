import { describe, expect, it } from "vitest";
import { abuse, expectations, type Scenario } from "../../tools/single-use/scenarios.ts";

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a record are its scenarios
const scenarios = Object.keys(expectations) as Scenario[];

describe("10 approvals", () => {
  it.each(scenarios)("%s: each effect at most once, and none that nobody approved", async (scenario) => {
    const { complaints, paid } = await abuse(scenario, 10);
    expect(complaints).toEqual([]);
    expect(paid).toBe(10 * expectations[scenario].paid);
  }); // some begin processes
});
