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
  /** Options that providers take for this tool, by their names. */
  readonly providerOptions?: JsonObject;
}

/**
 * The choice of tools: the model may call one (`auto`), must (`required`), must not (`none`), or must call
 * this one.
 */
export type ToolChoice = "auto" | "required" | "none" | { readonly tool: string };

/** The form of the text of a reply, for models that can be constrained while they write. */
export type ReplyFormat =
  | { readonly type: "schema"; readonly schema: JsonSchema }
  | { readonly type: "grammar"; readonly grammar: string };

/**
 * Settings of a request. A model adapter passes on what its provider knows; `providerOptions` goes through as it is.
 */
export interface ModelSettings {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly maxOutputTokens?: number;
  readonly stopSequences?: readonly string[];
  readonly seed?: number;
  /** Makes what was written often less likely: from -2 to 2 with most providers, 0 changes nothing. llama.cpp passes over it. */
  readonly frequencyPenalty?: number;
  /** Makes what was written at all less likely: from -2 to 2 with most providers, 0 changes nothing. llama.cpp passes over it. */
  readonly presencePenalty?: number;
  readonly providerOptions?: JsonObject;
}

/** One request to a model. `messages` is append-only over the turns of a run: what was sent before stays as it was. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  /** The prompt as plain text to go on from, in place of the messages. Only for models whose features say `completion`. */
  readonly prompt?: string;
  readonly tools: readonly ToolDescription[];
  /**
   * The names of the tools that may be called now, where these are not all: the others were taken away, and are told so that requests begin
   * alike. For providers that can hold a model to it; the runtime refuses the others in any case.
   */
  readonly callable?: readonly string[];
  readonly toolChoice: ToolChoice;
  readonly format?: ReplyFormat;
  readonly settings: ModelSettings;
}

/**
 * A piece of a reply while the model writes it. Text and reasoning come in pieces; `block` tells blocks apart where a provider
 * interleaves them, and its metadata stays with the block. A call starts, may come in pieces of argument text, and ends; at its end it may
 * bring its arguments whole, as text or as a value. `end` is the last one.
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
       * The arguments whole: a value, or the JSON text of one. Left out when they came in pieces; a call whose
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

/** A call of the model that its provider could not read. A run tells the model, which writes it again. */
export interface UnreadableCall {
  /** The provider's words. */
  readonly reason: string;
  /** The text that the model wrote, where the provider tells it. */
  readonly written?: string;
}

/** The abilities of a model. Left out means: not known. */
export interface ModelFeatures {
  /** Calls tools natively. */
  readonly tools?: boolean;
  /** Can be held to a JSON Schema, or to a GBNF grammar, while it writes. */
  readonly format?: "schema" | "grammar";
  /** In a request with tools the format binds only the answer: the model can still call. Elsewhere it binds all that the model writes. */
  readonly formatWithTools?: boolean;
  /** Goes on from a plain text, when a request has a `prompt`. */
  readonly completion?: boolean;
  /** So weak that JSON is too much for it: `auto` speaks with it in lines, if it completes text. */
  readonly small?: boolean;
  /**
   * The place of the files that tools give: in the result (`inside`), in a user message after it (`after`), or nowhere (`none`),
   * and the model is told of them in words. Default: what its provider is known to take.
   */
  readonly resultFiles?: FilePlace;
  /**
   * The list of tools stays as it was when a run began, since with another one its provider would read all messages anew: of a tool that a
   * catalogue finds a result tells, and one tool that is told from the beginning calls it; so is `read_result`. Left out: they come behind the
   * others. `false` says the same where a model of a hosted provider is better told so.
   */
  readonly fixedTools?: boolean;
  /** The names of tools that it takes as they are, from `^` to `$`, where that is more than all providers do (`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`). */
  readonly toolNames?: RegExp;
  /** The driver that measured best with this model, as its card says: `auto` takes it. */
  readonly driver?: DriverName;
}

/** The part of a request beside its content. */
export interface StreamOptions {
  /** Aborted when the run ends: the model must stop writing and the iteration must end or throw. */
  readonly signal: AbortSignal;
}

/**
 * A model, as writ asks it: one request at a time. `stream` yields the reply piece by piece and ends with `end`. It throws a `WritError` if the provider
 * cannot answer (`provider-unreachable`, `model-not-found`, `model-without-tools`, `provider-failed`).
 */
export interface Model {
  /** Provider and name, like `ollama/qwen2.5:7b`. */
  readonly id: string;
  readonly features: ModelFeatures;
  /**
   * The settings of the model as data, defaults filled in: provider, name, and what its adapter has of host,
   * port, temperature and the like. Never a key or a header. Undefined where the adapter does not say.
   */
  readonly settings?: JsonObject;
  /**
   * The address at which it is asked. Undefined for a model of this process, and where the adapter does not
   * know.
   */
  readonly endpoint?: ModelEndpoint;
  /** Asks its provider again by itself, as `withRetry` does: a run does not ask again on top of it. */
  readonly retries?: boolean;
  /** Dollars for a usage, when the price is known. Local models declare 0. */
  readonly price?: Price;
  stream(request: ModelRequest, options: StreamOptions): AsyncIterable<Delta>;
}
