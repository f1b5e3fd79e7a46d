import { agent } from "writ";
import { add, divide, multiply, subtract } from "./tools.ts";

const examples = [
  {
    input: "What is (19 - 4) * 2 / 5?",
    calls: [
      { tool: "subtract", arguments: { a: 19, b: 4 }, result: 15 },
      { tool: "multiply", arguments: { a: 15, b: 2 }, result: 30 },
      { tool: "divide", arguments: { a: 30, b: 5 }, result: 6 },
    ],
    answer: "6",
  },
  {
    input: "What is (18 / 2) * 11?",
    calls: [
      { tool: "divide", arguments: { a: 18, b: 2 }, result: 9 },
      { tool: "multiply", arguments: { a: 9, b: 11 }, result: 99 },
    ],
    answer: "99",
  },
  {
    input: "Add 1 and 6, then subtract 5.",
    calls: [
      { tool: "add", arguments: { a: 1, b: 6 }, result: 7 },
      { tool: "subtract", arguments: { a: 7, b: 5 }, result: 2 },
    ],
    answer: "2",
  },
  {
    input: "What is 30 - 21?",
    calls: [{ tool: "subtract", arguments: { a: 30, b: 21 }, result: 9 }],
    answer: "9",
  },
];

export const calculator = agent({
  name: "calculator",
  instructions:
    "You are a calculator. Compute with the tools, never in your head, and answer with the result.",
  model: "ollama/qwen2.5:7b",
  settings: { temperature: 0.1 },
  tools: [add, subtract, multiply, divide],
  examples, // what a small model learns from
  budget: { turns: 5 },
});
