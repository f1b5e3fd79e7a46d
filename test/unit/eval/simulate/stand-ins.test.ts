import { expect, it } from "vitest";
import { agent } from "../../../../src/index.ts";
import { fakeTool, simulate, type StandIn } from "../../../../src/testing.ts";
import { allowing, order } from "./scene.ts";

const outputSchema = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] } as const;

/** The message of the failure of a shop whose tool has this stand-in. */
async function failureWith(pay: StandIn<undefined>): Promise<string | undefined> {
  const tool = fakeTool("pay", { sum: 1 }, { effect: "irreversible", inputSchema: order, outputSchema });
  const shop = agent({ name: "shop", model: () => "", tools: [tool], policy: allowing });
  return (await simulate(shop, { schedules: 30, tools: { pay } })).failure?.message;
}

it.each<[string, StandIn<undefined>]>([
  [
    "threw TypeError: Cannot read properties of undefined (reading 'paid')",
    (_args, { state }) => void (state as unknown as { paid: string[] }).paid.push("A1"),
  ],
  ["returned what the tool cannot give: ", () => undefined],
  ["returned what the tool cannot give: sum: ", async () => ({ sum: "one" })],
  ["returned what the tool cannot give: ", () => ({ sum: 1n })],
])(
  "tells of a stand-in with a mistake, which would look like a tool that fails: it %s",
  async (said, pay) => {
    expect(await failureWith(pay)).toContain(`the stand-ins work: the stand-in of pay ${said}`);
  },
);

it("lets a stand-in fail as its tool would", async () => {
  const noUrl = (): unknown => ({ sum: new URL("no url") });
  const down = (): never => {
    throw new Error("the bank is closed");
  };
  for (const pay of [noUrl, down, () => ({ sum: 1 })]) expect(await failureWith(pay)).toBeUndefined();
});
