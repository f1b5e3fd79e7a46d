/**
 * writ: a runtime for tool-calling agents. The model proposes a call, the program decides whether it runs.
 *
 * @module writ
 */
import "./adapters/check-node.ts";
export { type ErrorCode, type ErrorData } from "./error/codes.ts";
export { isWritError, WritError, type WritErrorOptions } from "./error/writ-error.ts";

export { type Message } from "./message/message.ts";
export { type Usage } from "./message/usage.ts";

export { type Capability, env, exec, fs, llm, net, secret } from "./tool/capability.ts";
export { type Knowledge, knowledge } from "./tool/knowledge.ts";
export { type Effect, type Tool, tool, type ToolContext, type TypedTool } from "./tool/tool.ts";

export { budgets } from "./policy/account/budget-presets.ts";
export { type Budget } from "./policy/account/budget.ts";
export { type Decision, type Policy } from "./policy/decision.ts";
export { type ApprovalRequest } from "./policy/rules/approval-request.ts";
export { allow, ask, deny, limit } from "./policy/rules/builders.ts";
export { sensible } from "./policy/rules/sensible.ts";

export { type AgentEvent, type Fact, isFact, type RunEvent } from "./event/event.ts";
export { type Outcome } from "./event/outcome.ts";

export { guarded } from "./policy/study/guarded.ts";
export { policy } from "./policy/study/policy.ts";

export { isRunError, type RunError } from "./run/finished.ts";
export { type Journal } from "./journal/journal.ts";
export { memoryJournal } from "./journal/memory-journal.ts";

export { type Model } from "./model/model.ts";

export { type Hook } from "./hook/hook.ts";

export { type Approval, type Approve } from "./run/approval.ts";
export { type Checkpoint } from "./run/checkpoint.ts";

export { inMemorySessions } from "./session/in-memory-sessions.ts";
export { memoryBank } from "./session/memory-bank.ts";
export { session } from "./session/session.ts";

export { type Agent } from "./agent/agent.ts";
export { type AsToolOptions } from "./agent/as-tool.ts";
export { type AgentDefinition, type ModelSource } from "./agent/definition.ts";
export { type Runnable, type RunResult } from "./agent/runnable.ts";
export type { RunOptions } from "./agent/run-options.ts";
export { type Skill, skill } from "./agent/skill.ts";

export { agent } from "./adapters/node.ts";
