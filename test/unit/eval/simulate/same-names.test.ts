import { expect, it } from "vitest";
import { type Agent, agent } from "../../../../src/index.ts";
import type { Effect } from "../../../../src/tool/tool.ts";
import { fakeTool, type ProposedCall, type Schedule, simulate } from "../../../../src/testing.ts";
import { evidenceOf } from "../../../../src/eval/simulate/evidence.ts";
import { runtimeInvariants } from "../../../../src/eval/simulate/invariants.ts";
import { play } from "../../../../src/eval/simulate/play.ts";
import { known } from "../../../../src/eval/simulate/schedule.ts";
import { settingOf } from "../../../../src/eval/simulate/stage.ts";
import { allowing, look, reader } from "./scene.ts";

const nothing = { type: "object", properties: {}, additionalProperties: false } as const;

/** An agent with a tool of that effect, and with an agent inside whose tool of the same name has another effect. */
function clerkWith(outer: Effect, inner: Effect): Agent<string> {
  const keep = (effect: Effect) => ({ ...fakeTool("keep", "kept", { inputSchema: nothing }), effect });
  const made = { model: () => "", policy: allowing };
  const keeper = agent({ ...made, name: "keeper", description: "keeps", tools: [keep(inner)] });
  return agent({ ...made, name: "clerk", tools: [keep(outer), keeper.asTool()] });
}

const proposing = (...calls: readonly ProposedCall[]): Schedule => ({
  deviations: calls.map((call, place) => ({ at: `model ${place + 1}`, does: "proposes", calls: [call] })),
});
const keep: ProposedCall = { name: "keep", arguments: {} };
const inside: ProposedCall = { name: "keeper", arguments: { input: "Keep" } };

it("takes a tool with its own code for no stand-in, where one inside has its name", async () => {
  const { failure } = await simulate(clerkWith("none", "write"), { schedule: proposing(keep) });
  expect(failure?.message).toBeUndefined();
});

it.each<{ outer: Effect; inner: Effect; calls: readonly ProposedCall[]; expected: number }>([
  { outer: "read", inner: "write", calls: [inside, keep], expected: 1 },
  { outer: "read", inner: "write", calls: [keep], expected: 0 },
  { outer: "write", inner: "read", calls: [inside, keep], expected: 0 },
  { outer: "write", inner: "read", calls: [keep], expected: 1 },
])("shows the effects of the tool that ran: $outer, and $inner inside", async (each) => {
  const { outer, inner, calls, expected } = each;
  const seen: number[] = [];
  const { failure } = await simulate(clerkWith(outer, inner), {
    schedule: proposing(...calls),
    invariants: { looks: ({ effects }) => void seen.push(effects.length) },
  });
  expect(failure?.message).toBeUndefined();
  expect(seen).toEqual([expected]);
});

it("holds no tool to what one of its name promises: that which reads may run again", async () => {
  const { failure, counts } = await simulate(clerkWith("write", "read"), { schedules: 1500 });
  expect(failure?.message).toBeUndefined();
  expect(counts["deaths"]).toBeGreaterThan(0);
});

it("holds a tool inside to what it promises itself, whatever one of its name outside may do", async () => {
  const { stage, subject } = await settingOf(clerkWith("read", "write"), {});
  const evidence = evidenceOf(await play(stage, known(proposing(inside, keep))), subject);
  const { executions } = evidence.world;
  expect(executions).toMatchObject([{ agent: "keeper", tookEffect: true }]);
  executions.push(...executions);
  expect(runtimeInvariants["an effect happens at most once for a call"]?.(evidence)).toEqual([
    expect.stringMatching(/^keep .* had its effect 2 times, and may not run again$/),
  ]);
});

it("checks what is told of a tool that an agent inside has too", async () => {
  const both = agent({ name: "both", model: () => "", tools: [reader.asTool(), look], policy: allowing });
  const { subject } = await settingOf(both, {});
  expect([...subject.standIns]).toEqual(["look"]); // `note` is inside alone: no run of this agent tells of it
});
