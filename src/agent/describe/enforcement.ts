import type { Host } from "../../journal/host.ts";
import type { Enforcement } from "../../tool/enforcement.ts";
import type { AgentPlan } from "../plan.ts";
import { toolEnforcement } from "./tool-enforcement.ts";

/** The enforcement of one tool's declaration, on this machine. */
export interface ToolEnforcement extends Enforcement {
  readonly skill: string;
  readonly tool: string;
  /** The kinds of capabilities that it declares. */
  readonly needs: readonly string[];
}

/** The enforcement of each tool that may be called. */
export function enforcementOf({ skills }: AgentPlan, { platform }: Host): readonly ToolEnforcement[] {
  return [...skills.values()].flatMap((skill) =>
    skill.type === "plain"
      ? []
      : [...skill.gate.allowed.tools.values()].map((tool) => ({
          skill: skill.name,
          tool: tool.name,
          needs: (tool.needs ?? []).map(({ kind }) => kind),
          ...toolEnforcement(tool, platform),
        })),
  );
}
