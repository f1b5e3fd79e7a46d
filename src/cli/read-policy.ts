import { policyFromJson, type RulePolicy } from "../policy/study/policy.ts";
import { readText } from "./read-tools.ts";

/** Reads a policy from a file. @throws WritError `file-unreadable`, `policy-invalid` */
export function readPolicy(path: string): RulePolicy {
  return policyFromJson(readText(path));
}
