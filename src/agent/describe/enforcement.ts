import type { Host } from "../../journal/host.ts";
import type { Enforcement } from "../../tool/enforcement.ts";
import type { Tool } from "../../tool/tool.ts";
import { insideOf, originOf } from "./manifest-origin.ts";
import type { AgentPlan } from "../plan.ts";

/** The means that hold one tool of an agent to its declaration, on this machine. */
export interface ToolEnforcement extends Enforcement {
  readonly skill: string;
  readonly tool: string;
  /** The kinds of what it declared. */
  readonly needs: readonly string[];
}

/** Says of each tool that may be called how far it is held. An isolator tries its probes first, once in a process. */
export async function enforcementOf(
  { skills }: AgentPlan,
  { platform = "unknown" }: Host,
): Promise<readonly ToolEnforcement[]> {
  const tools = [...skills.values()].flatMap((skill) =>
    skill.type === "agentic"
      ? [...skill.gate.allowed.tools.values()].map((tool) => ({ skill: skill.name, tool }))
      : [],
  );
  const found: ToolEnforcement[] = [];
  for (const { skill, tool } of tools) {
    const needs = (tool.needs ?? []).map(({ kind }) => kind);
    found.push({ skill, tool: tool.name, needs, ...(await levelOf(tool, platform)) });
  }
  return found;
}

async function levelOf(tool: Tool, platform: string): Promise<Enforcement> {
  if (tool.enforcement !== undefined) return tool.enforcement();
  if (originOf(tool) !== undefined) return { level: "remote", mechanism: "mcp", platform, probes: [] };
  if (insideOf(tool).length > 0) return { level: "mediated", mechanism: "agent", platform, probes: [] };
  return tool.needs === undefined || tool.needs.length === 0
    ? { level: "none", mechanism: "in process", platform, probes: [] }
    : { level: "mediated", mechanism: "handles", platform, probes: [] };
}
