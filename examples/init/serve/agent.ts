import { agent, tool } from "writ";
import { z } from "zod";
import { model } from "./model.ts";

const orders = new Map([["17", "delivered on Monday"]]);

const look_up = tool({
  name: "look_up",
  description: "Look up an order",
  inputSchema: z.object({ order: z.string() }),
  effect: "read",
  trusted: true, // your own data: nobody else can write it
  execute: ({ order }) => orders.get(order) ?? "no such order",
});

export const clerk = agent({
  name: "clerk",
  instructions: "Answer questions about orders with the tools. Be brief.",
  model,
  tools: [look_up],
  budget: { turns: 6 },
});
