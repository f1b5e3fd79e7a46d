/**
 * Authority: the conditions of rules, policies as data and the questions that they answer, all types of bounds, and reports of what an
 * agent may do (manifests, audits, enforcement).
 *
 * @module writ/policy
 */
export { type Enforcement, type EnforcementLevel, type Probe } from "./tool/enforcement.ts";

export {
  account,
  type Account,
  type AccountDefinition,
  type AccountStore,
  type AccountUse,
  type Granted,
  inMemoryAccounts,
} from "./policy/account/account.ts";
export {
  type AccountEntry,
  type AccountLimits,
  type Amounts,
  type Hold,
  type Period,
  type WantedReply,
  type Wish,
} from "./policy/account/account-entry.ts";
export { type BudgetField, type Excess, type Ledger } from "./policy/account/budget.ts";
export { type ToolUse } from "./policy/account/constraints.ts";
export { type CallRequest, type Evidence, type RunKnowledge } from "./policy/decision.ts";
export { type Intent, type IntentPart } from "./policy/knowledge/intent.ts";
export { type ApprovalValue } from "./policy/rules/approval-request.ts";
export { capabilityAudit, type CapabilityLook } from "./event/capability-audit.ts";
export { type RuleDraft, type RuleInput, type RuleStep, type RuleSteps } from "./policy/rules/builders.ts";
export {
  absent,
  all,
  any,
  arg,
  type ArgumentSubject,
  boundToIntent,
  calls,
  effect,
  hostIn,
  not,
  oneOf,
  outsidePlan,
  planned,
  roles,
  type RolesSubject,
  secrecyExceedsTargets,
  unknownLinks,
  reachesOutside,
  requested,
  untrusted,
  within,
} from "./policy/rules/conditions.ts";
export { foundIn, listedBy } from "./policy/rules/sources.ts";
export { type AnswerHere, type Approvals, type ApprovalTerms, type QuestionedRun } from "./run/approval.ts";
export { type PlanAtCall } from "./policy/knowledge/plan.ts";
export { type Remedy } from "./policy/rules/remedy.ts";
export {
  type Annotation,
  type Condition,
  type PolicyJson,
  type Rule,
  type ValueTest,
} from "./policy/rules/rule.ts";

export { type Audience, explain } from "./policy/study/explain.ts";
export { type PresetOptions, strict } from "./policy/study/guarded.ts";
export { type Finding, type LintedTool } from "./policy/study/lint.ts";
export { narrowed, widenings } from "./policy/study/narrow.ts";
export {
  type Advice,
  type PolicyDefinition,
  policyFromJson,
  type PolicyOptions,
  type RulePolicy,
} from "./policy/study/policy.ts";
export {
  type DescribedTool,
  type RecordedEvent,
  type Simulated,
  type SimulatedCall,
  type SimulateOptions,
} from "./policy/study/simulate.ts";
export { type FailedCase, type PolicyCase, type PolicyReport } from "./policy/study/test-policy.ts";

export { type Audit, type AuditFinding, type SkillAudit } from "./agent/describe/audit-data.ts";
export { type AccountChoice } from "./agent/run-options.ts";
export { type ToolEnforcement } from "./agent/describe/enforcement.ts";
export { type ManifestChange } from "./agent/describe/manifest-change.ts";
export { compareManifests } from "./agent/describe/manifest-compare.ts";
export {
  type AgentManifest,
  type ModelManifest,
  type PolicyManifest,
  type SkillManifest,
  type ToolManifest,
} from "./agent/describe/manifest-data.ts";
export { manifestText } from "./agent/describe/manifest.ts";
