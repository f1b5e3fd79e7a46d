import type { Tool } from "../../tool/tool.ts";
import type { Decision } from "../decision.ts";

/** The calls so far, in a run, of a tool that constraints name. */
export interface ToolUse {
  readonly tool: string;
  /** Calls that ran or are about to, including those of runs inside. */
  readonly calls: number;
  /** The calls of runs inside, which constraints do not count; left out if there are none. */
  readonly inside?: number;
  /** True if a call succeeded in a turn that is over. */
  readonly succeeded: boolean;
}

/** The tools whose uses must be counted because a constraint names them; undefined if there are none. */
export function countedTools(tools: Iterable<Tool>): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  for (const { name, constraints } of tools) {
    if (constraints?.maxCalls !== undefined) names.add(name);
    for (const before of constraints?.onlyAfter ?? []) names.add(before);
  }
  return names.size === 0 ? undefined : names;
}

/** The decision against a call that a constraint of its tool forbids after the earlier calls; undefined if none does. */
export function violation(
  { constraints = {} }: Pick<Tool, "constraints">,
  { name, uses }: { readonly name: string; readonly uses: readonly ToolUse[] },
): Decision | undefined {
  const { maxCalls = Infinity, onlyAfter = [] } = constraints;
  const { calls = 0, inside = 0 } = uses.find(({ tool }) => tool === name) ?? {};
  if (calls - inside >= maxCalls) {
    const reason = maxCalls === 0 ? "its constraint maxCalls forbids it" : exceeded(maxCalls);
    return { verdict: "deny", rule: "max-calls", reason, remedy: "a higher `maxCalls` of the tool" };
  }
  const missing = onlyAfter.filter(
    (before) => !uses.some(({ tool, succeeded }) => tool === before && succeeded),
  );
  if (missing.length === 0) return undefined;
  const names = missing.map((before) => `'${before}'`).join(" and ");
  const reason = `it may only be called in a turn after ${names} succeeded`;
  return { verdict: "deny", rule: "only-after", reason, remedy: `a successful call of ${names} before` };
}

function exceeded(maxCalls: number): string {
  return `it exceeded its maxCalls constraint (${maxCalls} per run)`;
}

/** The uses with one more call. */
export function countCall(uses: readonly ToolUse[] = [], name: string): readonly ToolUse[] {
  return changed(uses, name, (use) => ({ ...use, calls: use.calls + 1 }));
}

/** The uses with the calls of runs inside added, by tool name. */
export function countInside(
  uses: readonly ToolUse[] = [],
  counts: Readonly<Record<string, number>>,
): readonly ToolUse[] {
  return Object.entries(counts).reduce(
    (sum, [name, count]) =>
      changed(sum, name, (use) => ({
        ...use,
        calls: use.calls + count,
        inside: (use.inside ?? 0) + count,
      })),
    uses,
  );
}

/** The uses after a call of the tool succeeded. */
export function countSuccess(uses: readonly ToolUse[] = [], name: string): readonly ToolUse[] {
  return changed(uses, name, (use) => ({ ...use, succeeded: true }));
}

function changed(
  uses: readonly ToolUse[],
  name: string,
  change: (use: ToolUse) => ToolUse,
): readonly ToolUse[] {
  const use = uses.find(({ tool }) => tool === name) ?? { tool: name, calls: 0, succeeded: false };
  return [...uses.filter(({ tool }) => tool !== name), change(use)];
}
