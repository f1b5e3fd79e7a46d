import { describe, expect, it } from "vitest";
import type { Agent, Policy } from "../../src/index.ts";
import { simulate } from "../../src/testing.ts";
import { cases } from "./agents.ts";

const always =
  (verdict: "allow" | "ask" | "deny"): Policy =>
  () => ({ verdict, rule: "changed", reason: "" });

type Change = Parameters<Agent["with"]>[0];

/** What is deployed while runs are under way. */
const changes: Readonly<Record<string, Change>> = {
  "a policy that asks about all": { policy: always("ask") },
  "a policy that allows all": { policy: always("allow") },
  "a policy that denies all": { policy: always("deny") },
  "a hook that denies all": { hooks: [{ beforeToolCall: () => ({ deny: "closed" }) }] },
  "a hook that answers": { hooks: [{ beforeTurn: () => ({ answer: "closed" }) }] },
  "a bound of one call": { budget: { toolCalls: 1 } },
  "an end on blocked calls": { endOn: ["blocked-call"] },
};

const schedules = Number(process.env["SCHEDULES"] ?? 25);
const seed = Number(process.env["SEED"] ?? 20261129);

describe.each(Object.entries(changes))("where %s is deployed", (_what, change) => {
  it.each(Object.entries(cases))("every schedule holds: %s", async (_name, { agent, options }) => {
    const redeploy = agent.with(change);
    const accept = ["policy", "tools", "messages"] as const;
    const { failure } = await simulate(agent, { ...options, seed, schedules, redeploy, accept });
    expect(failure && `${failure.invariant}: ${failure.message}`).toBeUndefined();
  });
});
