// node examples/seeds/three-drivers/main.ts
//
// A driver is the way in which calls are written in a conversation with a model. With every driver the same executor runs the calls, under the same rules.
import assert from "node:assert/strict";
import { agent, type Agent, tool } from "writ";
import type { ModelFunction } from "writ/models";
import { scripted } from "writ/testing";
import { z } from "zod";

const stock = new Map([["lamp", 12]]);

const countStock = tool({
  name: "count_stock",
  description: "How many pieces of an item there are",
  inputSchema: z.object({ item: z.string() }),
  effect: "read",
  trusted: true, // the shop's own numbers: an order after reading them does not need a person
  execute: ({ item }) => stock.get(item) ?? 0,
});

const order = tool({
  name: "order",
  description: "Order pieces of an item",
  inputSchema: z.object({ item: z.string(), count: z.number().int() }),
  effect: "write",
  trusted: true,
  execute({ item, count }) {
    if (count > (stock.get(item) ?? 0)) throw new Error(`there are no ${count} pieces of "${item}"`);
    return `ordered ${count} of "${item}"`;
  },
});

const counting = { name: "count_stock", arguments: { item: "lamp" } };
const ordering = (count: number) => ({ name: "order", arguments: { item: "lamp", count } });

/** A model with native calls, which decides by the last message. */
const native: ModelFunction = ({ messages }) => {
  const last = messages.at(-1);
  if (last?.role !== "tool") return { calls: [counting] };
  if (last.name === "count_stock" && Number(last.text) >= 3) return { calls: [ordering(3)] };
  return `Done: ${last.text}`;
};

/** A model that writes only text. */
const thinker = scripted(
  [
    { thought: "Are there enough?", type: "call_tool", tool: "count_stock", args: { item: "lamp" } },
    { thought: "There are.", type: "call_tool", tool: "order", args: { item: "lamp", count: 3 } },
    { thought: "That is all.", type: "final_answer", answer: 'Done: ordered 3 of "lamp"' },
  ].map((decision) => JSON.stringify(decision)),
  { features: { tools: false } },
);

/** A script, which is a model too: prepared replies for tests. */
const script = scripted([{ calls: [counting] }, { calls: [ordering(3)] }, 'Done: ordered 3 of "lamp"']);

const shop = agent({ name: "shop", model: native, driver: "native", tools: [countStock, order] });
const shops = {
  native: shop,
  react: shop.with({ model: thinker, driver: "react" }),
  scripted: shop.with({ model: script }),
};

/** Runs the agent, and returns the results of the calls and the end of the run. */
async function run(subject: Agent<string>) {
  const { transcript, outcome, text, error } = await subject.run("Order 3 lamps, if there are so many.");
  const results = transcript.messages.filter((message) => message.role === "tool");
  for (const { name, status, text: told } of results) console.log(`  ${name} ${status}: ${told}`);
  console.log(`  ${outcome.type}: ${error?.message ?? text}`);
  return {
    statuses: results.map(({ status }) => status),
    told: results.map((result) => result.text),
    outcome,
  };
}

for (const [name, subject] of Object.entries(shops)) {
  console.log(name);
  const { told, outcome } = await run(subject);
  assert.deepEqual(told, ["12", 'ordered 3 of "lamp"']);
  assert.deepEqual(outcome, { type: "answered", content: 'Done: ordered 3 of "lamp"', finishReason: "stop" });
}
assert.equal(script.requests[0]?.tools.length, 2); // native: the tools go along with the request,
assert.equal(thinker.requests[0]?.tools.length, 0); // ReAct: they stand in the prompt,
assert.match(JSON.stringify(thinker.requests[0]?.messages), /TOOL CATALOG/);
assert.match(JSON.stringify(thinker.requests[1]?.messages.at(-1)), /Observation: 12/); // and results are observations

console.log("\na tool fails: the model is told, or where it should the run ends");
const greedy = () => scripted([{ calls: [ordering(30)] }, "There are only 12."]);
assert.equal((await run(shop.with({ model: greedy() }))).outcome.type, "answered");
const strict = await run(shop.with({ model: greedy(), endOn: ["tool-failure"] }));
assert.deepEqual([strict.statuses, strict.outcome.type], [["error"], "failed"]);

console.log("\na hook blocks a call: the others run, or where it should the rest is skipped");
const closed = shop.with({
  hooks: [{ beforeToolCall: ({ tool: name }) => (name === "order" ? { deny: "we are closed" } : undefined) }],
});
const both = () => scripted([{ calls: [ordering(3), counting] }, "Closed, and 12 are left."]);
assert.deepEqual((await run(closed.with({ model: both() }))).statuses, ["denied", "ok"]);
const stopped = await run(closed.with({ model: both(), endOn: ["blocked-call"] }));
assert.deepEqual(stopped.statuses, ["denied", "skipped"]);
