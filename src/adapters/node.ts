import { type Agent, makeAgent } from "../agent/agent.ts";
import type { AgentDefinition, InputOf, MadeFor, OutputOf } from "../agent/definition.ts";
import type { Skill } from "../agent/skill.ts";
import type { DriverChoice } from "../driver/choose.ts";
import type { SchemaSource } from "../schema/to-schema.ts";
import { nodeHost, readyForRuns } from "./clock.ts";
import { resolveModel } from "./model/resolve.ts";

const wiring = { host: nodeHost, resolveModel };

/**
 * Defines an agent: a function from input to output. `run` returns its end as data, and `stream` its events. A mistake in the definition throws
 * here, not in a run.
 *
 * @throws WritError `name-taken`, `name-invalid`, `name-reserved`, `tool-unknown`, `schema-invalid`, `model-missing`, `model-invalid`,
 * `model-name-invalid`, `budget-invalid`, `budget-without-price`, `isolation-missing`, `definition-invalid`; its message names the culprit.
 * @example
 * ```ts
 * import { agent, tool } from "writ";
 * import { z } from "zod";
 *
 * const add = tool({
 *   name: "add",
 *   description: "Add two numbers: a + b",
 *   inputSchema: z.object({ a: z.number(), b: z.number() }),
 *   effect: "none",
 *   execute: ({ a, b }) => a + b,
 * });
 *
 * const calculator = agent({
 *   name: "calculator",
 *   instructions: "You are a calculator. Use the tools.",
 *   model: "ollama/qwen2.5:7b",
 *   tools: [add],
 *   budget: { turns: 5 },
 * });
 *
 * const answer: string = await calculator("What is 3 + 5?");
 * ```
 */
export function agent<
  In extends SchemaSource | undefined = undefined,
  Out extends SchemaSource | undefined = undefined,
  const Skills extends readonly Skill<MadeFor<Out>>[] = readonly Skill[],
  Driver extends DriverChoice = "auto",
>(definition: AgentDefinition<In, Out, Skills, Driver>): Agent<InputOf<In>, OutputOf<Out, Skills, Driver>> {
  readyForRuns();
  return makeAgent(definition, wiring);
}
