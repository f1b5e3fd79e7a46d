import type { Price } from "../../message/usage.ts";
import type { ModelFeatures, ModelSettings } from "../../model/model.ts";
import type { JsonObject } from "../../util/json.ts";
import type { OpenaiServer } from "./openai-compatible-address.ts";
import type { LlamaCppServer } from "./openai-compatible-server.ts";

/**
 * The address of an OpenAI-compatible model, with the settings of requests that have none.
 *
 * @example
 * ```ts
 * import type { OpenaiCompatibleOptions } from "writ/openai-compatible";
 *
 * export const options: OpenaiCompatibleOptions = { baseUrl: "http://127.0.0.1:8080/v1", settings: { temperature: 0 } };
 * ```
 */
export interface OpenaiCompatibleOptions {
  /** The server, with its path: `/chat/completions` is added. Default: the environment variable OPENAI_BASE_URL. */
  readonly baseUrl?: string;
  /** The key. Default: OPENAI_API_KEY, which goes only to OPENAI_BASE_URL and to OpenAI itself; no key is sent elsewhere. */
  readonly apiKey?: string;
  /** Headers for every request, like the key of a proxy. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Settings of every request; a request's own settings override them. `providerOptions` are fields of the request's body, under the server's names. */
  readonly settings?: ModelSettings;
  /** Fields beside the text of the system message, under the server's names: `{ cache_control: { type: "ephemeral" } }` for Claude at OpenRouter. */
  readonly systemOptions?: JsonObject;
  /** Corrects the features that writ finds: `{ tools: false }` never sends tools. */
  readonly features?: ModelFeatures;
  /** Dollars for a usage; 0 for a server without cost. Default: unknown, also on this machine, where the server may be a proxy. */
  readonly price?: Price | 0;
  /** The size above which a reply ends with an error. Default 16 MiB. */
  readonly maxReplyBytes?: number;
  /**
   * Accepts `[DONE]` as the end of a reply, for a server that gives no finish reasons. Default false: such a reply may have been cut on its way, and is a
   * broken stream (`provider-failed`, retryable).
   */
  readonly doneEnds?: boolean;
  /**
   * Sends the requests, each with `redirect: "manual"`. Default: the global `fetch`, which gives up on a server
   * that begins no answer within 5 minutes.
   */
  readonly fetch?: typeof globalThis.fetch;
}

/** The model of a request, with the known facts about its server. */
export interface OpenaiSource {
  readonly name: string;
  readonly options: OpenaiCompatibleOptions;
  readonly server: OpenaiServer;
  /** The kind of the server; undefined before its first answer. */
  llamaCpp: LlamaCppServer | "another" | undefined;
  /** The fields that it refused, and those that it missed: later requests are sent without them, or with them. */
  readonly learned: Set<string>;
}

/** The features of the model, as far as they are known. */
export function featuresOf({ llamaCpp, options, learned }: OpenaiSource): ModelFeatures {
  const known = typeof llamaCpp === "object" ? { format: "grammar" as const, ...llamaCpp } : {};
  return {
    ...("tools" in known && known.tools === false ? {} : { fixedTools: true }),
    ...(learned.has("response_format") ? {} : { format: "schema" }),
    ...known,
    ...options.features,
  };
}
