// node examples/seeds/calculator/main.ts [model, such as ollama/qwen2.5:7b]
//
// An agent with four tools. Without a model's name its replies are written down here; the calls are real.
import assert from "node:assert/strict";
import { agent, skill, tool, type TypedTool } from "writ";
import { modelNamed } from "writ/models";
import { scripted } from "writ/testing";
import { z } from "zod";

const [, , modelName] = process.argv;

const numbers = z.object({ a: z.number(), b: z.number() });
type Operation = TypedTool<z.infer<typeof numbers>, number>;

function operation(name: string, description: string, compute: (a: number, b: number) => number): Operation {
  return tool({
    name,
    description,
    inputSchema: numbers,
    effect: "none",
    execute: ({ a, b }) => compute(a, b),
  });
}

const add = operation("add", "Add two numbers: a + b", (a, b) => a + b);
const subtract = operation("subtract", "Subtract two numbers: a - b", (a, b) => a - b);
const multiply = operation("multiply", "Multiply two numbers: a * b", (a, b) => a * b);
const divide = operation("divide", "Divide two numbers: a / b", (a, b) => {
  if (b === 0) throw new RangeError("Division by zero");
  return a / b;
});

const replies = [
  { calls: [{ name: "add", arguments: { a: 3, b: 5 } }] },
  { calls: [{ name: "multiply", arguments: { a: 8, b: 2 } }] },
  "The result of (3 + 5) * 2 is 16.",
  { calls: [{ name: "divide", arguments: { a: 1, b: 0 } }] },
  "1 cannot be divided by 0.",
];

const results: string[] = [];

const calculator = agent({
  name: "calculator",
  instructions: "You are a calculator. Use the provided tools to compute the answer.",
  model: modelName === undefined ? scripted(replies, { whenDone: "throw" }) : modelNamed(modelName),
  settings: { temperature: 0.1 }, // low, so that it calculates and does not invent
  budget: { turns: 5 },
  skills: [
    skill({
      name: "compute",
      description: "Performs calculations",
      tools: [add, subtract, multiply, divide],
    }),
  ],
  hooks: [
    {
      afterToolCall({ tool: name, arguments: given, result }) {
        results.push(result.text);
        console.log(`Tool: ${name}(${JSON.stringify(given)}) = ${result.text}`);
      },
    },
  ],
});

const sum = await calculator("What is (3 + 5) * 2?");
console.log(sum);
assert.match(sum, /\b16\b/);
if (modelName === undefined) assert.deepEqual(results, ["8", "16"]);

console.log(await calculator("What is 1 / 0? Let the tool decide."));
if (modelName === undefined) assert.equal(results.at(-1), "Tool 'divide' failed: Division by zero");
