import { agent, tool } from "../../../src/index.ts";
import type { Agent } from "../../../src/agent/agent.ts";
import {
  evaluate,
  type EvalCase,
  type EvalOptions,
  type EvalReport,
  type RunReport,
} from "../../../src/eval.ts";

const twoNumbers = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
} as const;

/** The texts that `mail` really sent. */
export const sent: string[] = [];

export const add = tool({
  name: "add",
  description: "Adds",
  inputSchema: twoNumbers,
  effect: "none",
  execute: ({ a, b }) => Number(a) + Number(b),
});

export const mail = tool({
  name: "mail",
  description: "Sends a mail",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  effect: "irreversible",
  execute: ({ text }) => {
    sent.push(text as string);
    return "sent";
  },
});

/** An agent that adds and mails. */
export const clerk = agent({ name: "clerk", model: () => "I know nothing.", tools: [add, mail] });

/** A call as a script makes it. */
export const call = (name: string, args: object): { calls: { name: string; arguments: never }[] } => ({
  calls: [{ name, arguments: args as never }],
});

/** Evaluates one case, by default of the clerk. */
export async function evaluateOne(
  fields: Partial<EvalCase>,
  options: EvalOptions & { readonly agent?: unknown } = {},
): Promise<{ report: EvalReport; run: RunReport; failures: string[] }> {
  const { agent: subject = clerk, ...rest } = options;
  const report = await evaluate(subject as Agent, [{ name: "one", input: "Go", ...fields }], rest);
  const run = report.cases[0]?.runs[0];
  if (run === undefined) throw new Error("there was no run");
  return { report, run, failures: run.failures.map((one) => `${one.expectation}: ${one.message}`) };
}
