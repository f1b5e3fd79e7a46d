import type { Policy } from "../decision.ts";

// Depends on: the policy, which `narrowed` made.
const parts = new WeakMap<Policy, readonly [Policy, Policy]>();

/** Remembers the two policies that one was made of: the first, and the second that bounds it. */
export function keepParts(policy: Policy, of: readonly [Policy, Policy]): void {
  parts.set(policy, of);
}

/** The two policies that `narrowed` combined: the stricter of both decides. */
export function narrowedParts(policy: Policy): readonly [Policy, Policy] | undefined {
  return parts.get(policy);
}
