import { WritError } from "../../error/writ-error.ts";
import type { Delta, ModelRequest, ModelSettings, ReplyFormat, StreamOptions } from "../../model/model.ts";
import type { JsonObject } from "../../util/json.ts";
import { abortErrorOf } from "./abort-error.ts";
import { toOllamaFormat } from "./ollama-schema.ts";
import type { OpenaiServer } from "./openai-compatible-address.ts";
import { openaiError, refusesFormat, withoutTools } from "./openai-compatible-errors.ts";
import { toOpenaiMessages, toOpenaiTools } from "./openai-compatible-messages.ts";
import { chunksOf, toDeltas } from "./openai-compatible-reply.ts";
import { askLlamaCpp, isFromLlamaCpp, modelNames, postChat } from "./openai-compatible-server.ts";
import { featuresOf, type OpenaiSource } from "./openai-compatible-source.ts";
import { strictSchema } from "./openai-strict-schema.ts";

const defaultMaxReplyBytes = 16 * 1024 * 1024;

/** Asks for a reply: the `stream` of {@link OpenaiSource}. */
export async function* reply(
  source: OpenaiSource,
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
async function ask(source: OpenaiSource, request: ModelRequest, signal: AbortSignal): Promise<Response> {
  try {
    return await postChat(source.server, chatBody(source, request), signal);
  } catch (error) {
    if (request.format?.type !== "schema" || !refusesFormat(error)) throw error;
    source.refusesFormat = true;
    return postChat(source.server, chatBody(source, request), signal);
  }
}

/** What the first answer says of its server. Only llama.cpp is asked for more. */
async function learn(source: OpenaiSource, response: Response, signal: AbortSignal): Promise<void> {
  if (source.llamaCpp !== undefined) return;
  source.llamaCpp = isFromLlamaCpp(response)
    ? ((await askLlamaCpp(source.server, source.name, signal)) ?? {})
    : "another";
}

/** Elsewhere the field would be refused, or worse: passed over. */
async function checkGrammar(source: OpenaiSource, signal: AbortSignal): Promise<void> {
  if (source.options.features?.format === "grammar") return;
  source.llamaCpp ??= (await askLlamaCpp(source.server, source.name, signal)) ?? "another";
  if (source.llamaCpp !== "another") return;
  const advice =
    'Only llama.cpp\'s own server is known to take grammars. If this one does, give the model `features: { format: "grammar" }`.';
  throw new WritError("option-invalid", { option: "format", value: "grammar", advice });
}

/** The body of a request. What the author gives as `providerOptions` stands last, and wins. */
function chatBody(source: OpenaiSource, request: ModelRequest): JsonObject {
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
