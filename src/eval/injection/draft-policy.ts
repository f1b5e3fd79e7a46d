import type { PolicyJson } from "../../policy/rules/rule.ts";
import type { Parameter } from "../../tool/parameters.ts";
import { suiteTools } from "./suite-tools.ts";
import type { Suite } from "./suite.ts";

/**
 * A policy for a person to go on from: every tool with no effect declared, every parameter a `target`. Nothing is guessed from names or
 * descriptions; a type stands only where the JSON Schema says it. As it is, it can be used, and asks more than it must.
 */
export function draftPolicy(
  suite: Suite,
): PolicyJson & { readonly skills: Readonly<Record<string, readonly string[]>> } {
  const { parametersOf } = suiteTools(suite.tools);
  const tools = suite.tools.map(({ name }) => {
    const parameters = parametersOf(name).map((each): readonly [string, Parameter] => {
      const type = each.declared;
      return [each.name, type === undefined ? "target" : { role: "target", type }];
    });
    return [name, { parameters: Object.fromEntries(parameters) }] as const;
  });
  return {
    name: suite.name,
    rules: "guarded",
    tools: Object.fromEntries(tools),
    skills: { all: suite.tools.map(({ name }) => name) },
  };
}
