/** One thing to look at, and what can be done about it. */
export interface AuditFinding {
  readonly severity: "high" | "medium" | "low";
  /**
   * `lethal-trifecta`: strangers' words, private data and a way out meet in one skill. `untrusted-change`: strangers' words meet a change.
   * `wide-grant`, `effect-undeclared`, `look-alike`, `unenforced`, `need-not-granted`, `grant-unused`: see docs/manifest.md.
   */
  readonly rule:
    | "lethal-trifecta"
    | "untrusted-change"
    | "wide-grant"
    | "effect-undeclared"
    | "look-alike"
    | "unenforced"
    | "need-not-granted"
    | "grant-unused";
  readonly skill?: string;
  readonly tool?: string;
  readonly message: string;
  readonly advice: string;
}

/**
 * The properties of one skill that the Rule of Two counts, each with its reasons. A property
 * without reasons does not hold.
 */
export interface SkillAudit {
  /** A: the model reads what strangers wrote. */
  readonly untrustedInput: readonly string[];
  /** B: it can reach private data. */
  readonly sensitiveAccess: readonly string[];
  /** C, one half: it can change something. */
  readonly stateChange: readonly string[];
  /** C, the other half: something that it writes can leave. */
  readonly wayOut: readonly string[];
}

/**
 * The findings on an agent's safety, from the labels, effects, needs and grants that it declares. Nothing is
 * run. The worst finding comes first.
 *
 * @example
 * ```ts
 * import type { Audit } from "writ/policy";
 *
 * export const isFine = ({ findings }: Audit): boolean => findings.every(({ severity }) => severity !== "high");
 * ```
 */
export interface Audit {
  readonly agent: string;
  readonly skills: Readonly<Record<string, SkillAudit>>;
  readonly findings: readonly AuditFinding[];
}
