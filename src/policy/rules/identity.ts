import { canonicalJson } from "../../util/canonical-json.ts";
import { toJson } from "../../util/json.ts";
import { allowListed, type Policy } from "../decision.ts";
import type { Annotation, PolicyJson, Rule } from "./rule.ts";
import { sensible } from "./sensible.ts";

/** A declarative policy, with its data beside its verdicts. */
export interface DeclaredPolicy extends Policy {
  readonly tools: Readonly<Record<string, Annotation>>;
  readonly constants: readonly string[];
  /** The tools of each skill that the policy names. */
  readonly skills?: PolicyJson["skills"];
  /** Tools whose calls the rules count; `*` for all. */
  readonly counted: readonly string[];
  readonly rules: readonly Rule[];
  toJSON(): unknown;
}

/** The policy as data, if it has any; undefined for a function of the author. */
export function rulePolicyOf(policy: Policy): DeclaredPolicy | undefined {
  return isDeclared(policy) ? policy : undefined;
}

function isDeclared(policy: Policy): policy is DeclaredPolicy {
  return "toJSON" in policy && "tools" in policy && "constants" in policy;
}

/** The tools whose calls a policy counts. A function of the author may count any tool, because it cannot be inspected. */
export function countedBy(policy: Policy): readonly string[] {
  if (policy === sensible || policy === allowListed) return [];
  return rulePolicyOf(policy)?.counted ?? ["*"];
}

/**
 * A text that changes with the policy: its rules, the version of a function, or else its name and source. Variables that a function closes over are not
 * in its source.
 */
export function policyIdentity(policy: Policy): string {
  const json = toJson(rulePolicyOf(policy)?.toJSON());
  if (json.ok && json.value !== null) return canonicalJson(json.value);
  const version = versionOf(policy);
  return version === undefined ? `${policy.name} ${String(policy)}` : `version ${version}`;
}

/** The version of a policy function of this package. Raise it when a verdict changes: a waiting run goes on with every release of the same version. */
function versionOf(policy: Policy): string | undefined {
  if (policy === sensible) return "sensible 1";
  return policy === allowListed ? "allow-listed 1" : policy.version;
}
