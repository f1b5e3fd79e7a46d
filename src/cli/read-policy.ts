import { readFields } from "../adapters/files/located.ts";
import { WritError } from "../error/writ-error.ts";
import { policyFromJson, type RulePolicy } from "../policy/study/policy.ts";
import type { JsonObject } from "../util/json.ts";
import { readText } from "./read-tools.ts";

/** Reads a policy from a file of JSON or YAML. @throws WritError `file-unreadable`, `policy-invalid` */
export async function readPolicy(path: string): Promise<RulePolicy> {
  const text = readText(path);
  return policyFromJson(isYaml(path) ? await yamlPolicy(path, text) : text);
}

/** True for a file that is read as YAML. */
export const isYaml = (path: string): boolean => /\.ya?ml$/i.test(path);

/** The fields of a policy in YAML. @throws WritError `policy-invalid` with the line of the fault */
export async function yamlPolicy(path: string, text: string): Promise<JsonObject> {
  const read = await readFields({ text, format: "yaml" });
  if (read.ok) return read.fields;
  const { line, reason } = read.problem;
  const place = line === undefined ? path : `${path}:${line}`;
  throw new WritError("policy-invalid", {
    name: "?",
    reason: `${place}: it cannot be read as YAML: ${reason}`,
  });
}
