/**
 * The interface that a model implements, for models of your own and models that wrap others; models by name and their prices.
 *
 * @module writ/models
 */
export { type FinishReason, type ReportedResponse } from "./message/message.ts";
export { type Price, type ReportedUsage } from "./message/usage.ts";

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
  type UnreadableCall,
  type StreamOptions,
  type ToolChoice,
  type ToolDescription,
} from "./model/model.ts";
export { type FilePlace } from "./message/place-files.ts";
export { type ModelEndpoint } from "./model/endpoint.ts";
export { type ModelRetry, type RetryOptions, type RetryPace } from "./model/retry.ts";
export { type ModelTimeout } from "./model/timeout.ts";

export { type ModelName, type ProviderName } from "./model/provider-names.ts";

export { listPrice } from "./adapters/model/list-price.ts";
export { modelNamed } from "./adapters/model/resolve.ts";
export { withRetry } from "./adapters/with-retry.ts";
