import { WritError } from "../error/writ-error.ts";

/**
 * How a tool may be used in one run. Checked before hooks, arguments and policy; a call against them is denied, and the model is told why.
 *
 * @example
 * ```ts
 * import { type Tool } from "writ";
 *
 * export const once = (tool: Tool): Tool => ({ ...tool, constraints: { maxCalls: 1, onlyAfter: ["login"] } });
 * ```
 */
export interface Constraints {
  /** How many calls of the tool may run; 0 forbids it. Calls that did not run (denied, invalid, skipped) do not count. Default: no bound. */
  readonly maxCalls?: number;
  /** Tools that must each have succeeded in an earlier turn: calls of one turn run beside each other, so none of them comes after another. */
  readonly onlyAfter?: readonly string[];
}

/** @throws WritError `definition-invalid` for what no call could be held to. */
export function checkConstraints(name: string, constraints: Constraints | undefined): void {
  const reason = constraints === undefined ? undefined : problemOf(name, constraints);
  if (reason !== undefined) throw new WritError("definition-invalid", { where: `Tool "${name}"`, reason });
}

function problemOf(name: string, { maxCalls, onlyAfter, ...rest }: Constraints): string | undefined {
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined)
    return `there is no constraint \`${unknown}\`; there are \`maxCalls\` and \`onlyAfter\`.`;
  if (maxCalls !== undefined && !(Number.isInteger(maxCalls) && maxCalls >= 0))
    return "`constraints.maxCalls` must be a whole number from 0 on.";
  if (onlyAfter === undefined) return undefined;
  if (!Array.isArray(onlyAfter) || onlyAfter.length === 0)
    return "`constraints.onlyAfter` must be a list of at least one name of a tool.";
  return onlyAfter.includes(name) ? "`constraints.onlyAfter` names the tool itself." : undefined;
}
