import { expect, it } from "vitest";
import { agent, type Policy } from "../../../../src/index.ts";
import { type Sentence, sentenceInvariants, simulate } from "../../../../src/testing.ts";
import { planTool } from "../../../../src/tools.ts";
import { asking, look, refund } from "./scene.ts";

const plannedOf = (policy: Policy) =>
  agent({ name: "planner", model: () => "", tools: [refund, look, planTool()], policy });
const A1 = { name: "refund", arguments: { order: "A1" } };
const plan = { name: "plan_acts", arguments: { acts: [{ tool: "refund", arguments: A1.arguments }] } };
const sentence: Sentence = { type: "never", tools: ["refund"], without: "person" };

it.each([true, false])(
  "takes a yes to a plan for a yes to its acts, each once (durable: %s)",
  async (durable) => {
    const planner = plannedOf(asking);
    const { failure, counts } = await simulate(planner, {
      script: [{ calls: [plan] }, { calls: [A1] }, { calls: [A1] }, "Done."],
      schedule: { durable, deviations: [] },
      invariants: sentenceInvariants(planner, [sentence]),
    });
    expect(failure?.message).toBeUndefined();
    expect(counts).toMatchObject({ calls: 2, questions: 2 }); // the plan, and the second call
  },
);

it("takes it for no yes to a call that the plan does not have, nor to a second one of an act", async () => {
  const planner = plannedOf(({ tool }) => ({
    verdict: tool === "plan_acts" ? "ask" : "allow",
    rule: "plans",
    reason: "",
  }));
  for (const calls of [[{ ...A1, arguments: { order: "A2" } }], [A1, A1]]) {
    const { failure } = await simulate(planner, {
      script: [{ calls: [plan] }, { calls }, "Done."],
      schedule: { deviations: [] },
      invariants: sentenceInvariants(planner, [sentence]),
    });
    expect(failure?.message).toContain("refund ran with");
  }
});
