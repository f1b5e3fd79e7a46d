import { expect, it } from "vitest";
import { agent, tool } from "../../../../src/index.ts";
import { type Deviation, simulate, type SimulationOptions } from "../../../../src/testing.ts";
import { allowing } from "./scene.ts";

const shipped = {
  type: "object",
  properties: { by: { enum: ["ship", "rail"] } },
  required: ["by"],
  additionalProperties: false,
} as const;

/** Simulates a buyer whose tool waits for a webhook, with its own code. */
async function played(
  options: SimulationOptions,
  within?: "1m",
): Promise<{ readonly said: readonly unknown[]; readonly failure: string | undefined }> {
  const order = tool({
    name: "order",
    description: "Orders goods, and waits until they are on their way",
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
    effect: "write",
    retry: "keyed",
    execute: async (_args, { waitFor }) => {
      const found = await waitFor("shipped", {
        schema: shipped,
        ...(within === undefined ? {} : { within }),
      });
      return found === undefined ? "nobody says" : "on its way";
    },
  });
  const buyer = agent({ name: "buyer", model: () => "", tools: [order], policy: allowing });
  const said: unknown[] = [];
  const { failure } = await simulate(buyer, {
    tools: { order: "own" },
    script: [{ calls: [{ name: "order", arguments: {} }] }, "Done."],
    invariants: {
      looks: ({ facts }) =>
        facts.forEach((fact) => void (fact.type === "tool-end" && said.push(fact.result.text))),
    },
    ...options,
  });
  return { said, failure: failure?.message };
}

it.each([false, true])("sends a tool that waits a signal that fits, durable: %s", async (durable) => {
  const { said, failure } = await played({ schedule: { durable, deviations: [] } });
  expect(failure).toBeUndefined();
  expect(said).toEqual(["on its way"]);
});

it.each([false, true])("lets no signal come, and the time of the wait pass, durable: %s", async (durable) => {
  const silent: Deviation = { at: "person 1", does: "keeps-silent" };
  const { said, failure } = await played({ schedule: { durable, deviations: [silent] } }, "1m");
  expect(failure).toBeUndefined();
  expect(said).toEqual(["nobody says"]);
});

it("finds nothing wrong with an agent whose tool waits without an end", async () => {
  const { failure } = await played({ schedules: 300 });
  expect(failure).toBeUndefined();
});
