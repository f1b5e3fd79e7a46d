import { isWritError, WritError } from "../../error/writ-error.ts";
import { checkedPolicy } from "../../policy/rules/policy-json.ts";
import type { PolicyJson } from "../../policy/rules/rule.ts";
import { firstOf } from "../../tool/check-security.ts";
import { isJsonObject, type Json, parseJson } from "../../util/json.ts";
import { didYouMean } from "../../util/nearest.ts";
import type { Skills } from "./choose-tools.ts";
import { readHashed, type Suite } from "./suite.ts";

/** The tools that a policy may name, with the file that has them. */
type Described = Pick<Suite, "tools" | "path">;

/** A policy for a suite, with the skills that its tools are divided into. */
export interface PolicyFile {
  readonly path: string;
  /** SHA-256 of the file, in hexadecimal. */
  readonly sha256: string;
  readonly policy: PolicyJson;
  /** Undefined if the file has none: every task may then use all tools. */
  readonly skills?: Skills;
}

/**
 * Reads a policy file: the fields of a policy, and `skills` beside them. Every name of a tool and of a parameter in it must be one of the suite.
 *
 * @throws WritError `file-unreadable`; `eval-policy-invalid` with the field that is wrong
 */
export function readPolicyFile(path: string, suite: Described): PolicyFile {
  const { text, sha256 } = readHashed(path);
  const parsed = parseJson(text);
  if (!parsed.ok) throw invalid(path)("", `it cannot be read as JSON: ${parsed.reason}`);
  return policyFileOf(parsed.value, { path, sha256 }, suite);
}

function invalid(path: string): (at: string, reason: string) => WritError {
  return (at, reason) =>
    new WritError("eval-policy-invalid", { path, field: at === "" ? "(the whole file)" : at, reason });
}

/** Makes a policy file of its JSON. @throws WritError `eval-policy-invalid` */
export function policyFileOf(
  value: Json,
  file: { readonly path: string; readonly sha256: string },
  suite: Described,
): PolicyFile {
  const fault = invalid(file.path);
  const { skills, ...policy } = policyOf(value, fault);
  const names = suite.tools.map(({ name }) => name);
  const check = (at: string, name: string, known: readonly string[]): void => {
    if (known.includes(name)) return;
    throw fault(at, `the suite ${suite.path} has no "${name}"${didYouMean(name, known)}`);
  };
  checkAnnotations(policy, suite, check);
  for (const field of ["rules", "extraRules", "exceptions"] as const) {
    const rules = policy[field];
    if (typeof rules !== "object") continue;
    for (const [index, { tools }] of rules.entries())
      for (const name of tools) if (!name.includes("*")) check(`${field}[${index}].tools`, name, names);
  }
  for (const [skill, tools] of Object.entries(skills ?? {}))
    for (const [index, name] of tools.entries()) check(`skills.${skill}[${index}]`, name, names);
  return { ...file, policy, ...(skills === undefined ? {} : { skills }) };
}

function policyOf(fields: Json, fault: (at: string, reason: string) => WritError): PolicyJson {
  try {
    return checkedPolicy(fields);
  } catch (error) {
    if (!isWritError(error, "policy-invalid")) throw error;
    const said = String(error.data.reason);
    const [, at = "", reason = said] = /^`([^`]*)` ([\s\S]*)$/.exec(said) ?? [];
    throw fault(at === "policy" ? "" : at, reason);
  }
}

function checkAnnotations(
  { tools = {} }: PolicyJson,
  suite: Described,
  check: (at: string, name: string, known: readonly string[]) => void,
): void {
  const names = suite.tools.map(({ name }) => name);
  for (const [tool, { parameters = {} }] of Object.entries(tools)) {
    check(`tools.${tool}`, tool, names);
    const properties = suite.tools.find(({ name }) => name === tool)?.parameters["properties"];
    const known = isJsonObject(properties) ? Object.keys(properties) : [];
    for (const name of Object.keys(parameters))
      check(`tools.${tool}.parameters.${name}`, firstOf(name), known);
  }
}
