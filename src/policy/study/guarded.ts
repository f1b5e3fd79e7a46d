import { checkShape, closed } from "../../error/check-shape.ts";
import { anything } from "../../util/shape.ts";
import { policy, type PolicyOptions, type RulePolicy } from "./policy.ts";

/** Options of a preset, apart from its rules. */
export interface PresetOptions extends PolicyOptions {
  /** The name of the policy in records. Default: the name of the preset. */
  readonly name?: string;
}

/**
 * Guards every effect, declared or not, by the sources of its arguments. Calls that only look are allowed, and so is everything before the model has seen
 * untrusted data. After that an effect is allowed if each target, amount and id is the user's own choice (or left out), no content has a stranger's link,
 * and nobody is told what they may not know; otherwise a person is asked. A person is also asked if the user's words name no act of the kind of an
 * irreversible tool (`requested`), if an irreversible or undeclared effect acts on
 * nothing that could have been chosen, and if looking somewhere would reveal what is not for everybody.
 *
 * @throws WritError `policy-invalid`; `definition-invalid` for an unknown option
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
export function guarded(options: PresetOptions = {}): RulePolicy {
  return preset("guarded", options);
}

/**
 * Asks a person about every effect, declared or not, once the model has seen untrusted data, whatever the arguments are. Calls that only look are allowed, and
 * so is everything before.
 *
 * @throws WritError `policy-invalid`; `definition-invalid` for an unknown option
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { strict } from "writ/policy";
 *
 * export const clerk = agent({ name: "clerk", model: "ollama/qwen2.5:7b", policy: strict() });
 * ```
 */
export function strict(options: PresetOptions = {}): RulePolicy {
  return preset("strict", options);
}

/** The options of a preset; `policy()` checks the values. Its own rules are fixed: others go into `extraRules`. */
const shape = closed({
  name: anything,
  tools: anything,
  constants: anything,
  extraRules: anything,
  exceptions: anything,
  skills: anything,
} satisfies Record<keyof PresetOptions, unknown>);

function preset(rules: "guarded" | "strict", options: PresetOptions): RulePolicy {
  checkShape(`${rules}()`, options, shape);
  const { name = rules, ...others } = options;
  return policy({ ...others, name, rules });
}
