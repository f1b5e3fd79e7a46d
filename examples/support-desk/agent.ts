// A support desk that refunds orders: a small amount by itself, more if a person of the desk approves, and never more than was paid.
import { agent, allow, ask, policy, tool } from "writ";
import { all, arg, boundToIntent, within } from "writ/policy";
import { z } from "zod";
import { model } from "./model.ts";
import { findOrder, payBack } from "./shop.ts";

const look = tool({
  name: "find_order",
  description: "Find an order by its number",
  inputSchema: z.object({ order: z.string() }),
  effect: "read",
  trusted: true, // the shop's own data: no stranger can write it
  execute({ order }) {
    const { what, euro } = findOrder(order) ?? {};
    return what === undefined ? "there is no such order" : `order ${order}: ${what}, ${euro} euro`;
  },
});

const refund = tool({
  name: "refund",
  description: "Give the money of an order back",
  inputSchema: z.object({ order: z.string(), euro: z.number().positive() }),
  effect: "irreversible",
  execute({ order, euro }, { idempotencyKey }) {
    if (!payBack(idempotencyKey, order, euro)) throw new Error("It is more than is left of what was paid.");
    return "paid back";
  },
});

/** A small amount, for an order that the customer named. */
const small = all(arg("euro").is(within({ max: 10 })), arg("order").is(boundToIntent()));

export const desk = agent({
  name: "desk",
  instructions: "You are the support desk of a tea shop. Look the order up before you refund it. Be brief.",
  model,
  tools: [look, refund],
  policy: policy({
    name: "refunds",
    rules: [
      allow("refund").when(small).named("up to 10 euro"),
      ask("refund")
        .unless(small)
        .because("it is much, or for an order that the customer did not name")
        .show("order", "euro"),
    ],
  }),
  approvals: { within: "2d", by: ["kim", "lee"] }, // nobody else may answer; after two days the answer is no
  budget: { turns: 8, toolCalls: 10 },
});
