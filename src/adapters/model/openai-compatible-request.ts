import { WritError } from "../../error/writ-error.ts";
import type { Delta, ModelRequest, ReplyFormat, StreamOptions } from "../../model/model.ts";
import { isJsonObject, type JsonObject } from "../../util/json.ts";
import { toOllamaFormat } from "./ollama-schema.ts";
import type { OpenaiServer } from "./openai-compatible-address.ts";
import { openaiError, withoutTools } from "./openai-compatible-errors.ts";
import { type ChatBody, lessonsOf } from "./openai-compatible-lessons.ts";
import { toOpenaiMessages } from "./openai-compatible-messages.ts";
import { chunksOf, toDeltas } from "./openai-compatible-reply.ts";
import { askLlamaCpp, isFromLlamaCpp, modelNames, postChat } from "./openai-compatible-server.ts";
import { featuresOf, type OpenaiSource } from "./openai-compatible-source.ts";
import { strictSchema } from "./openai-strict-schema.ts";
import { stoppable } from "./streams.ts";
import { keyScrub } from "./without-keys.ts";
import { settingFields, type WireTool, wireTools } from "./wire-fields.ts";

const defaultMaxReplyBytes = 16 * 1024 * 1024;

/** Yields a reply: the `stream` of {@link OpenaiSource}. */
export function reply(
  source: OpenaiSource,
  request: ModelRequest,
  streamOptions: StreamOptions,
): AsyncGenerator<Delta, void> {
  const { name: model, server } = source;
  const { url, search, headers } = server;
  const hasTools = request.tools.length > 0;
  const models = (): ReturnType<typeof modelNames> => modelNames(server, streamOptions.signal);
  const open = (stop: AbortSignal): Promise<AsyncIterable<Delta>> => send(source, request, stop);
  const errorOf = (thrown: unknown): Promise<Error> => openaiError(thrown, { model, url, hasTools, models });
  const scrub = keyScrub([...new URLSearchParams(search), ...Object.entries(headers)]);
  return stoppable({ open, errorOf, scrub }, streamOptions);
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
  const maxBytes = options.maxReplyBytes ?? defaultMaxReplyBytes;
  return toDeltas(chunksOf(response, maxBytes), {
    server: server.url,
    doneEnds: options.doneEnds === true,
  });
}

/**
 * Sends a request. A server that refuses a field which not all servers take is asked once more without it, and one that misses a field with it; if that
 * succeeds, it is remembered. Without a schema in the request, the runtime checks the reply all the same.
 */
async function ask(source: OpenaiSource, request: ModelRequest, signal: AbortSignal): Promise<Response> {
  let learned: ReadonlySet<string> = source.learned;
  for (;;) {
    const body = chatBody(source, request, learned);
    try {
      const response = await postChat(source.server, body, signal);
      for (const lesson of learned) source.learned.add(lesson);
      return response;
    } catch (error) {
      const lessons = new Set([...learned, ...lessonsOf(error, body)]);
      if (lessons.size === learned.size) throw error;
      learned = lessons;
    }
  }
}

/** Learns from the first answer which server it is. Only llama.cpp is asked for more. */
async function learn(source: OpenaiSource, response: Response, signal: AbortSignal): Promise<void> {
  if (source.llamaCpp !== undefined) return;
  source.llamaCpp = isFromLlamaCpp(response)
    ? ((await askLlamaCpp(source.server, source.name, signal)) ?? {})
    : "another";
}

/** Refuses a grammar for other servers, which would refuse or silently ignore it. */
async function checkGrammar(source: OpenaiSource, signal: AbortSignal): Promise<void> {
  if (source.options.features?.format === "grammar") return;
  source.llamaCpp ??= (await askLlamaCpp(source.server, source.name, signal)) ?? "another";
  if (source.llamaCpp !== "another") return;
  const advice =
    'Only llama.cpp\'s own server is known to take grammars. If this one does, give the model `features: { format: "grammar" }`.';
  throw new WritError("option-invalid", { option: "format", value: "grammar", advice });
}

/** The body of a request. The author's `providerOptions` come last, and override the rest. */
function chatBody(
  { name, options, server }: OpenaiSource,
  request: ModelRequest,
  learned: ReadonlySet<string>,
): ChatBody {
  const { settings = {} } = options;
  const isRefused = request.format?.type === "schema" && learned.has("response_format");
  const format = isRefused ? undefined : request.format;
  const maxTokens = maxTokensName(server, learned);
  const body = {
    model: name,
    messages: toOpenaiMessages(request.messages, {
      server: server.url,
      model: name,
      learned,
      fetchesNoPdf: isOpenai(server) || isAzure(server),
      place: learned.has("result files") ? "none" : options.features?.resultFiles,
      systemOptions: options.systemOptions,
    }),
    ...toolFields(request, {
      isFree: learned.has("tool_choice"),
      isOpenai: isOpenai(server),
      isWide: learned.has("tool schemas"),
    }),
    ...(format === undefined ? {} : formatFields(format)),
    ...settingFields(settings, maxTokens),
    ...settingFields(request.settings, maxTokens),
    stream: true,
    ...(learned.has("stream_options") ? {} : { stream_options: { include_usage: true } }),
    ...settings.providerOptions,
    ...request.settings.providerOptions,
  };
  return body;
}

/** The known ways of a server with a choice of tools. */
interface ToolWays {
  /** True if it takes none. */
  readonly isFree: boolean;
  /** True if it is OpenAI itself, which takes a tool by its name. */
  readonly isOpenai: boolean;
  /** True if it refuses some schemas of arguments. */
  readonly isWide: boolean;
}

/** The fields for tools. llama.cpp and LM Studio take no name in `tool_choice`: to send that tool alone, and require a call, has the same effect everywhere. */
function toolFields(request: ModelRequest, { isFree, isOpenai, isWide }: ToolWays): object {
  const { tools, toolChoice } = request;
  if (tools.length === 0) return {};
  const isAlone = typeof toolChoice === "object" && !isOpenai;
  const named = isAlone ? tools.filter((tool) => tool.name === toolChoice.tool) : [];
  const sent = named.length === 0 ? tools : named;
  const choice = isAlone ? "required" : isOpenai ? choiceByName(request) : toolChoice;
  return {
    tools: wireTools(sent, isWide ? toOllamaFormat : undefined).map((tool, index) =>
      withOptions(tool, sent[index]?.providerOptions),
    ),
    ...(isFree || choice === "auto" ? {} : { tool_choice: choice }),
  };
}

function choiceByName({ toolChoice, callable }: ModelRequest): string | object {
  if (typeof toolChoice === "object") return wireName(toolChoice.tool);
  if (callable === undefined || toolChoice === "none") return toolChoice;
  return { type: "allowed_tools", allowed_tools: { mode: toolChoice, tools: callable.map(wireName) } };
}

function wireName(name: string): object {
  return { type: "function", function: { name } };
}

/** The tool with the author's options for it: `strict` belongs to its function, the others are beside that. */
function withOptions(tool: WireTool, options: JsonObject = {}): object {
  const own = options["openai-compatible"];
  if (!isJsonObject(own)) return tool;
  const { strict, ...others } = own;
  return { ...tool, function: { ...tool.function, ...(strict === undefined ? {} : { strict }) }, ...others };
}

/**
 * The schema in the form of llama.cpp, which is in most of these servers: never narrower than the given schema. OpenAI is strict if the schema
 * allows it, and would otherwise refuse the request.
 */
function formatFields(format: ReplyFormat): object {
  if (format.type === "grammar") return { grammar: format.grammar };
  const schema = toOllamaFormat(format.schema);
  const strict = strictSchema(schema);
  const held = { name: "reply", strict: strict !== undefined, schema: strict ?? schema };
  return { response_format: { type: "json_schema", json_schema: held } };
}

/** The name of the bound of a reply. Other servers do not know OpenAI's own name, except those that pass its newer models on. */
function maxTokensName(server: OpenaiServer, learned: ReadonlySet<string>): string {
  const isSame = isOpenai(server) || isAzure(server);
  return isSame || learned.has("max_completion_tokens") ? "max_completion_tokens" : "max_tokens";
}

function isAzure({ url }: OpenaiServer): boolean {
  return /^https:\/\/[^/]+\.openai\.azure\.com\//.test(url);
}

function isOpenai({ url }: OpenaiServer): boolean {
  return url.startsWith("https://api.openai.com/");
}
