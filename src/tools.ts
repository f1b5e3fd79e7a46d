/**
 * All about tools, skills and knowledge: handles, roles of parameters, labels, recovery, retrievers, schemas.
 *
 * @module writ/tools
 */
export { type Json, type JsonObject } from "./util/json.ts";
export { type Issue, type JsonSchema, type ParseResult, type Schema } from "./schema/schema.ts";
export { type InferInput, type InferOutput, type SchemaSource } from "./schema/to-schema.ts";

export { file, type FileData, image } from "./message/file-part.ts";
export { type Integrity, type Label, type Secrecy } from "./message/label.ts";

export { type DataTool, validateCall, type Validated, validateResult } from "./tool/data-tool.ts";
export { type Act } from "./tool/acts.ts";
export { type Reconcile, type Reconciled, type RetryAfterCrash } from "./tool/after-crash.ts";
export { escalate, throwException, type Verdict } from "./tool/builtins.ts";
export { type CallScope } from "./tool/call-scope.ts";
export { type CapabilityKind, parseCapabilities, parseCapability } from "./tool/capability.ts";
export { type Constraints } from "./tool/constraints.ts";
export {
  type AccessRecord,
  type ByteRange,
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
export { type KnowledgeDefinition, type LoadContext, type Loaded } from "./tool/knowledge.ts";
export { type Labelled, labelled } from "./tool/labelled.ts";
export { type ForeignToolOptions, type ForeignToolWords } from "./tool/foreign-tools.ts";
export { fromAiSdk, type FromAiSdkOptions } from "./tool/from-ai-sdk.ts";
export { fromLangChain, type LangChainTool } from "./tool/from-langchain.ts";
export { fromOpenAI, type FromOpenAIOptions } from "./tool/from-openai.ts";
export { planTool } from "./tool/plan-tool.ts";
export { type AgreedAct, type PlannedAct } from "./tool/planned-act.ts";
export {
  type Parameter,
  type ParameterRole,
  type Parameters,
  type ParameterWords,
  type ValueSource,
  type ValueType,
} from "./tool/parameters.ts";
export { type RecoveryRules } from "./tool/recovery-rules.ts";
export {
  type ArgumentFailure,
  type Escalated,
  escalated,
  type FailedCall,
  type Fix,
  fix,
  type Fixed,
  fixed,
  type Fixer,
  type FixerContext,
  type Recovery,
  type Repair,
  type Retry,
  retry,
  type Severity,
  type Unrecoverable,
  unrecoverable,
} from "./tool/recovery.ts";
export {
  byWords,
  type Passage,
  type RetrieveOptions,
  retriever,
  type RetrieverDefinition,
  type RetrieverQuery,
} from "./tool/retriever.ts";
export {
  type ArgumentsOf,
  type GivenBy,
  type Mode,
  type ResultFor,
  type SentTo,
  type ToolDefinition,
  type ToolOrigin,
} from "./tool/tool.ts";
export { type LoadedPage, type ToolPage } from "./tool/tool-page.ts";
export { type WithFiles, withFiles } from "./tool/with-files.ts";

export { type Tools } from "./policy/allow-list.ts";

export { describeSkill, skillContext } from "./agent/describe/describe-skill.ts";
export { type Routing } from "./agent/definition.ts";
export {
  type AgenticSkill,
  type MadeBy,
  type PlainSkill,
  type SkillDefinition,
  type ToolList,
} from "./agent/skill.ts";
export { toolCatalogue, type ToolCatalogueDefinition } from "./agent/tool-catalogue.ts";
export { type WaitedFor } from "./policy/rules/approval-request.ts";
export {
  type OnWait,
  type SignalValue,
  type SignalWait,
  type WaitOptions,
  type Waits,
} from "./tool/waits.ts";
