import { matches } from "./condition/judge.ts";
import { isEffectful, type Sight } from "./condition/sight.ts";
import type { Decision } from "../decision.ts";
import { placeOfRule } from "./policy-json.ts";
import type { Annotation, Rule } from "./rule.ts";

/** A rule of a policy, with its name in decisions. */
export interface NamedRule {
  readonly rule: Rule;
  readonly name: string;
}

/** A policy's word on a call: the rule that decides, undefined if none matched, and all rules that matched. */
export interface Verdict {
  readonly verdict: Decision["verdict"];
  readonly decisive?: NamedRule;
  readonly matched: readonly NamedRule[];
}

/** The rules of a policy and its annotations of tools, ready to look up. */
export interface RuleBook {
  readonly rules: readonly NamedRule[];
  readonly rulesFor: (tool: string) => readonly NamedRule[];
  readonly annotationOf: (tool: string) => Annotation | undefined;
}

export function ruleBook(rules: readonly Rule[], tools: Readonly<Record<string, Annotation>>): RuleBook {
  const named = rules.map((rule, index): NamedRule => ({ rule, name: ruleName(rule, index) }));
  const annotations = new Map(Object.entries(tools));
  const forAll: NamedRule[] = [];
  const byTool = new Map<string, NamedRule[]>();
  for (const each of named) {
    const names = new Set(each.rule.tools);
    for (const tool of names) if (!byTool.has(tool)) byTool.set(tool, [...forAll]);
    const lists = names.has("*") ? [forAll, ...byTool.values()] : [...names].map((tool) => byTool.get(tool));
    for (const list of lists) list?.push(each);
  }
  return {
    rules: named,
    rulesFor: (tool) => byTool.get(tool) ?? forAll,
    annotationOf: (tool) => annotations.get(tool),
  };
}

const ranks = { deny: 3, ask: 1, allow: 0 } as const;

function rankOf({ verdict, exception }: Rule): number {
  return exception === true && verdict !== "deny" ? 2 : ranks[verdict];
}

/** Deny overrides exceptions, exceptions ask, and ask allow; of one kind the first rule is named. Without a match, effects are denied, looking is allowed. */
export function verdictOf(rules: readonly NamedRule[], sight: Sight): Verdict {
  const matched = rules.filter(({ rule }) => matches(rule, sight));
  let [decisive] = matched;
  if (decisive === undefined) return { verdict: isEffectful(sight.effect) ? "deny" : "allow", matched };
  for (const each of matched) if (rankOf(each.rule) > rankOf(decisive.rule)) decisive = each;
  return { verdict: decisive.rule.verdict, decisive, matched };
}

/** The name of a rule in decisions: its own, otherwise what it says and the place where it stands. */
export function ruleName(rule: Rule, index: number): string {
  const { name, verdict, tools } = rule;
  if (name !== undefined) return name;
  const shown = tools.length > 3 ? `${tools.slice(0, 3).join(", ")}, …` : tools.join(", ");
  return `${verdict} ${shown} (${placeOfRule(rule, index)})`;
}
