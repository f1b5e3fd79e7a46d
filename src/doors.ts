/**
 * The lower-level functions ("doors") beneath `agent()`, and the values that they take and return: messages, transcripts, hooks, events, journals.
 *
 * @module writ/doors
 */
export {
  callsOf,
  type FilePart,
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
export { type MadeCall } from "./message/made-calls.ts";
export { type ConversationMessage } from "./message/conversation.ts";
export { type InputPart } from "./message/foreign-parts.ts";
export { readTranscript } from "./message/read-transcript.ts";
export {
  addUser,
  type OpenTranscript,
  type ReadyTranscript,
  type Transcript,
  type TranscriptJson,
} from "./message/transcript.ts";

export { type UiContent, type UiDetail, type UiMessage, uiMessage } from "./event/ui-message.ts";
export { type Delegation, type Envelope, type Listeners, type LiveEvent } from "./event/event.ts";

export { type Host, type Warning } from "./journal/host.ts";
export {
  type AnswerBounds,
  type Asked,
  type JournalQuestion,
  type Step,
  type StepTerms,
} from "./journal/journal.ts";
export { type MemoryJournal, type MemoryJournalOptions } from "./journal/memory-journal.ts";
export { type RecordPart } from "./journal/parts.ts";
export { type JournalRecord, type KeptQuestion, recordedJournal } from "./journal/recorded-journal.ts";

export { type ChatReply, type ChatRequest, type ChatTools } from "./model/chat.ts";
export { type Patience } from "./model/patience.ts";

export { type HookAnswer, hookFields, type HookInput, type HookPlace, type HookPlaces } from "./hook/hook.ts";

export { type CallInput, type CallToolOptions } from "./call/call-tool.ts";

export { type Chosen, type DecideRequest } from "./turn/decide.ts";
export { type CatalogEntry, type StepDecision, type StepRequest } from "./turn/llm-step.ts";
export { type SafeLoopOptions, type StepTaken, type ToolsByName } from "./turn/safe-loop.ts";

export { type EndCause } from "./run/end.ts";
export { type OpenQuestion } from "./run/waits.ts";
export {
  type CallRun,
  type Executor,
  type ExecutorContext,
  type ExecutorResult,
  type ReadyCall,
} from "./run/executor.ts";

export { type Question } from "./agent/definition.ts";
export { type ExecuteRequest } from "./agent/execute-calls.ts";
export { type LoopDefinition } from "./agent/run-loop.ts";

export { execute, loop } from "./adapters/engine-doors.ts";
export {
  call,
  callTool,
  chat,
  chatStream,
  decide,
  type LlmStatus,
  llmStatus,
  llmStep,
  safeLoop,
  type WithModel,
} from "./adapters/lower-doors.ts";
