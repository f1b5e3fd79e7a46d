import { WritError } from "../../error/writ-error.ts";
import { endpointOf } from "../../model/endpoint.ts";
import type {
  Delta,
  Model,
  ModelFeatures,
  ModelRequest,
  ModelSettings,
  ReplyFormat,
  StreamOptions,
} from "../../model/model.ts";
import type { JsonObject } from "../../util/json.ts";
import { abortErrorOf } from "./abort-error.ts";
import { toOllamaFormat } from "./ollama-schema.ts";
import { openaiError, refusesFormat, withoutTools } from "./openai-compatible-errors.ts";
import { toOpenaiMessages, toOpenaiTools } from "./openai-compatible-messages.ts";
import { chunksOf, toDeltas } from "./openai-compatible-reply.ts";
import {
  askLlamaCpp,
  isFromLlamaCpp,
  isLocal,
  type LlamaCppServer,
  modelNames,
  type OpenaiServer,
  openaiServer,
  postChat,
} from "./openai-compatible-server.ts";
import { strictSchema } from "./openai-strict-schema.ts";

/**
 * Where an OpenAI-compatible model is, and the settings of its requests where they say nothing themselves.
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
  /** Default: OPENAI_API_KEY, which goes only to OPENAI_BASE_URL and to OpenAI itself; elsewhere no key is sent. */
  readonly apiKey?: string;
  /** Headers for every request, like the key of a proxy. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Settings of every request; a request's own come before them. `providerOptions` are fields of the request's body, under the server's names. */
  readonly settings?: ModelSettings;
  /** What the model can do, where what writ finds out is wrong for it: `{ tools: false }` never sends tools. */
  readonly features?: ModelFeatures;
  /** Dollars for a usage. Default: 0 for a server on this machine; elsewhere the price is unknown. */
  readonly price?: Model["price"];
  /** A reply larger than this ends with an error. Default 16 MiB. */
  readonly maxReplyBytes?: number;
  /**
   * Sends the requests, each with `redirect: "manual"`. Default: the global one, which gives up on a server
   * that begins no answer within 5 minutes.
   */
  readonly fetch?: typeof globalThis.fetch;
}

/**
 * Makes a model of a server that speaks OpenAI's chat completions: llama.cpp, vLLM, LM Studio, Ollama's `/v1`, hosted providers. Nothing is asked
 * before the first request.
 *
 * Replies are held to a JSON Schema by `response_format`, unless the server says that it cannot. One that turns out to be llama.cpp is held to grammars too, and is asked once
 * whether the model's chat template knows tools: where it does not, the server would drop them without a word, and here that is
 * `model-without-tools`. A named tool choice sends that tool alone and requires a call, since few servers take a name. Leaving the stream
 * early, or aborting it, ends the request on the server; an aborted stream throws what the signal was aborted with.
 *
 * @throws WritError `option-invalid` when there is no address. From `stream`: `provider-unreachable`, `model-not-found`, `model-without-tools`,
 *   `provider-refused-key`, `provider-redirected`, `provider-failed` (retryable for load and broken
 *   connections), and `option-invalid` for a grammar elsewhere.
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { openaiCompatible } from "writ/openai-compatible";
 *
 * export const helpful = agent({
 *   name: "helpful",
 *   instructions: "Answer briefly.",
 *   model: openaiCompatible("qwen3", { baseUrl: "http://127.0.0.1:8080/v1" }),
 * });
 * ```
 */
export function openaiCompatible(name: string, options: OpenaiCompatibleOptions = {}): Model {
  const { maxReplyBytes, price } = options;
  if (maxReplyBytes !== undefined && !(Number.isSafeInteger(maxReplyBytes) && maxReplyBytes >= 1)) {
    const advice = "Give a whole number from 1 on.";
    throw new WritError("option-invalid", {
      option: "openaiCompatible maxReplyBytes",
      value: maxReplyBytes,
      advice,
    });
  }
  const server = openaiServer(options);
  const source: Source = { name, options, server, llamaCpp: undefined, refusesFormat: false };
  const paid = price ?? (isLocal(server) ? (): number => 0 : undefined);
  return {
    id: `openai-compatible/${name}`,
    get features() {
      return featuresOf(source);
    },
    endpoint: endpointOf(server.url, server.headers),
    ...(paid === undefined ? {} : { price: paid }),
    stream: (request, streamOptions) => reply(source, request, streamOptions),
  };
}

interface Source {
  readonly name: string;
  readonly options: OpenaiCompatibleOptions;
  readonly server: OpenaiServer;
  /** What is known of the server: undefined before it answered. */
  llamaCpp: LlamaCppServer | "another" | undefined;
  /** It said once that it cannot hold a reply to a schema. */
  refusesFormat: boolean;
}

function featuresOf({ llamaCpp, options, refusesFormat: cannot }: Source): ModelFeatures {
  const known = typeof llamaCpp === "object" ? { format: "grammar" as const, ...llamaCpp } : {};
  return { ...(cannot ? {} : { format: "schema" }), ...known, ...options.features };
}

const defaultMaxReplyBytes = 16 * 1024 * 1024;

async function* reply(
  source: Source,
  request: ModelRequest,
  { signal }: StreamOptions,
): AsyncGenerator<Delta, void> {
  const { name, options, server } = source;
  if (signal.aborted) throw abortErrorOf(signal);
  const stop = new AbortController();
  const abort = (): void => stop.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  const hasTools = request.tools.length > 0;
  try {
    if (request.format?.type === "grammar") await checkGrammar(source, stop.signal);
    const response = await ask(source, request, stop.signal);
    await learn(source, response, stop.signal);
    if (hasTools && featuresOf(source).tools === false) throw withoutTools({ model: name, url: server.url });
    for await (const delta of toDeltas(chunksOf(response, options.maxReplyBytes ?? defaultMaxReplyBytes))) {
      signal.throwIfAborted(); // what came before the abort and was not read yet
      yield delta;
    }
  } catch (error) {
    if (signal.aborted) throw abortErrorOf(signal);
    const models = (): ReturnType<typeof modelNames> => modelNames(server, signal);
    throw await openaiError(error, { model: name, url: server.url, hasTools, models });
  } finally {
    signal.removeEventListener("abort", abort);
    stop.abort();
  }
}

/** A server that cannot hold a reply to the schema is asked without: the runtime checks the reply in any case. */
async function ask(source: Source, request: ModelRequest, signal: AbortSignal): Promise<Response> {
  try {
    return await postChat(source.server, chatBody(source, request), signal);
  } catch (error) {
    if (request.format?.type !== "schema" || !refusesFormat(error)) throw error;
    source.refusesFormat = true;
    return postChat(source.server, chatBody(source, request), signal);
  }
}

/** What the first answer says of its server. Only llama.cpp is asked for more. */
async function learn(source: Source, response: Response, signal: AbortSignal): Promise<void> {
  if (source.llamaCpp !== undefined) return;
  source.llamaCpp = isFromLlamaCpp(response)
    ? ((await askLlamaCpp(source.server, source.name, signal)) ?? {})
    : "another";
}

/** Elsewhere the field would be refused, or worse: passed over. */
async function checkGrammar(source: Source, signal: AbortSignal): Promise<void> {
  if (source.options.features?.format === "grammar") return;
  source.llamaCpp ??= (await askLlamaCpp(source.server, source.name, signal)) ?? "another";
  if (source.llamaCpp !== "another") return;
  const advice =
    'Only llama.cpp\'s own server is known to take grammars. If this one does, give the model `features: { format: "grammar" }`.';
  throw new WritError("option-invalid", { option: "format", value: "grammar", advice });
}

/** The body of a request. What the author gives as `providerOptions` stands last, and wins. */
function chatBody(source: Source, request: ModelRequest): JsonObject {
  const { name, options, server } = source;
  const { settings = {} } = options;
  const format = request.format?.type === "schema" && source.refusesFormat ? undefined : request.format;
  const body = {
    model: name,
    messages: toOpenaiMessages(request.messages, name),
    ...toolFields(request),
    ...(format === undefined ? {} : formatFields(format)),
    ...settingFields(settings, server),
    ...settingFields(request.settings, server),
    stream: true,
    stream_options: { include_usage: true },
    ...settings.providerOptions,
    ...request.settings.providerOptions,
  };
  return body as unknown as JsonObject;
}

/** llama.cpp and LM Studio know no tool by its name in `tool_choice`: the tool alone, and a call required, is the same everywhere. */
function toolFields({ tools, toolChoice }: ModelRequest): object {
  if (tools.length === 0) return {};
  if (typeof toolChoice !== "object")
    return { tools: toOpenaiTools(tools), ...(toolChoice === "auto" ? {} : { tool_choice: toolChoice }) };
  const named = tools.filter((tool) => tool.name === toolChoice.tool);
  return { tools: toOpenaiTools(named.length === 0 ? tools : named), tool_choice: "required" };
}

/**
 * The schema as llama.cpp takes it, which is in most of these servers: never narrower than the schema given. OpenAI is strict where the schema
 * admits it, and would refuse the request elsewhere.
 */
function formatFields(format: ReplyFormat): object {
  if (format.type === "grammar") return { grammar: format.grammar };
  const schema = toOllamaFormat(format.schema);
  const strict = strictSchema(schema);
  const held = { name: "reply", strict: strict !== undefined, schema: strict ?? schema };
  return { response_format: { type: "json_schema", json_schema: held } };
}

function settingFields(settings: ModelSettings, { url }: OpenaiServer): JsonObject {
  const isOpenai = /^https:\/\/(?:api\.openai\.com|[^/]+\.openai\.azure\.com)\//.test(url);
  const named = {
    temperature: settings.temperature,
    top_p: settings.topP,
    top_k: settings.topK,
    seed: settings.seed,
    frequency_penalty: settings.frequencyPenalty,
    presence_penalty: settings.presencePenalty,
    [isOpenai ? "max_completion_tokens" : "max_tokens"]: settings.maxOutputTokens,
    stop: settings.stopSequences,
  };
  const given = Object.entries(named).filter(
    (entry): entry is [string, number | readonly string[]] => entry[1] !== undefined,
  );
  return Object.fromEntries(given);
}
