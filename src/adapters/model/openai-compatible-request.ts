import { WritError } from "../../error/writ-error.ts";
import type { Delta, ModelRequest, ReplyFormat, StreamOptions } from "../../model/model.ts";
import { toOllamaFormat } from "./ollama-schema.ts";
import type { OpenaiServer } from "./openai-compatible-address.ts";
import { openaiError, refusesFormat, withoutTools } from "./openai-compatible-errors.ts";
import { toOpenaiMessages } from "./openai-compatible-messages.ts";
import { chunksOf, toDeltas } from "./openai-compatible-reply.ts";
import { askLlamaCpp, isFromLlamaCpp, modelNames, postChat } from "./openai-compatible-server.ts";
import { featuresOf, type OpenaiSource } from "./openai-compatible-source.ts";
import { strictSchema } from "./openai-strict-schema.ts";
import { stoppable } from "./streams.ts";
import { settingFields, wireTools } from "./wire-fields.ts";

const defaultMaxReplyBytes = 16 * 1024 * 1024;

/** Asks for a reply: the `stream` of {@link OpenaiSource}. */
export function reply(
  source: OpenaiSource,
  request: ModelRequest,
  streamOptions: StreamOptions,
): AsyncGenerator<Delta, void> {
  const { name: model, server } = source;
  const { url } = server;
  const hasTools = request.tools.length > 0;
  const models = (): ReturnType<typeof modelNames> => modelNames(server, streamOptions.signal);
  const open = (stop: AbortSignal): Promise<AsyncIterable<Delta>> => send(source, request, stop);
  const errorOf = (thrown: unknown): Promise<Error> => openaiError(thrown, { model, url, hasTools, models });
  return stoppable({ open, errorOf }, streamOptions);
}

async function send(
  source: OpenaiSource,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<AsyncIterable<Delta>> {
  const { name: model, options, server } = source;
  if (request.format?.type === "grammar") await checkGrammar(source, signal);
  const response = await ask(source, request, signal);
  await learn(source, response, signal);
  if (request.tools.length > 0 && featuresOf(source).tools === false)
    throw withoutTools({ model, url: server.url });
  return toDeltas(chunksOf(response, options.maxReplyBytes ?? defaultMaxReplyBytes));
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

/** Learns from the first answer which server it is. Only llama.cpp is asked for more. */
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
function chatBody(source: OpenaiSource, request: ModelRequest): object {
  const { name, options, server } = source;
  const { settings = {} } = options;
  const format = request.format?.type === "schema" && source.refusesFormat ? undefined : request.format;
  return {
    model: name,
    messages: toOpenaiMessages(request.messages, name),
    ...toolFields(request),
    ...(format === undefined ? {} : formatFields(format)),
    ...settingFields(settings, maxTokensName(server)),
    ...settingFields(request.settings, maxTokensName(server)),
    stream: true,
    stream_options: { include_usage: true },
    ...settings.providerOptions,
    ...request.settings.providerOptions,
  };
}

/** llama.cpp and LM Studio know no tool by its name in `tool_choice`: the tool alone, and a call required, is the same everywhere. */
function toolFields({ tools, toolChoice }: ModelRequest): object {
  if (tools.length === 0) return {};
  if (typeof toolChoice !== "object")
    return { tools: wireTools(tools), ...(toolChoice === "auto" ? {} : { tool_choice: toolChoice }) };
  const named = tools.filter((tool) => tool.name === toolChoice.tool);
  return { tools: wireTools(named.length === 0 ? tools : named), tool_choice: "required" };
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

/** OpenAI's own name for the bound of a reply is one that other servers do not know. */
function maxTokensName({ url }: OpenaiServer): string {
  const isOpenai = /^https:\/\/(?:api\.openai\.com|[^/]+\.openai\.azure\.com)\//.test(url);
  return isOpenai ? "max_completion_tokens" : "max_tokens";
}
