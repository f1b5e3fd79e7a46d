import { agent, ask, policy, tool } from "writ";
import { z } from "zod";
import { model } from "./model.ts";

/** The refunds that were made: a payment service in a real program. */
export const refunds: string[] = [];

const refund = tool({
  name: "refund",
  description: "Give the money of an order back",
  inputSchema: z.object({ order: z.string(), euro: z.number().positive() }),
  effect: "irreversible",
  execute({ order, euro }) {
    refunds.push(`${euro} euro for order ${order}`);
    return "done";
  },
});

export const desk = agent({
  name: "desk",
  instructions: "Refund orders that came broken.",
  model,
  tools: [refund],
  policy: policy({ name: "refunds", rules: [ask("refund").because("money leaves")] }),
  budget: { turns: 6 },
});
