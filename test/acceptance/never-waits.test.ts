import { expect, it } from "vitest";
import { agent } from "../../src/index.ts";
import { decidingDriver } from "../../src/drivers.ts";
import { fakeTool } from "../../src/testing.ts";

const budget = { turns: Infinity, toolCalls: Infinity, repeats: Infinity, durationMs: 8_000 };
const look = fakeTool("look", "seen", { effect: "none" });
const call = { name: "look", arguments: {} };

it.each([
  ["a model that answers at once", { model: () => ({ calls: [call] }) }],
  [
    "a driver that asks no model",
    { driver: decidingDriver({ name: "on", decide: () => ({ type: "calls", calls: [call] }) }) },
  ],
])(
  "hears in the middle of a run that it is cancelled, with %s",
  async (_what, speaking) => {
    const runner = agent({ name: "runner", tools: [look], budget, ...speaking });
    const { outcome } = await runner.run("Go on", { signal: AbortSignal.timeout(100) });
    expect(outcome.type).toBe("cancelled");
  },
  30_000,
);
