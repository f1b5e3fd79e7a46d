import { z } from "zod";
import { tool, type TypedTool } from "../../src/tool/tool.ts";

const operands = z.object({
  a: z.number().describe("first number"),
  b: z.number().describe("second number"),
});
type Operation = TypedTool<{ a: number; b: number }, number>;

const operation = (name: string, description: string, execute: (a: number, b: number) => number): Operation =>
  tool({ name, description, inputSchema: operands, effect: "none", execute: ({ a, b }) => execute(a, b) });

/** The four tools of the calculator that every system shows first. */
export const add: Operation = operation("add", "Add two numbers: a + b", (a, b) => a + b);
export const multiply: Operation = operation("multiply", "Multiply two numbers: a * b", (a, b) => a * b);
export const divide: Operation = operation("divide", "Divide two numbers: a / b", (a, b) => {
  if (b === 0) throw new RangeError("Division by zero");
  return a / b;
});

/** What a model that can calculate says to "(3 + 5) * 2". */
export const calculation = [
  { calls: [{ id: "call_a", name: "add", arguments: { a: 3, b: 5 } }] },
  { calls: [{ id: "call_b", name: "multiply", arguments: { a: 8, b: 2 } }] },
  "The result is 16.",
];
