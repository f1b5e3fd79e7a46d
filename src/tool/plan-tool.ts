import type { PlannedAct } from "./planned-act.ts";
import { checkShape, closed } from "../error/check-shape.ts";
import { anything } from "../util/shape.ts";
import { type Mode, tool, type Tool } from "./tool.ts";

/**
 * Makes a tool with which a model declares the acts that it is going to carry out. If the model calls it before it has read anything untrusted, the tool
 * freezes the acts: under `guarded()` any other act asks afterwards, and the planned calls run with the planned arguments. If the model calls it later, a
 * person is asked once about all of the acts. A yes is valid for each call once, with the arguments that were shown, and with any value for open ones.
 *
 * The policy judges the plan by its acts: an act that it denies cannot be planned. A rule about the tool itself holds too: with `ask("plan_acts")` a
 * person looks at every plan.
 *
 * @throws WritError `name-invalid`
 * @example
 * ```ts
 * import { agent, guarded, tool } from "writ";
 * import { planTool } from "writ/tools";
 *
 * const pay = tool({ name: "pay", description: "Pays", inputSchema: { type: "object" }, effect: "irreversible", execute: () => "paid" });
 * export const clerk = agent({ name: "clerk", model: "ollama/qwen2.5:7b", tools: [pay, planTool()], policy: guarded() });
 * ```
 */
export function planTool(options: { readonly name?: string } = {}): Tool {
  checkShape("planTool()", options, closed({ name: anything }));
  const { name = "plan_acts" } = options;
  const made: Tool = tool({
    name,
    description:
      "Say what you are going to do before you do it: each call that changes something or reaches somebody, in one list. Say it before you read anything, as far as you know it then, and later once for all that is left. Give `arguments` where you know them, and name in `free` those that are still open.",
    inputSchema: {
      type: "object",
      properties: {
        acts: {
          type: "array",
          minItems: 1,
          maxItems: 50,
          items: {
            type: "object",
            properties: {
              tool: { type: "string", description: "The name of the tool" },
              arguments: { type: "object", description: "Its arguments, where they are known" },
              free: {
                type: "array",
                items: { type: "string" },
                description: "Arguments that are still open",
              },
            },
            required: ["tool"],
            additionalProperties: false,
          },
        },
      },
      required: ["acts"],
      additionalProperties: false,
    },
    effect: "none",
    execute: (args) => `planned: ${actsOf(args).length}`,
  });
  return { ...made, plans: true, mode: (args): Mode => ({ plan: actsOf(args) }) };
}

/** The acts in the parsed arguments of a plan. */
export function actsOf(args: unknown): readonly PlannedAct[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema above parsed them
  return (args as { readonly acts: readonly PlannedAct[] }).acts;
}
