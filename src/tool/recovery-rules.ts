import { WritError } from "../error/writ-error.ts";
import { isBuiltin } from "./builtins.ts";
import { unknownTool } from "../error/check-shape.ts";
import { checkRecovery, type Recovery } from "./recovery.ts";
import type { Tool } from "./tool.ts";

/** An agent's rules for the failures of its tools. */
export interface RecoveryRules {
  /** Rules by tool name. */
  readonly tools?: Readonly<Record<string, Recovery>>;
  /** The rule for all other tools. */
  readonly default?: Recovery;
}

/**
 * The recovery of a tool: its own `recover`, otherwise the agent's for its name, otherwise the agent's default. Only the
 * first of these holds: functions that it leaves out are not taken from the next. `escalate` and
 * `throwException` have none.
 */
export function recoveryFor(tool: Tool, { tools = {}, default: rest }: RecoveryRules): Recovery | undefined {
  if (isBuiltin(tool)) return undefined;
  return tool.recover ?? (Object.hasOwn(tools, tool.name) ? tools[tool.name] : rest);
}

/** The tools, each with its recovery under the rules, so that a run only looks at the tool. */
export function withRecoveries(
  tools: ReadonlyMap<string, Tool>,
  rules: RecoveryRules,
): ReadonlyMap<string, Tool> {
  const held = [...tools].map(([name, tool]): readonly [string, Tool] => {
    const recover = recoveryFor(tool, rules);
    return [name, recover === tool.recover ? tool : { ...tool, recover }];
  });
  return new Map(held);
}

/**
 * Checks the rules that an author gave an agent; `known` are the names of its tools.
 *
 * @throws WritError `definition-invalid`, `tool-unknown` for a rule about a tool that the agent does not have
 */
export function checkRecoveryRules(
  rules: RecoveryRules,
  { where, known }: { readonly where: string; readonly known: readonly string[] },
): void {
  const stray = Object.keys(rules).find((key) => key !== "tools" && key !== "default");
  if (stray !== undefined) {
    const reason = `\`recover\` of an agent takes \`tools\` and \`default\`, and has "${stray}".`;
    throw new WritError("definition-invalid", { where, reason });
  }
  checkRecovery(rules.default, where);
  for (const [name, recovery] of Object.entries(rules.tools ?? {})) {
    if (!known.includes(name)) throw unknownTool(`\`recover.tools\` of ${where}`, name, known);
    checkRecovery(recovery, `${where}, tool "${name}"`);
  }
}
