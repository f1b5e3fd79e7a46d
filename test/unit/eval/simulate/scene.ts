import { agent, type Agent, type Policy } from "../../../../src/index.ts";
import { fakeTool, type SimulationOptions } from "../../../../src/testing.ts";

export const order = {
  type: "object",
  properties: { order: { enum: ["A1", "A2"] } },
  required: ["order"],
  additionalProperties: false,
} as const;

export const refund = fakeTool("refund", "real", { effect: "irreversible", inputSchema: order });
export const look = fakeTool("look", "real", { effect: "read", inputSchema: order });
export const note = fakeTool("note", "real", { effect: "write", inputSchema: order, timeoutMs: 500 });

export const allowing: Policy = () => ({ verdict: "allow", rule: "all", reason: "" });
export const asking: Policy = ({ tool }) => ({
  verdict: tool === "refund" ? "ask" : "allow",
  rule: tool,
  reason: "",
});

/** An agent that may give money back, and an agent inside it. */
export const reader = agent({
  name: "reader",
  description: "reads",
  model: () => "",
  tools: [look, note],
  policy: allowing,
  budget: { turns: 3 },
});
export const clerk: Agent<string> = agent({
  name: "clerk",
  model: () => "",
  tools: [refund, look, note, reader.asTool()],
  policy: asking,
  budget: { turns: 5, toolCalls: 12 },
});

/** The world of a shop: money goes out of it. */
export class Shop {
  refunds: string[] = [];
}

/** Two refunds of one order are what the shop does not want, and nothing in the agent forbids. */
export const once: SimulationOptions<Shop> = {
  state: () => new Shop(),
  tools: {
    refund: ({ order: id }: { readonly order: string }, { state }) => {
      state.refunds.push(id);
      return `refunded ${id}`;
    },
  },
  invariants: {
    "an order is refunded at most once": ({ state: { refunds } }) =>
      new Set(refunds).size === refunds.length || `refunded ${refunds.join(", ")}`,
  },
};
