/**
 * writ: a runtime for tool-calling agents. The model proposes a call, the program decides whether it runs.
 *
 * @module writ
 */
export { type ErrorCode, type ErrorData } from "./error/codes.ts";
export { isWritError, WritError, type WritErrorOptions } from "./error/writ-error.ts";

export { type Issue, type JsonSchema, type ParseResult, type Schema } from "./schema/schema.ts";
export { type InferInput, type InferOutput, type SchemaSource } from "./schema/to-schema.ts";

export {
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

export {
  type Effect,
  tool,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type TypedTool,
} from "./tool/tool.ts";

export { type Tools } from "./policy/allow-list.ts";
export { type Budget, type BudgetField } from "./policy/budget.ts";
export { type CallRequest, type Decision, type Policy } from "./policy/decision.ts";

export { type Envelope, type Fact, isFact, type LiveEvent, type RunEvent } from "./event/event.ts";
export { type Outcome } from "./event/outcome.ts";

export { type Host } from "./journal/host.ts";
export { type Journal, type Step } from "./journal/journal.ts";
export { type JournalRecord, memoryJournal, type MemoryJournal } from "./journal/memory-journal.ts";

export { type ChatReply, type ChatRequest } from "./model/chat.ts";
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
  type StreamOptions,
  type ToolChoice,
  type ToolDescription,
} from "./model/model.ts";

export { type DriverChoice } from "./driver/choose.ts";
export { type Driver, type Reading, type TurnInput, type WorkedExample } from "./driver/driver.ts";
export { jsonDriver, type JsonDriverOptions } from "./driver/json.ts";

export { type Approval, type Approve } from "./executor/options.ts";

export { type Agent, type AgentEvent, type RunOptions, type RunResult } from "./agent/agent.ts";
export { type AgentDefinition, type InputOf, type ModelSource, type OutputOf } from "./agent/definition.ts";
export {
  type AgenticSkill,
  type PlainSkill,
  skill,
  type Skill,
  type SkillDefinition,
  type ToolList,
} from "./agent/skill.ts";

export { agent, chat } from "./adapters/node.ts";
