import { expect, it } from "vitest";
import { agent, allow, policy } from "../../../../src/index.ts";
import { fakeTool, sentenceInvariants, simulate } from "../../../../src/testing.ts";

const nothing = { type: "object", properties: {}, additionalProperties: false } as const;
const look = fakeTool("look", "seen", { effect: "read", inputSchema: nothing });
const reader = agent({ name: "reader", model: () => "", tools: [look] });
const reading = { name: "reader", arguments: { input: "Read" } };
const clerk = agent({ name: "clerk", model: () => "", tools: [reader.asTool()] });

it("lets agents beside each other begin on what is left: each is asked before the other has used anything", async () => {
  const bounded = clerk.with({ budget: { tokens: 20 } });
  const { failure } = await simulate(bounded, {
    script: [{ calls: [reading, reading] }],
    schedule: { deviations: [] },
  });
  expect(failure?.message).toBeUndefined();
});

it("lets an agent that only looks begin while the reply around it is written: its tokens nobody knows yet", async () => {
  const early = agent({
    name: "clerk",
    model: () => "",
    tools: [reader.asTool({ effect: "read" })],
    budget: { tokens: 20 },
  });
  const { failure, counts } = await simulate(early, {
    script: [{ calls: [{ name: "no_such_tool", arguments: {} }] }, { calls: [reading] }],
    schedule: { deviations: [] },
  });
  expect(failure?.message).toBeUndefined();
  expect(counts["requests"]).toBe(3);
});

it.each([
  { of: "tokens", most: 20 },
  { of: "costUsd", most: 0.0002 },
] as const)(
  "counts $of of agents inside, and their requests, where a sentence bounds them",
  async ({ of, most }) => {
    const playedWith = (...replies: readonly number[]): ReturnType<typeof simulate> =>
      simulate(clerk, {
        script: [{ calls: [reading] }],
        schedule: {
          deviations: replies.map((number) => ({
            at: `model ${number}`,
            does: "proposes",
            calls: [{ name: "look", arguments: {} }],
          })),
        },
        invariants: sentenceInvariants(clerk, [{ type: "bound", of, most }]),
      });
    const late = /a request was made after (30|0\.0003)/;
    expect((await playedWith(2)).failure?.message).toMatch(late); // that of the reader, for the second time
    expect((await playedWith()).failure?.message).toMatch(late); // that of the clerk, after the reader's
  },
);

it("takes the effect of a tool for what the policy says of it: it may run again after a crash", async () => {
  const own = policy({ name: "own", rules: [allow("*")], tools: { find: { effect: "read" } } });
  const finder = agent({
    name: "finder",
    model: () => "",
    tools: [fakeTool("find", "found", { inputSchema: nothing })],
    policy: own,
  });
  const { failure, counts } = await simulate(finder, {
    script: [{ calls: [{ name: "find", arguments: {} }] }],
    schedule: { durable: true, deviations: [{ at: "step 3", does: "dies-unkept" }] },
  });
  expect(failure?.message).toBeUndefined();
  expect(counts["calls"]).toBe(2);
});

it("runs the own code of a tool that only computes, whatever effect the policy calls it", async () => {
  const own = policy({ name: "own", rules: [allow("*")], tools: { add: { effect: "write" } } });
  const add = fakeTool("add", "3", { effect: "none", inputSchema: nothing });
  const adder = agent({ name: "adder", model: () => "", tools: [add], policy: own });
  const { failure } = await simulate(adder, {
    script: [{ calls: [{ name: "add", arguments: {} }] }],
    schedule: { deviations: [] },
  });
  expect(failure?.message).toBeUndefined();
});
