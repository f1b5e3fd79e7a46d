import { policy, type PolicyOptions, type RulePolicy } from "./policy.ts";

/** Options of a preset beside its rules. */
export interface PresetOptions extends PolicyOptions {
  /** The name of the policy in records. Default: the name of the preset. */
  readonly name?: string;
}

/**
 * Guards every effect, declared or not, by where its arguments come from. What only looks is allowed, and so is everything before the model has seen
 * untrusted data. After that an effect is allowed when each target, amount and id is the user's own choice (or left out), no content has a link of a stranger,
 * and nothing is told to somebody who may not know it; else a person is asked. A person is asked as well when the user's words name no act of the kind of an
 * irreversible tool (`requested`), when an irreversible or undeclared effect acts on
 * nothing that could have been chosen, and when looking somewhere would tell what not everybody may know.
 *
 * @throws WritError `policy-invalid`
 * @example
 * ```ts
 * import { agent, deny, guarded } from "writ";
 *
 * export const clerk = agent({
 *   name: "clerk",
 *   model: "ollama/qwen2.5:7b",
 *   policy: guarded({ constants: ["me@example.com"], extraRules: [deny("delete_account")] }),
 * });
 * ```
 */
export function guarded({ name = "guarded", ...options }: PresetOptions = {}): RulePolicy {
  return policy({ ...options, name, rules: "guarded" });
}

/**
 * Asks a person about every effect, declared or not, once the model has seen untrusted data: no value makes an exception. What only looks is allowed, and
 * so is everything before.
 *
 * @throws WritError `policy-invalid`
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { strict } from "writ/policy";
 *
 * export const clerk = agent({ name: "clerk", model: "ollama/qwen2.5:7b", policy: strict() });
 * ```
 */
export function strict({ name = "strict", ...options }: PresetOptions = {}): RulePolicy {
  return policy({ ...options, name, rules: "strict" });
}
