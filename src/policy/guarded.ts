import type { Label } from "../message/label.ts";
import type { CallRequest, Decision } from "./decision.ts";
import { policy, type PolicyOptions, type RulePolicy } from "./policy.ts";

/** What can be said of a preset beside its rules. */
export interface PresetOptions extends PolicyOptions {
  /** What records call the policy. Default: the name of the preset. */
  readonly name?: string;
}

/**
 * Guards every effect, declared or not, by where its arguments come from. What only looks is allowed, and so is everything before the model has seen
 * untrusted data. After that an effect is allowed when each target, amount and id is the user's own choice (or left out), no content has a link of a stranger,
 * and nothing is told to somebody who may not know it; else a person is asked. A person is asked as well when an irreversible or undeclared effect acts on
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
  return policy(name, "guarded", options);
}

/**
 * Asks a person about every effect, declared or not, once the model has seen untrusted data: no value makes an exception. What only looks is allowed, and
 * so is everything before.
 *
 * @throws WritError `policy-invalid`
 * @example
 * ```ts
 * import { agent, strict } from "writ";
 *
 * export const clerk = agent({ name: "clerk", model: "ollama/qwen2.5:7b", policy: strict() });
 * ```
 */
export function strict({ name = "strict", ...options }: PresetOptions = {}): RulePolicy {
  return policy(name, "strict", options);
}

const plain: Decision = Object.freeze({
  verdict: "allow",
  rule: "sensible",
  reason: "the skill lists this tool",
});

const flagged: Decision = Object.freeze({
  ...plain,
  flags: Object.freeze(["effect-undeclared"]),
});

/**
 * The policy when none is written: a declared write or irreversible effect asks once the model has seen untrusted data. An undeclared effect works, and the
 * decision says that it did after such data (`effect-undeclared`). Everything else is allowed; so are knowledge and memory.
 *
 * @example
 * ```ts
 * import { deny, narrowed, policy, sensible } from "writ";
 *
 * export const sensibleWithoutMail = narrowed(sensible, policy("no mail", [deny("send_mail")]));
 * ```
 */
export function sensible(call: CallRequest): Decision {
  const { effect, kind } = call;
  if (effect === "none" || effect === "read" || kind === "knowledge" || kind === "memory") return plain;
  const { label, intent } = call.knows;
  if (label.integrity === "trusted") return plain;
  if (effect === "undeclared") return flagged;
  return {
    verdict: "ask",
    rule: "sensible",
    reason: "it changes something, after data of strangers",
    remedy: remedyAfter(label),
    evidence: { label, intent: intent.hash },
  };
}

/** What an author can do: the tools that made the run untrusted are named, since their results may well be the author's own. */
function remedyAfter({ sources }: Label): string {
  const tools = sources.flatMap((source) =>
    source.startsWith("tool/") ? [source.slice("tool/".length)] : [],
  );
  const own =
    tools.length === 0 ? "" : `\`trusted: true\` on ${tools.join(", ")}, if what it gives is your own data; `;
  return `\`approve\` for the run, so that a person is asked; ${own}\`policy: guarded()\`, which allows what the user chose; or rules of your own`;
}
