/**
 * The port that a model implements: models of your own, and models around models.
 *
 * @module writ/models
 */
export { type FinishReason } from "./message/message.ts";
export { type ReportedUsage } from "./message/usage.ts";

export {
  type FunctionReply,
  modelFromFunction,
  type ModelFunction,
  type PlainReply,
} from "./model/function-model.ts";
export {
  type Delta,
  type ModelFeatures,
  type ModelRequest,
  type ModelSettings,
  type ReplyFormat,
  type ReportedResponse,
  type UnreadableCall,
  type StreamOptions,
  type ToolChoice,
  type ToolDescription,
} from "./model/model.ts";
export { type ModelRetry, type RetryOptions, type RetryPace } from "./model/retry.ts";

export { withRetry } from "./adapters/with-retry.ts";
