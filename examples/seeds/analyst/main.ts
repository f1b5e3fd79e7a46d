// node examples/seeds/analyst/main.ts
//
// The model carries out a skill that lists tools, in bounded turns. A skill that is a function asks no model.
import assert from "node:assert/strict";
import { agent, skill } from "writ";
import { fakeTool, scripted } from "writ/testing";

const fetchData = fakeTool("fetch_data", "3, 4, 5", { description: "Fetch the data" });
const summarize = fakeTool("summarize", "the mean is 4", { description: "Summarize data" });

const model = scripted([
  { calls: [{ name: "fetch_data" }] },
  { calls: [{ name: "summarize", arguments: { data: "3, 4, 5" } }] },
  "The mean is 4.",
]);
const analyst = agent({
  name: "analyst",
  instructions: "You look at data.",
  model,
  skills: [
    skill({ name: "analyze", description: "Analyze data using tools", tools: [fetchData, summarize] }),
    skill({
      name: "count",
      description: "Count letters",
      execute: (text) => `${String(text).length} letters`,
    }),
  ],
});

console.log(await analyst("four", { skill: "count" }));
assert.equal(model.requests.length, 0); // a function: no model was asked

const { text, turns } = await analyst.run("What do the data say?", { skill: "analyze" });
console.log(`${text} (${turns} turns)`);
assert.equal(turns, 3); // two with calls, one with the answer

const [system, user] = model.requests[0]?.messages ?? [];
assert.ok(system?.role === "system" && user?.role === "user");
assert.match(system.text, /You look at data[^]*Analyze data using tools/);
assert.equal(model.requests[0]?.tools[0]?.description, "Fetch the data");
assert.deepEqual(
  model.requests.map(({ messages }) => messages.length),
  [2, 4, 6], // each turn sends the reply and the result of the turn before it
);

const endless = scripted([{ calls: [{ name: "fetch_data" }] }]);
const hurried = analyst.with({ model: endless, budget: { turns: 2 } });
await assert.rejects(hurried("What do the data say?", { skill: "analyze" }), {
  code: "budget-exhausted",
  message: /Agent 'analyst' exceeded budget of 2 turns/,
});
assert.equal(endless.requests.length, 2); // the third was not asked
const unbounded = analyst.with({
  model: scripted([{ calls: [{ name: "fetch_data" }] }]),
  budget: { repeats: 99 },
});
const { outcome } = await unbounded.run("What do the data say?", { skill: "analyze" });
assert.ok(outcome.type === "exhausted" && outcome.limit === 8);
console.log("Without a bound of its own it ends after 8 turns.");
