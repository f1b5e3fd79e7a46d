import { WritError } from "../error/writ-error.ts";
import type { AllowList } from "../policy/allow-list.ts";
import type { Tool } from "../tool/tool.ts";
import { toolEnforcement } from "./describe/tool-enforcement.ts";
import { reservedNames } from "../tool/builtins.ts";

/** A skill, as far as a model can start something in it. */
interface Startable {
  readonly name: string;
  /** Its tools; undefined for a function in this process. */
  readonly gate?: { readonly allowed: AllowList };
}

/**
 * Checks an agent against its `enforce`: everything that a model can start is isolated, or is a tool of the runtime itself.
 *
 * @throws WritError `isolation-missing`, which names each tool and plain skill that is neither
 */
export function checkIsolation(name: string, skills: Iterable<Startable>): void {
  const loose = [...skills].flatMap(({ name: skill, gate }) =>
    gate === undefined
      ? [`skill "${skill}" (none: a function in this process)`]
      : [...gate.allowed.tools.values()].filter((tool) => !isHeld(tool)).map(looseText),
  );
  const tools = [...new Set(loose)].join(", ");
  if (loose.length > 0) throw new WritError("isolation-missing", { name, tools });
}

/** True of tools of the runtime, which reach nothing of the world; only a catalogue and a library of skills have a `mode`. */
function isHeld(tool: Tool): boolean {
  return (
    reservedNames.has(tool.name) || tool.mode !== undefined || toolEnforcement(tool).level === "isolated"
  );
}

function looseText(tool: Tool): string {
  const { level, mechanism } = toolEnforcement(tool);
  return `"${tool.name}" (${level}: ${mechanisms.get(mechanism) ?? mechanism})`;
}

/** The mechanisms in words. */
const mechanisms: ReadonlyMap<string, string> = new Map([
  ["in process", "a function in this process"],
  ["handles", "a function in this process, with handles"],
  ["mcp", "a tool of a server"],
  ["agent", "an agent or composition that does not enforce it"],
]);
