import type { Enforcement } from "../../tool/enforcement.ts";
import type { Tool } from "../../tool/tool.ts";
import { insideOf } from "./manifest-origin.ts";

/**
 * The enforcement of one tool, known once the tool is made. A tool that runs agents is enforced as they are: `isolated` if each of them
 * enforces that. A tool that cannot say how it is enforced has no enforcement.
 */
export function toolEnforcement(tool: Tool, platform = "unknown"): Enforcement {
  const held = ({ level, mechanism }: Pick<Enforcement, "level" | "mechanism">): Enforcement => ({
    level,
    mechanism,
    platform,
    probes: [],
  });
  const inside = insideOf(tool);
  if (inside.length > 0)
    return held({
      level: inside.every((each) => each.enforces) ? "isolated" : "mediated",
      mechanism: "agent",
    });
  try {
    return tool.enforcement?.() ?? held(inProcess(tool));
  } catch {
    return held({ level: "none", mechanism: "unavailable" });
  }
}

function inProcess({ needs = [] }: Tool): Pick<Enforcement, "level" | "mechanism"> {
  return needs.length === 0
    ? { level: "none", mechanism: "in process" }
    : { level: "mediated", mechanism: "handles" };
}
