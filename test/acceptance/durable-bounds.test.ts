import { expect, it } from "vitest";
import { durableRuns, memoryRuns } from "../../src/durable.ts";
import { agent, allow, type Budget, policy } from "../../src/index.ts";
import type { ModelFunction } from "../../src/models.ts";
import { fakeTool } from "../../src/testing.ts";

/** A model that pays two people in each turn, for ever. */
const spender: ModelFunction = ({ messages: { length } }) => ({
  calls: [1, 2].map((count) => ({ name: "pay", arguments: { to: `${length}-${count}` } })),
});

/** A model that pays the same person in each turn. */
const circler: ModelFunction = () => ({ calls: [{ name: "pay", arguments: { to: "Ada" } }] });

const deployed = (budget: Budget, model = spender) =>
  agent({
    name: "payer",
    model,
    tools: [fakeTool("pay", "paid")],
    policy: policy({ name: "pays", rules: [allow("pay")] }),
    budget,
  });

const cases: readonly [Budget, Budget, ModelFunction?][] = [
  [{ turns: 3 }, { turns: 50 }],
  [
    { turns: 20, toolCalls: 3 },
    { turns: 20, toolCalls: 500 },
  ],
  [
    { turns: 20, tokens: 30 },
    { turns: 20, tokens: 5000 },
  ],
  [{ turns: 20, sameToolInARow: 3 }, { turns: 20 }],
  [{ turns: 20 }, { turns: 20, repeats: 50 }, circler],
];

it.each(cases)(
  "replays a run that met the bound %j, with the same facts, after the bound was raised to %j",
  async (before, after, model) => {
    const store = memoryRuns();
    const first = durableRuns({ store, agents: [deployed(before, model)] });
    const worker = first.work();
    await first.start(deployed(before, model), "Pay", { id: "r" });
    const { outcome } = await first.result("r");
    await worker.drain();
    expect(outcome.type).toBe("exhausted");

    const later = durableRuns({ store, agents: [deployed(after, model)] });
    const [then, now] = [await first.replay("r"), await later.replay("r")];
    expect(now.outcome).toEqual(outcome);
    expect(now.transcript.messages).toEqual(then.transcript.messages);
    const told = (runs: typeof first) =>
      Array.fromAsync(runs.events("r"), ({ type, seq }) => `${seq} ${type}`);
    expect(await told(later)).toEqual(await told(first));
  },
);
