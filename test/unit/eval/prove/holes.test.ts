import { describe, expect, it } from "vitest";
import { agent } from "../../../../src/index.ts";
import { fakeTool, prove } from "../../../../src/testing.ts";
import { holes } from "./holes.ts";

describe("planted holes", () => {
  it("are more than 25", () => expect(Object.keys(holes).length).toBeGreaterThanOrEqual(25));

  it.each(Object.entries(holes))("%s", { timeout: 60_000 }, async (_name, { sentence, broken, sound }) => {
    const [found] = (await prove(broken, { sentences: [sentence] })).sentences;
    expect(found).toMatchObject({ verdict: "broken", script: expect.stringContaining("process.exitCode") });
    const [held] = (await prove(sound, { sentences: [sentence] })).sentences;
    expect(held?.because).toBeDefined();
    expect(held?.verdict).toBe("proved");
  });
});

describe("a policy that is a function", () => {
  const refund = fakeTool("refund", "done", { effect: "irreversible", inputSchema: { type: "object" } });
  const refunds = { type: "at-most", times: 1, tools: ["refund"] } as const;

  it("is named as the reason why a number of calls is undecided", async () => {
    const clerk = agent({
      name: "clerk",
      model: () => "",
      tools: [refund],
      policy: function careful() {
        return { verdict: "deny", rule: "careful", reason: "not today" };
      },
    });
    const [found] = (await prove(clerk, { sentences: [refunds] })).sentences;
    expect(found?.verdict).toBe("undecided");
    expect(found?.because).toMatch(/^the policy is the function careful, so that .* refund may run 2 times /);
  });
});
