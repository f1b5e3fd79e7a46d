import { WritError } from "../../error/writ-error.ts";
import { checkedCopy } from "./checked-copy.ts";
import { policyShape } from "./policy-shape.ts";
import { presetRules } from "./presets.ts";
import type { PolicyJson, Rule } from "./rule.ts";
import { sameWritten } from "../../util/written-at.ts";

// Register: the fields in which rules beside `rules` stand, for their names. Each policy has copies of its own.
const places = new WeakMap<Rule, string>();

/**
 * A deep frozen copy of a policy from outside, with known fields only: an unknown field, a getter and a field that would change a
 * prototype are errors, and so is any other failure to read it.
 *
 * @throws WritError `policy-invalid`
 */
export function checkedPolicy(value: unknown): PolicyJson {
  const policy = checkedCopy(value, policyShape);
  for (const [tool, { resolves, trusted = false }] of Object.entries(policy.tools ?? {})) {
    if (resolves !== true || trusted !== false) continue;
    const reason = `\`tools.${tool}.resolves\` does nothing without \`trusted\`: say that nobody else can write into what it gives, or leave it out`;
    throw new WritError("policy-invalid", { name: policy.name, reason });
  }
  const names = new Set<string>();
  for (const [index, rule] of rulesOf(policy).entries()) {
    const { name } = rule;
    if (name === undefined) continue;
    const reason = `\`${places.get(rule) ?? `rules[${index}]`}\` has the name ${JSON.stringify(name)}, which another rule has`;
    if (names.has(name)) throw new WritError("policy-invalid", { name: policy.name, reason });
    names.add(name);
  }
  return policy;
}

/** The place of a rule among those that its author wrote: `rule 1` for the first in `rules`, otherwise its field. */
export function placeOfRule(rule: Rule, index: number): string {
  return places.get(rule) ?? `rule ${index + 1}`;
}

/** All rules of a policy, those of its preset first. */
export function rulesOf({ rules, extraRules = [], exceptions = [] }: PolicyJson): readonly Rule[] {
  const own = typeof rules === "string" ? presetRules[rules]() : rules;
  if (extraRules.length + exceptions.length === 0) return own;
  const over = exceptions.map((rule): Rule => {
    const exception: Rule = Object.freeze({ ...rule, exception: true });
    sameWritten(exception, rule);
    return exception;
  });
  for (const [index, rule] of extraRules.entries()) places.set(rule, `extraRules[${index}]`);
  for (const [index, rule] of over.entries()) places.set(rule, `exceptions[${index}]`);
  return Object.freeze([...own, ...extraRules, ...over]);
}
