// node examples/seeds/safe-loop/main.ts [model, such as ollama/qwen2.5:7b]
//
// A whole loop at a glance (weather.ts), with its tests beside it: node --test examples/seeds/safe-loop/weather.test.ts
import assert from "node:assert/strict";
import { modelNamed } from "writ/models";
import { call, llmStatus } from "writ/doors";
import { scripted } from "writ/testing";
import { getWeather, runAgent } from "./weather.ts";

const [, , modelName] = process.argv;

// A tool is an ordinary function, called with its arguments by name.
console.log(await call(getWeather, { city: "Lima" }));

const script = scripted([
  { calls: [{ name: "delete_database" }] },
  { calls: [{ name: "get_weather", arguments: { city: "Lima" } }] },
  "It is sunny in Lima.",
]);

let gathered = "";
const answer = await runAgent("Do I need an umbrella in Lima?", {
  model: modelName === undefined ? script : modelNamed(modelName),
  maxSteps: 5,
  budget: 4000,
  onStep: (step, context) => {
    gathered = context;
    console.log(`  step: ${step.kind === "tool" ? step.name : "final"}, ${step.tokens} tokens`);
  },
});
console.log(`  context:${gathered}\n${answer}`);
assert.match(gathered, / \[get_weather => weather in Lima: sunny\]/);
if (modelName === undefined)
  assert.equal(gathered, " [delete_database => not allowed] [get_weather => weather in Lima: sunny]");

// Without a model the program still runs, and says that it has none.
if (!llmStatus().available) {
  const offline = await runAgent("Do I need an umbrella in Lima?", { maxSteps: 5, budget: 4000 });
  console.log(offline);
  assert.equal(offline, "[no llm provider]");
}
