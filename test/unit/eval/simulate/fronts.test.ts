import { expect, it } from "vitest";
import { pipe, repeat, subagents } from "../../../../src/compose.ts";
import { type Agent, agent, allow, policy } from "../../../../src/index.ts";
import { fakeTool, type ProposedCall, type Schedule, simulate } from "../../../../src/testing.ts";
import type { Tool } from "../../../../src/index.ts";

const nothing = { type: "object", properties: {}, additionalProperties: false } as const;
const refund = fakeTool("refund", "done", { effect: "irreversible", inputSchema: nothing });
const everything = policy({ name: "all", rules: [allow("*")] });
const payer = agent({ name: "payer", model: () => "", tools: [refund], policy: everything });
const other = payer.with({ name: "other" });

const clerkWith = (tool: Tool): Agent<string> =>
  agent({ name: "clerk", model: () => "", tools: [tool], policy: everything });
const proposing = (...calls: readonly ProposedCall[]): Schedule => ({
  deviations: calls.map((call, place) => ({ at: `model ${place + 1}`, does: "proposes", calls: [call] })),
});

/** The tools that ran where a front is called, and the agent behind it asks for a refund. */
async function ranBehind(front: Tool, args: ProposedCall["arguments"]): Promise<readonly string[]> {
  const ran: string[] = [];
  const { failure } = await simulate(clerkWith(front), {
    schedule: proposing({ name: front.name, arguments: args }, { name: "refund", arguments: {} }),
    invariants: {
      looks: ({ facts, inside }) => {
        const all = [...facts, ...inside.flatMap((each) => each.facts)];
        for (const fact of all) if (fact.type === "tool-end") ran.push(`${fact.name} ${fact.result.status}`);
      },
    },
  });
  expect(failure?.message).toBeUndefined();
  return ran;
}

it.each([[[payer]], [[payer, other]]])("plays the agents behind subagents(), one or several", async (all) => {
  const ran = await ranBehind(subagents(all), { subagent: "payer", prompt: "Pay" });
  expect(ran).toEqual(["spawn_subagent ok", "refund ok"]);
});

it("keeps the name of a composition that is a tool, of one agent too", async () => {
  const again = repeat(payer, { until: () => true }).with({ name: "again" });
  const both = pipe(payer, other).with({ name: "both" });
  expect(await ranBehind(again.asTool(), { input: "Pay" })).toEqual(["again ok", "refund denied"]);
  expect(await ranBehind(both.asTool(), { input: "Pay" })).toEqual(["both ok", "refund denied"]);
});

it("keeps what an author changed of a tool that an agent is", async () => {
  const pay = { ...payer.asTool(), name: "pay" };
  expect(await ranBehind(pay, { input: "Pay" })).toEqual(["pay ok", "refund ok"]);
});
