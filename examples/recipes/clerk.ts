// The agent of all recipes. Its model is a function, so they need neither a key nor a network. Replace it with a name such as "anthropic/claude-sonnet-5".
import { agent, type Policy, tool } from "writ";
import type { ModelRequest } from "writ/models";
import { z } from "zod";

/** The refunded orders. */
export const refunds: string[] = [];

const refund = tool({
  name: "refund",
  description: "Gives the money of an order back",
  inputSchema: z.object({ order: z.string(), euros: z.number() }),
  effect: "irreversible",
  execute({ order, euros }) {
    refunds.push(`${euros} euros for order ${order}`);
    return "the money is on its way";
  },
});

const policy: Policy = ({ tool: name }) =>
  name === "refund"
    ? { verdict: "ask", rule: "money", reason: "money leaves" }
    : { verdict: "allow", rule: "free", reason: "" };

function model({ messages }: ModelRequest) {
  const last = messages.at(-1);
  if (last?.role === "tool") return last.status === "ok" ? "Order 17 is refunded." : "Nothing was refunded.";
  return JSON.stringify(last).includes("Refund")
    ? { calls: [{ name: "refund", arguments: { order: "17", euros: 30 } }] }
    : "Good morning.";
}

export const clerk = agent({ name: "clerk", model, tools: [refund], policy });
