import { checkShape, closed } from "../error/check-shape.ts";
import { list, object, optional, refined, string, whole } from "../util/shape.ts";

/**
 * Bounds on the use of a tool in one run. Checked before hooks, arguments and policy; a call that breaks one is
 * denied, and the model is told why.
 *
 * @example
 * ```ts
 * import { type Tool } from "writ";
 *
 * export const once = (tool: Tool): Tool => ({ ...tool, constraints: { maxCalls: 1, onlyAfter: ["login"] } });
 * ```
 */
export interface Constraints {
  /**
   * The most calls of the tool that may run; 0 forbids it. Calls that did not run do not count. Default: no
   * bound.
   */
  readonly maxCalls?: number;
  /** Tools that must each have succeeded in an earlier turn: calls of one turn run side by side, so none of them comes after another. */
  readonly onlyAfter?: readonly string[];
}

/** @throws WritError `definition-invalid` for constraints that no call could meet */
export function checkConstraints(name: string, constraints: Constraints | undefined): void {
  const others = refined(
    list(string),
    "must have the name of at least one other tool, and not that of the tool itself",
    (names) => names.length > 0 && !names.includes(name),
  );
  const shape = closed({ maxCalls: optional(whole), onlyAfter: optional(others) });
  checkShape(`Tool "${name}"`, { constraints }, object({ constraints: optional(shape) }));
}
