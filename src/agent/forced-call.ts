import { WritError } from "../error/writ-error.ts";
import type { ToolChoice } from "../model/model.ts";
import type { LoopOptions } from "../turn/options.ts";
import type { AgenticPlan } from "./plan-skill.ts";
import type { RunOptions } from "./run-options.ts";

/**
 * The choice of tools that an agent forces, if its run has the forced tool: a model cannot be made to call a tool that is not there.
 *
 * @throws WritError `run-option-unusable` if the option `tools` removes the tool, `definition-invalid` if the skill does not have it
 */
export function forcedCall(
  choice: ToolChoice,
  { name, gate }: AgenticPlan,
  { options: { tools: only }, from }: Pick<LoopOptions, "from"> & { readonly options: RunOptions },
): ToolChoice {
  if (typeof choice === "string" && choice !== "required") return choice;
  if (from !== undefined && from.ledger.toolCalls > 0) return choice; // the call was made before
  const { agent, allowed } = gate;
  const wanted = typeof choice === "object" ? [choice.tool] : allowed.tools.keys();
  const inSkill = [...wanted].filter((tool) => allowed.tools.has(tool));
  if (inSkill.some((tool) => only?.includes(tool) ?? true)) return choice;
  const forced = `\`toolChoice\` requires ${typeof choice === "object" ? `a call of "${choice.tool}"` : "a call"}`;
  if (inSkill.length > 0)
    throw new WritError("run-option-unusable", {
      name: agent,
      option: "tools",
      reason: `${forced}, and it leaves out every tool that could be called.`,
    });
  const reason = `${forced}, and the skill has no such tool.`;
  throw new WritError("definition-invalid", { where: `Skill "${name}" of agent "${agent}"`, reason });
}
