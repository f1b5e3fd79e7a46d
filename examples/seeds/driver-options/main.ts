// node examples/seeds/driver-options/main.ts
//
// Options of two drivers: the tool that a model with native calls has to call, and the number of times that a model which writes decisions is asked again.
import assert from "node:assert/strict";
import { agent, tool } from "writ";
import { reactDriver } from "writ/drivers";
import { scripted } from "writ/testing";
import { z } from "zod";

const count = tool({
  name: "count",
  description: "How many pieces of an item there are",
  inputSchema: z.object({ item: z.string() }),
  effect: "read",
  trusted: true,
  execute: () => 12,
});
const counting = { calls: [{ name: "count", arguments: { item: "lamp" } }] };

for (const toolChoice of ["auto", "required", { tool: "count" }] as const) {
  const model = scripted([counting, "12."]);
  await agent({ name: "native", model, driver: "native", tools: [count], toolChoice })("How many lamps?");
  const sent = model.requests.map((request) => JSON.stringify(request.toolChoice));
  console.log(sent.join(", then "));
  assert.deepEqual(sent, [JSON.stringify(toolChoice), '"auto"']);
}

const decide = (decision: object): string => JSON.stringify({ thought: "I look.", ...decision });
const calling = decide({ type: "call_tool", tool: "count", args: { item: "lamp" } });
const wrong = [
  "There may be some.",
  decide({ type: "guess" }),
  decide({ type: "call_tool", tool: "weigh", args: {} }),
  decide({ type: "call_tool", tool: "count" }),
];
const done = decide({ type: "final_answer", answer: "12" });
const features = { tools: false };

const thinker = (replies: readonly string[], finalViaInference = false) =>
  agent({
    name: "react",
    model: scripted(replies, { features }),
    tools: [count],
    driver: reactDriver({ maxRetries: 2, finalViaInference }),
  });

for (const reply of wrong) {
  const model = scripted([reply, calling, done], { features });
  assert.equal(await thinker([]).with({ model })("How many lamps?"), "12");
  const told = model.requests[1]?.messages.at(-1);
  const [part] = told?.role === "user" ? told.parts : [];
  console.log(part?.type === "text" ? part.text.split("\n", 1)[0] : "");
  assert.match(JSON.stringify(told), /Observation: /);
}

const stubborn = scripted(["There may be some."], { features });
await assert.rejects(thinker([]).with({ model: stubborn })("How many lamps?"), { code: "protocol-violated" });
assert.equal(stubborn.requests.length, 3); // asked once, and twice again

const answer = await thinker([calling, done, "There are 12 lamps."], true)("How many lamps?");
console.log(answer);
assert.equal(answer, "There are 12 lamps.");
