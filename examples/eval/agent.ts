// npx writ eval agent examples/eval/agent.ts --cases examples/eval/cases --replay
//
// Tests the desk of a shop with its cases. The command asks no model and pays nothing: replies are scripted, or stand in the recording beside their
// case, and tools have fixed results. Without --replay, cases without scripted replies ask the agent's model.
import { agent, allow, ask, policy, tool } from "writ";
import { arg, within } from "writ/policy";
import { z } from "zod";

const findOrder = tool({
  name: "find_order",
  description: "Looks an order up by its number",
  inputSchema: z.object({ number: z.string() }),
  effect: "read",
  trusted: true,
  execute: ({ number }): unknown => {
    throw new Error(`order ${number} cannot be looked up: the shop is not connected`);
  },
});

const refund = tool({
  name: "refund",
  description: "Pays an amount in euro back to the customer of an order",
  inputSchema: z.object({ order: z.string(), amount: z.number().positive() }),
  effect: "irreversible",
  execute: ({ order }): unknown => {
    throw new Error(`order ${order} cannot be refunded: the shop is not connected`);
  },
});

export const desk = agent({
  name: "desk",
  instructions:
    "You help the customers of a shop. Look an order up before you speak of it. Refund what was paid, and no more.",
  model: "ollama/qwen2.5:7b",
  tools: [findOrder, refund],
  policy: policy({
    name: "desk",
    rules: [
      allow("refund").when(arg("amount").is(within({ max: 50 }))),
      ask("refund")
        .unless(arg("amount").is(within({ max: 50 })))
        .because("a large amount"),
    ],
  }),
  budget: { turns: 6 },
});
