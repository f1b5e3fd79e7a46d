import { tool } from "writ";
import { z } from "zod";

const twoNumbers = z.object({ a: z.number(), b: z.number() });

export const add = tool({
  name: "add",
  notation: "{a} + {b}",
  description: "Add two numbers: a + b",
  inputSchema: twoNumbers,
  effect: "none",
  execute: ({ a, b }) => a + b,
});

export const subtract = tool({
  name: "subtract",
  notation: "{a} - {b}",
  description: "Subtract the second number from the first: a - b",
  inputSchema: twoNumbers,
  effect: "none",
  execute: ({ a, b }) => a - b,
});

export const multiply = tool({
  name: "multiply",
  notation: "{a} * {b}",
  description: "Multiply two numbers: a * b",
  inputSchema: twoNumbers,
  effect: "none",
  execute: ({ a, b }) => a * b,
});

export const divide = tool({
  name: "divide",
  notation: "{a} / {b}",
  description: "Divide the first number by the second: a / b",
  inputSchema: twoNumbers,
  effect: "none",
  execute: ({ a, b }) => {
    if (b === 0) throw new Error("Division by zero");
    return a / b;
  },
});
