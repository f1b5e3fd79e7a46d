import { WritError } from "../../error/writ-error.ts";
import { hasRoom, namesInstead } from "../../schema/property-names.ts";
import type { Tool } from "../../tool/tool.ts";
import { didYouMean } from "../../util/nearest.ts";
import type { Policy } from "../decision.ts";
import { conditionsIn } from "./conditions.ts";
import { rulePolicyOf } from "./identity.ts";
import type { Rule } from "./rule.ts";
import { ruleName } from "./verdict.ts";

/**
 * Checks the arguments that rules name: a rule about an argument that its tools never have would hold for every call, because a missing argument passes, and an argument that does not exist cannot be shown.
 *
 * @throws WritError `definition-invalid`
 */
export function checkPolicyArguments(policy: Policy, tools: readonly Tool[], agent: string): void {
  const { name, rules = [] } = rulePolicyOf(policy) ?? {};
  const named = Map.groupBy(tools, (tool) => tool.name);
  for (const [index, rule] of rules.entries()) {
    const about = [...new Set(rule.tools)].flatMap((tool) => named.get(tool) ?? []);
    for (const path of [...pathsOf(rule), ...(rule.show ?? [])]) {
      const names = about.map(({ input }) => namesInstead(input.jsonSchema, path, hasRoom));
      if (rule.tools.includes("*") || about.length === 0 || names.includes(undefined)) continue;
      const owners = [...new Set(about.map((tool) => JSON.stringify(tool.name)))];
      const lacking = `${owners.join(" and ")} ${owners.length === 1 ? "does" : "do"} not have`;
      const near = didYouMean(
        path.slice(path.lastIndexOf(".") + 1),
        names.flatMap((each) => each ?? []),
      );
      const reason = `its rule "${ruleName(rule, index)}" names the argument "${path}", which ${lacking}${near || "."}`;
      throw new WritError("definition-invalid", {
        where: `The policy "${name}" of agent "${agent}"`,
        reason,
      });
    }
  }
}

/** The paths of arguments for which a rule demands more than absence. */
function pathsOf(rule: Rule): readonly string[] {
  return conditionsIn(rule).flatMap((each) => {
    if (each.type === "argument") return each.is.type === "absent" ? [] : [each.path];
    return each.type === "unknown-links" ? (each.path ?? []) : [];
  });
}
