import { canonicalJson } from "../../util/canonical-json.ts";
import { toJson } from "../../util/json.ts";
import { allowListed, type Policy } from "../decision.ts";
import type { Annotation, PolicyJson, Rule } from "./rule.ts";
import { sensible } from "./sensible.ts";

/** A declarative policy, with its data beside its verdicts. */
export interface DeclaredPolicy extends Policy {
  readonly tools: Readonly<Record<string, Annotation>>;
  readonly constants: readonly string[];
  /** The tools of each way of working, where the policy names them. */
  readonly skills?: PolicyJson["skills"];
  /** Tools whose calls the rules count; `*` for all. */
  readonly counted: readonly string[];
  readonly rules: readonly Rule[];
  toJSON(): unknown;
}

/** The policy as data, if it is one; undefined for a function of the author's. */
export function rulePolicyOf(policy: Policy): DeclaredPolicy | undefined {
  return isDeclared(policy) ? policy : undefined;
}

function isDeclared(policy: Policy): policy is DeclaredPolicy {
  return "toJSON" in policy && "tools" in policy && "constants" in policy;
}

/** The tools whose calls a policy counts. A function of the author's may count any: nobody can look into it. */
export function countedBy(policy: Policy): readonly string[] {
  if (policy === sensible || policy === allowListed) return [];
  return rulePolicyOf(policy)?.counted ?? ["*"];
}

/**
 * A text that is another when the policy is: its rules, the version of a function, else its name and source. What a function closes over is not
 * in its source.
 */
export function policyIdentity(policy: Policy): string {
  const json = toJson(rulePolicyOf(policy)?.toJSON());
  if (json.ok && json.value !== null) return canonicalJson(json.value);
  const version = versionOf(policy);
  return version === undefined ? `${policy.name} ${String(policy)}` : `version ${version}`;
}

/** Raise that of a policy here when one of its verdicts changes: runs that wait go on with each release that has the same. */
function versionOf(policy: Policy): string | undefined {
  if (policy === sensible) return "sensible 1";
  return policy === allowListed ? "allow-listed 1" : policy.version;
}
