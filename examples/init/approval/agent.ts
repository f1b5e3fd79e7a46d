import { agent, ask, policy, tool } from "writ";
import { z } from "zod";
import { model } from "./model.ts";

/** The refunds that were made. A real program has a payment service in place of this list. */
export const refunds: string[] = [];

const refund = tool({
  name: "refund",
  description: "Refund an order",
  inputSchema: z.object({ order: z.string(), euro: z.number().positive() }),
  effect: "irreversible",
  execute({ order, euro }) {
    refunds.push(`${euro} euro for order ${order}`);
    return "done";
  },
});

export const desk = agent({
  name: "desk",
  instructions: "Refund orders that arrived broken.",
  model,
  tools: [refund],
  policy: policy({ name: "refunds", rules: [ask("refund").because("money leaves")] }),
  budget: { turns: 6 },
});
