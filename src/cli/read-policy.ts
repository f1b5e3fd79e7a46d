import { readFileSync } from "node:fs";
import { messageOf, WritError } from "../error/writ-error.ts";
import { policyFromJson, type RulePolicy } from "../policy/study/policy.ts";

/** Reads a policy from a file. @throws WritError `file-unreadable`, `policy-invalid` */
export function readPolicy(path: string): RulePolicy {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new WritError("file-unreadable", { path, reason: messageOf(cause) }, { cause });
  }
  return policyFromJson(text);
}
