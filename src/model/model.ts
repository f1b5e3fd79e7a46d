import type {
  FilePart,
  FinishReason,
  Message,
  ProviderMetadata,
  ProviderPart,
  ReportedResponse,
} from "../message/message.ts";
import type { FilePlace } from "../message/place-files.ts";
import type { Price, ReportedUsage } from "../message/usage.ts";
import type { JsonSchema } from "../schema/schema.ts";
import type { Json, JsonObject } from "../util/json.ts";
import type { DriverName } from "./driver-names.ts";
import type { ModelEndpoint } from "./endpoint.ts";

export type { FinishReason, ReportedResponse } from "../message/message.ts";

/** A tool as the model is told of it. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** Options that providers take for this tool, by provider name. */
  readonly providerOptions?: JsonObject;
}

/**
 * The choice of tools: the model may call one (`auto`), must (`required`), must not (`none`), or must call
 * this one.
 */
export type ToolChoice = "auto" | "required" | "none" | { readonly tool: string };

/** The form of a reply's text, for models that can be constrained while they write. */
export type ReplyFormat =
  | { readonly type: "schema"; readonly schema: JsonSchema }
  | { readonly type: "grammar"; readonly grammar: string };

/**
 * Settings of a request. A model adapter passes on those that its provider knows; `providerOptions` is passed on as it is.
 */
export interface ModelSettings {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly maxOutputTokens?: number;
  readonly stopSequences?: readonly string[];
  readonly seed?: number;
  /** Makes tokens less likely the more often they were written: from -2 to 2 with most providers, 0 changes nothing. llama.cpp ignores it. */
  readonly frequencyPenalty?: number;
  /** Makes tokens less likely once they were written: from -2 to 2 with most providers, 0 changes nothing. llama.cpp ignores it. */
  readonly presencePenalty?: number;
  readonly providerOptions?: JsonObject;
}

/** One request to a model. During a run, messages are only ever appended to `messages`: earlier ones stay as they were. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  /** The prompt as plain text to continue, in place of the messages. Only for models whose features have `completion`. */
  readonly prompt?: string;
  readonly tools: readonly ToolDescription[];
  /**
   * The names of the tools that may be called now, if these are not all: the others were removed, but are still described so that requests begin
   * alike. For providers that can hold a model to it; the runtime refuses the others in any case.
   */
  readonly callable?: readonly string[];
  readonly toolChoice: ToolChoice;
  readonly format?: ReplyFormat;
  readonly settings: ModelSettings;
}

/**
 * A piece of a reply while the model writes it. Text and reasoning come in pieces; `block` separates blocks if a provider
 * interleaves them, and its metadata belongs to the block. A call starts, may come in pieces of argument text, and ends; its end may
 * have the whole arguments, as text or as a value. `end` is the last delta.
 */
export type Delta =
  | {
      readonly type: "text-delta";
      readonly text: string;
      readonly block?: string;
      readonly providerMetadata?: ProviderMetadata;
    }
  | {
      readonly type: "reasoning-delta";
      readonly text: string;
      readonly block?: string;
      readonly providerMetadata?: ProviderMetadata;
    }
  | { readonly type: "call-start"; readonly id: string; readonly name: string }
  | { readonly type: "call-delta"; readonly id: string; readonly text: string }
  | {
      readonly type: "call-end";
      readonly id: string;
      /**
       * The whole arguments: a value, or its JSON text. Left out if they came in pieces; a call whose
       * pieces have another value does not run.
       */
      readonly arguments?: Json;
      readonly providerExecuted?: boolean;
      readonly providerMetadata?: ProviderMetadata;
    }
  /** A picture, a sound or another file that the model made. */
  | { readonly type: "file"; readonly part: FilePart }
  | { readonly type: "provider-part"; readonly part: ProviderPart }
  | {
      readonly type: "end";
      readonly finishReason: FinishReason;
      readonly usage?: ReportedUsage;
      readonly response?: ReportedResponse;
      readonly unreadable?: UnreadableCall;
    };

/** A call that its provider could not read. A run tells the model, which writes it again. */
export interface UnreadableCall {
  /** The provider's message. */
  readonly reason: string;
  /** The text that the model wrote, if the provider reports it. */
  readonly written?: string;
}

/** The abilities of a model. Left out: unknown. */
export interface ModelFeatures {
  /** True if it calls tools natively. */
  readonly tools?: boolean;
  /** The means by which it can be constrained while it writes: a JSON Schema, or a GBNF grammar. */
  readonly format?: "schema" | "grammar";
  /** True if, in a request with tools, the format binds only the answer, and the model can still call. Otherwise it binds everything that the model writes. */
  readonly formatWithTools?: boolean;
  /** True if it can continue plain text: a request with a `prompt`. */
  readonly completion?: boolean;
  /** True if it is too weak for JSON: `auto` uses the driver `lines`, if it can complete text. */
  readonly small?: boolean;
  /**
   * The place of the files that tools return: in the result (`inside`), in a user message after it (`after`), or nowhere (`none`),
   * and the model is told of them in words. Default: what its provider is known to take.
   */
  readonly resultFiles?: FilePlace;
  /**
   * True if the list of tools must stay as it was when a run began, because with another list its provider would read all messages anew. A tool that a
   * catalogue finds is then described in a result and called through one tool that is there from the beginning, and `read_result` is there from the
   * beginning too. Left out: such tools are added after the others. `false` does the same, for a model of a hosted provider that works better that way.
   */
  readonly fixedTools?: boolean;
  /** The names of tools that it takes as they are, from `^` to `$`, if it takes more than all providers do (`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`). */
  readonly toolNames?: RegExp;
  /** The driver that measured best with this model, from its card: `auto` takes it. */
  readonly driver?: DriverName;
}

/** The part of a request that is not its content. */
export interface StreamOptions {
  /** Aborted when the run ends: the model must stop writing, and the iteration must end or throw. */
  readonly signal: AbortSignal;
}

/**
 * A model, as writ asks it: one request at a time. `stream` yields the reply piece by piece and ends with `end`. It throws a `WritError` if the provider
 * cannot answer (`provider-unreachable`, `model-not-found`, `model-without-tools`, `provider-failed`).
 */
export interface Model {
  /** Provider and name, such as `ollama/qwen2.5:7b`. */
  readonly id: string;
  readonly features: ModelFeatures;
  /**
   * The settings of the model as data, with defaults filled in: provider, name, and its adapter's host,
   * port, temperature and the like. Never a key or a header. Undefined if the adapter does not say.
   */
  readonly settings?: JsonObject;
  /**
   * The address at which it is asked. Undefined for a model of this process, and if the adapter does not
   * know it.
   */
  readonly endpoint?: ModelEndpoint;
  /** True if it retries by itself, like `withRetry`: a run does not retry on top of that. */
  readonly retries?: boolean;
  /** Dollars for a usage, if the price is known. Local models declare 0. */
  readonly price?: Price;
  stream(request: ModelRequest, options: StreamOptions): AsyncIterable<Delta>;
}
