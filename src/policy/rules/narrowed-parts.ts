import type { Policy } from "../decision.ts";

// Depends on: the policy, which `narrowed` made.
const parts = new WeakMap<Policy, readonly [Policy, Policy]>();

/** Keeps of which two policies one was made: the first as it is, held to the second. */
export function keepParts(policy: Policy, of: readonly [Policy, Policy]): void {
  parts.set(policy, of);
}

/** The two policies of which `narrowed` made this one: the stricter word of both is its own. */
export function narrowedParts(policy: Policy): readonly [Policy, Policy] | undefined {
  return parts.get(policy);
}
