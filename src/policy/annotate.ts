import { WritError } from "../error/writ-error.ts";
import type { Tool } from "../tool/tool.ts";
import { type AllowList, withCounted } from "./allow-list.ts";
import type { Policy } from "./decision.ts";
import { type DeclaredPolicy, rulePolicyOf } from "./policy-identity.ts";

/** The tools of a skill with what the agent's policy says of them: an author knows more of a stranger's tool than the stranger says. */
export function annotated(list: AllowList, policy: Policy): AllowList {
  const declared = rulePolicyOf(policy);
  if (declared === undefined) return list;
  const tools = new Map([...list.tools].map(([name, tool]) => [name, annotate(tool, declared)]));
  const counted = declared.counted.includes("*") ? [...tools.keys()] : declared.counted;
  return withCounted({ ...list, tools }, counted);
}

function annotate(tool: Tool, { tools }: DeclaredPolicy): Tool {
  const said = Object.hasOwn(tools, tool.name) ? tools[tool.name] : undefined;
  return said === undefined
    ? tool
    : { ...tool, ...said, parameters: { ...tool.parameters, ...said.parameters } };
}

/** A rule for a tool that there is not is a rule that holds nothing. @throws WritError `tool-unknown` */
export function checkPolicyNames(policy: Policy, known: readonly string[], agent: string): void {
  const declared = rulePolicyOf(policy);
  if (declared === undefined) return;
  const named = [...Object.keys(declared.tools), ...declared.rules.flatMap((rule) => rule.tools)];
  const unknown = named.find((name) => name !== "*" && !known.includes(name));
  if (unknown === undefined) return;
  const where = `The policy "${declared.name}" of agent "${agent}"`;
  throw new WritError("tool-unknown", { where, name: unknown, known: known.join(", ") || "none" });
}
