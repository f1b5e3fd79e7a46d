/**
 * writ: a runtime for tool-calling agents. The model proposes a call, the program decides whether it runs.
 *
 * @module writ
 */
export { type ParsedJson } from "./util/json.ts";
export { lenientJson } from "./util/lenient-json.ts";
export { partialJson, type PartialJson } from "./util/partial-json.ts";

export { type ErrorCode, type ErrorData } from "./error/codes.ts";
export { isWritError, WritError, type WritErrorOptions } from "./error/writ-error.ts";

export { type Issue, type JsonSchema, type ParseResult, type Schema } from "./schema/schema.ts";
export { type InferInput, type InferOutput, type SchemaSource } from "./schema/to-schema.ts";

export { type Integrity, type Label, type Secrecy } from "./message/label.ts";
export {
  callsOf,
  type FilePart,
  type FinishReason,
  type Message,
  type ProviderMetadata,
  type ProviderPart,
  type ReasoningPart,
  type ReplyMessage,
  type ReplyPart,
  type ResultMessage,
  type ResultStatus,
  type SystemMessage,
  textOf,
  type TextPart,
  type ToolCall,
  type ToolResult,
  type UserMessage,
  userMessage,
} from "./message/message.ts";
export {
  type OpenTranscript,
  type ReadyTranscript,
  readTranscript,
  type Transcript,
  type TranscriptJson,
} from "./message/transcript.ts";
export { type ReportedUsage, type Usage } from "./message/usage.ts";

export { type Act } from "./tool/acts.ts";
export { type CallScope } from "./tool/call-scope.ts";
export {
  type Capability,
  type CapabilityKind,
  env,
  exec,
  fs,
  llm,
  net,
  parseCapabilities,
  parseCapability,
  secret,
} from "./tool/capability.ts";
export { type Enforcement, type EnforcementLevel, type Probe } from "./tool/enforcement.ts";
export {
  type AccessRecord,
  type DirectoryEntry,
  type Exec,
  type ExecOptions,
  type ExecResult,
  type Fetch,
  type FetchOptions,
  type Handles,
  type HandlesOf,
  type ReadFiles,
  type Secret,
  type WriteFiles,
} from "./tool/handles.ts";
export { labelled, type Labelled } from "./tool/labelled.ts";
export { type Parameter, type ParameterRole, type Parameters, type ValueType } from "./tool/parameters.ts";
export { type Constraints } from "./tool/constraints.ts";
export { escalate, throwException, type Verdict } from "./tool/builtins.ts";
export {
  type Knowledge,
  knowledge,
  type KnowledgeDefinition,
  type LoadContext,
  type Loaded,
} from "./tool/knowledge.ts";
export {
  type Passage,
  type RetrieveOptions,
  retriever,
  type RetrieverDefinition,
  type RetrieverQuery,
} from "./tool/retriever.ts";
export { type RecoveryRules } from "./tool/recovery-rules.ts";
export {
  type ArgumentFailure,
  escalated,
  type Escalated,
  type FailedCall,
  fix,
  type Fix,
  fixed,
  type Fixed,
  type Fixer,
  type FixerContext,
  type Recovery,
  type Repair,
  retry,
  type Retry,
  type Severity,
  unrecoverable,
  type Unrecoverable,
} from "./tool/recovery.ts";
export {
  type ArgumentsOf,
  type Effect,
  type Mode,
  tool,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type TypedTool,
} from "./tool/tool.ts";

export { type Tools } from "./policy/allow-list.ts";
export { budgets } from "./policy/account/budget-presets.ts";
export { type Budget, type BudgetField, type Excess, type Ledger } from "./policy/account/budget.ts";
export { type ToolUse } from "./policy/account/constraints.ts";
export { type ApprovalRequest, type ApprovalValue } from "./policy/rules/approval-request.ts";
export {
  type CallRequest,
  type Decision,
  type Evidence,
  type Policy,
  type RunKnowledge,
} from "./policy/decision.ts";
export { type Intent, type IntentPart } from "./policy/knowledge/intent.ts";
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
  roles,
  type RolesSubject,
  secrecyExceedsTargets,
  unknownLinks,
  untrusted,
  within,
} from "./policy/rules/conditions.ts";
export { type Audience, explain } from "./policy/study/explain.ts";
export { guarded, type PresetOptions, strict } from "./policy/study/guarded.ts";
export { sensible } from "./policy/rules/sensible.ts";
export { type Finding, type LintedTool } from "./policy/study/lint.ts";
export { type Advice, policy, policyFromJson, type PolicyOptions, type RulePolicy } from "./policy/study/policy.ts";
export { narrowed, widenings } from "./policy/study/narrow.ts";
export { type Remedy } from "./policy/rules/remedy.ts";
export { type FailedCase, type PolicyCase, type PolicyReport } from "./policy/study/test-policy.ts";
export {
  allow,
  ask,
  deny,
  limit,
  type RuleDraft,
  type RuleInput,
  type RuleStep,
  type RuleSteps,
} from "./policy/rules/builders.ts";
export {
  type Annotation,
  type Condition,
  type PolicyJson,
  type Rule,
  type ValueTest,
} from "./policy/rules/rule.ts";
export {
  type DescribedTool,
  type RecordedEvent,
  type Simulated,
  type SimulatedCall,
  type SimulateOptions,
} from "./policy/study/simulate.ts";

export {
  type AgentEvent,
  type Delegation,
  type Envelope,
  type Fact,
  isFact,
  type LiveEvent,
  type RunEvent,
} from "./event/event.ts";
export { type Outcome } from "./event/outcome.ts";

export {
  type Hook,
  type HookAnswer,
  hookFields,
  type HookInput,
  type HookPlace,
  type HookPlaces,
} from "./hook/hook.ts";

export { type Host } from "./journal/host.ts";
export { type Journal, type Step } from "./journal/journal.ts";
export { type JournalRecord, memoryJournal, type MemoryJournal } from "./journal/memory-journal.ts";

export { type ChatReply, type ChatRequest, type ChatTools } from "./model/chat.ts";
export {
  type FunctionReply,
  modelFromFunction,
  type ModelFunction,
  type PlainReply,
} from "./model/function-model.ts";
export {
  type Delta,
  type Model,
  type ModelFeatures,
  type ModelRequest,
  type ModelSettings,
  type ReplyFormat,
  type ReportedResponse,
  type StreamOptions,
  type ToolChoice,
  type ToolDescription,
} from "./model/model.ts";

export { type ModelRetry, type RetryOptions, type RetryPace } from "./model/retry.ts";

export { type DriverChoice } from "./driver/choose.ts";
export { type Driver, type Reading, type TurnInput, type WorkedExample } from "./driver/driver.ts";
export { commandDriver, type CommandDriverOptions } from "./driver/command.ts";
export { type Relaxed } from "./driver/grammar/compiler.ts";
export { type CompiledGrammar, compileGrammar } from "./driver/grammar/grammar.ts";
export { jsonDriver } from "./driver/json.ts";
export { type JsonDialect, type JsonDriverOptions } from "./driver/json-settings.ts";
export { type LongThought } from "./driver/json-protocol.ts";
export { nativeDriver } from "./driver/native.ts";
export { pythonicDriver, type PythonicDriverOptions } from "./driver/pythonic.ts";
export { selectDriver, type SelectDriverOptions } from "./driver/select.ts";
export { type ShownTools } from "./driver/tool-list.ts";
export { type DriverName, driverNames } from "./model/driver-names.ts";
export { reactDriver, type ReactDriverOptions } from "./driver/react.ts";
export {
  type KnownTool,
  type LayerName,
  type ReadOptions,
  type RecognisedCall,
  type Recogniser,
  type RecogniserMode,
  type RecogniserStream,
  type Recognition,
  type RefusedCall,
} from "./driver/recognise/recognise.ts";
export { recogniser } from "./driver/recognise/recogniser.ts";

export { type Approval, type Approve } from "./run/approval.ts";

export { type Checkpoint } from "./run/checkpoint.ts";

export { type CompactionOptions } from "./session/compaction.ts";
export { type History, historyOf } from "./session/history.ts";
export { inMemorySessions } from "./session/in-memory-sessions.ts";
export {
  memoryBank,
  type MemoryBank,
  type MemoryBankOptions,
  type Remembered,
} from "./session/memory-bank.ts";
export { inMemorySlots, type MemoryStore } from "./session/memory-store.ts";
export {
  type Digest,
  keepAll,
  type Retention,
  slidingLines,
  summarised,
  tokenBudget,
} from "./session/retention.ts";
export {
  type FinishedRun,
  forkSession,
  type ForkOptions,
  type LoadedSession,
  session,
  type SessionHandle,
  type SessionOptions,
  type SummariseOptions,
  summariseSession,
} from "./session/session.ts";
export { type SessionVisit } from "./session/one-at-a-time.ts";
export {
  type SessionClaims,
  type SessionContents,
  type SessionRecord,
  type SessionRun,
  type SessionStore,
} from "./session/session-store.ts";
export { type Summarise } from "./session/summary.ts";

export { type Agent } from "./agent/agent.ts";
export { type Audit, type AuditFinding, type SkillAudit } from "./agent/describe/audit-data.ts";
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
export { type AsToolOptions } from "./agent/as-tool.ts";
export { type Subagent, subagents, type SubagentsOptions } from "./agent/subagents.ts";
export { type Routing } from "./agent/routing.ts";
export { type Runnable, type RunOptions, type RunResult } from "./agent/runnable.ts";
export { type AgentDefinition, type InputOf, type ModelSource, type OutputOf } from "./agent/definition.ts";
export { describeSkill, skillContext } from "./agent/describe/describe-skill.ts";
export { type LibraryParts, type LibrarySkill, type SkillLibrary } from "./agent/skill-library.ts";
export {
  type AgenticSkill,
  type PlainSkill,
  skill,
  type Skill,
  type SkillDefinition,
  type ToolList,
} from "./agent/skill.ts";

export {
  type DefinitionOptions,
  type FileDefinition,
  loadAgent,
  loadAgents,
} from "./adapters/files/definition-file.ts";
export { knowledgeFile, type KnowledgeFileOptions } from "./adapters/files/knowledge-file.ts";
export { promptFile } from "./adapters/files/prompt-file.ts";
export { skillFromFolder, skillLibrary, type SkillLibraryOptions } from "./adapters/files/skills.ts";
export {
  type Aggregate,
  bestOf,
  majorityVote,
  type Selection,
  type VoteOptions,
  weighted,
} from "./agent/compose/aggregate.ts";
export {
  branch,
  type BranchDefinition,
  type BranchOn,
  type CaseValue,
  type OpenBranchDefinition,
} from "./agent/compose/branch.ts";
export { type Composite, type CompositeBudget, type CompositeChanges } from "./agent/compose/composite.ts";
export { type RunInside } from "./agent/compose/course.ts";
export {
  type Discussion,
  forum,
  type ForumDefinition,
  type Participant,
  type Statement,
} from "./agent/compose/forum.ts";
export {
  type AggregateOptions,
  type OutputsOf,
  parallel,
  type ParallelAgents,
  type ParallelOptions,
} from "./agent/compose/parallel.ts";
export { pipe } from "./agent/compose/pipe.ts";
export { race } from "./agent/compose/race.ts";
export { repeat, type RepeatOptions, type Round, type UntilOptions } from "./agent/compose/repeat.ts";
export { wrap } from "./agent/compose/wrap.ts";
export { type ExecuteCallsOptions } from "./agent/execute-calls.ts";
export { type LoopDefinition } from "./agent/run-loop.ts";
export { type CallInput, type CallToolOptions } from "./call/call-tool.ts";
export { type Chosen, type DecideRequest } from "./turn/decide.ts";
export { type CatalogEntry, type StepDecision, type StepRequest } from "./turn/llm-step.ts";
export { type SafeLoopOptions, type StepTaken, type ToolsByName } from "./turn/safe-loop.ts";
export { execute, loop } from "./adapters/engine-doors.ts";
export {
  call,
  callTool,
  chatStream,
  decide,
  llmStatus,
  type LlmStatus,
  llmStep,
  safeLoop,
  type WithModel,
} from "./adapters/lower-doors.ts";
export { agent, chat } from "./adapters/node.ts";
export { withRetry } from "./adapters/with-retry.ts";
