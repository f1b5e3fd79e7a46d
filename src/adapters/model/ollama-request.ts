import type { ChatRequest } from "ollama/browser";
import { WritError } from "../../error/writ-error.ts";
import type {
  Delta,
  ModelRequest,
  ModelSettings,
  StreamOptions,
  ToolDescription,
} from "../../model/model.ts";
import type { JsonObject } from "../../util/json.ts";
import { visible } from "../../util/visible.ts";
import { defaultTemperature, type OllamaAddress } from "./ollama-address.ts";
import { openClient } from "./ollama-client.ts";
import { type AskedOllama, ollamaError } from "./ollama-errors.ts";
import { toOllamaFormat } from "./ollama-schema.ts";
import { toOllamaMessages, toOllamaTools } from "./ollama-messages.ts";
import { capabilitiesOf, listModels } from "./ollama-models.ts";
import { toDeltas, wholeReply } from "./ollama-reply.ts";
import { stoppable } from "./streams.ts";
import { keyScrub } from "./without-keys.ts";
import { settingFields } from "./wire-fields.ts";

/**
 * The address of an Ollama model, with the settings of requests that have none.
 *
 * @example
 * ```ts
 * import type { OllamaOptions } from "writ/ollama";
 *
 * export const options: OllamaOptions = { host: "gpu-box", temperature: 0.1, contextLength: 16_384, keepAlive: "30m" };
 * ```
 */
export interface OllamaOptions {
  /** The server: a name, `name:port` or a URL. Default: the environment variable OLLAMA_HOST, otherwise `localhost`. */
  readonly host?: string;
  /** The port. Default: the one in `host`, otherwise 11434 (80 or 443 for a URL, as for Ollama's own tools). */
  readonly port?: number;
  /** 0 always takes the likeliest token. Default 0.7. */
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly seed?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  /** The tokens after which a reply is cut (`num_predict`). Default: the model's own. */
  readonly maxOutputTokens?: number;
  readonly stopSequences?: readonly string[];
  /**
   * The most tokens that the model reads and writes (`num_ctx`). Default: the server's, often 4096. Ollama silently cuts a longer conversation at its
   * beginning, so a run with many tools or turns needs more.
   */
  readonly contextLength?: number;
  /**
   * The time for which the server keeps the model in memory afterwards: like `"10m"`, or seconds; 0 not at all,
   * -1 forever. Default: the server's, 5 minutes.
   */
  readonly keepAlive?: string | number;
  /** Sets whether, or how much, the model reasons before it answers. Models that cannot reason refuse it. Default: the model's own. */
  readonly think?: boolean | "low" | "medium" | "high" | "max";
  /** False asks for replies in one piece, for proxies that cannot stream. Default true. */
  readonly stream?: boolean;
  /** More of Ollama's options, under its own names, like `{ num_gpu: 0, min_p: 0.05 }`. */
  readonly providerOptions?: JsonObject;
  /** Headers for every request, like the key of a proxy. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The size above which a reply ends with an error. Default 16 MiB. */
  readonly maxReplyBytes?: number;
  /**
   * Sends the requests, each with `redirect: "manual"`. Default: the global `fetch`, which gives up on a server
   * that begins no answer within 5 minutes.
   */
  readonly fetch?: typeof globalThis.fetch;
  /** Gets warnings, each once for a model. Default: a process warning. */
  readonly warn?: (message: string) => void;
}

/** The model of a request. */
export interface OllamaSource {
  readonly name: string;
  readonly options: OllamaOptions;
  readonly address: OllamaAddress;
}

const defaultMaxReplyBytes = 16 * 1024 * 1024;
/**
 * The time for the server to say what else it has, and the most models that are asked for their capabilities. The
 * run waits for both.
 */
const adviceTimeoutMs = 2_000;
const maxAdvised = 8;

/** Yields a reply: the `stream` of {@link OllamaSource}. */
export function reply(
  source: OllamaSource,
  request: ModelRequest,
  streamOptions: StreamOptions,
): AsyncGenerator<Delta, void> {
  const open = (stop: AbortSignal): Promise<AsyncIterable<Delta>> => send(source, request, stop);
  const errorOf = (thrown: unknown): Promise<Error> =>
    ollamaError(thrown, asked(source, streamOptions.signal));
  const scrub = keyScrub(Object.entries(source.address.headers));
  return stoppable({ open, errorOf, scrub }, streamOptions);
}

async function send(
  source: OllamaSource,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<AsyncIterable<Delta>> {
  const { options, address } = source;
  const client = await openClient({
    address,
    fetch: options.fetch ?? fetch,
    signal,
    maxReplyBytes: options.maxReplyBytes ?? defaultMaxReplyBytes,
    lines: options.stream !== false,
  });
  const body = chatBody(source, request);
  return toDeltas(
    options.stream === false
      ? [wholeReply(await client.chat({ ...body, stream: false }))]
      : await client.chat({ ...body, stream: true }),
    address.url,
  );
}

/** The body of a request. All settings of sampling are in `options`: elsewhere Ollama ignores them. */
function chatBody({ name, options, address }: OllamaSource, request: ModelRequest): ChatRequest {
  const { format } = request;
  if (format?.type === "grammar") {
    const advice = "Ollama models can be held to a JSON Schema, not to a grammar.";
    throw new WritError("option-invalid", { option: "format", value: "grammar", advice });
  }
  const tools = offeredTools({ name, options }, request);
  const body = {
    model: name,
    messages: toOllamaMessages(request.messages, { model: name, server: address.url }),
    ...(tools.length === 0 ? {} : { tools: toOllamaTools(tools) }),
    ...(format === undefined ? {} : { format: toOllamaFormat(format.schema) }),
    ...(options.think === undefined ? {} : { think: options.think }),
    ...(options.keepAlive === undefined ? {} : { keep_alive: options.keepAlive }),
    options: {
      temperature: defaultTemperature,
      ...samplingOptions(options),
      ...samplingOptions(request.settings),
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the package's types are narrower than the server: a content may be null, and results may name the call they belong to
  return body as unknown as ChatRequest;
}

function samplingOptions(settings: ModelSettings & Pick<OllamaOptions, "contextLength">): JsonObject {
  const { contextLength, providerOptions } = settings;
  return {
    ...settingFields(settings, "num_predict"),
    ...(contextLength === undefined ? {} : { num_ctx: contextLength }),
    ...providerOptions,
  };
}

/** The tools of the request. Ollama has no tool choice: the model calls the tools that it is told of, or not. */
function offeredTools(
  { name, options }: Pick<OllamaSource, "name" | "options">,
  request: ModelRequest,
): readonly ToolDescription[] {
  const { tools, toolChoice } = request;
  if (toolChoice === "none" || tools.length === 0) return [];
  if (toolChoice === "auto") return tools;
  const what = toolChoice === "required" ? "all tools are offered" : `only "${toolChoice.tool}" is offered`;
  warnOnce(
    options.warn ?? warnProcess,
    name,
    `Ollama cannot make ollama/${name} call a tool: ${what}, and it may still answer without a call.`,
  );
  if (toolChoice === "required") return tools;
  const named = tools.filter((tool) => tool.name === toolChoice.tool);
  return named.length === 0 ? tools : named;
}

type Warn = (message: string) => void;

const warnProcess: Warn = (message) => process.emitWarning(visible(message), "WritWarning");

// Register: the models of which each function was warned, by name. One warning for a model is enough, whatever it is asked to call.
const warned = new WeakMap<Warn, Set<string>>();

function warnOnce(warn: Warn, model: string, message: string): void {
  const models = warned.get(warn) ?? new Set<string>();
  if (models.has(model)) return;
  warned.set(warn, models.add(model));
  warn(message);
}

/** Questions to the server about its other models, for an error message. */
function asked({ name, address, options }: OllamaSource, signal: AbortSignal): AskedOllama {
  const list = (): Parameters<typeof listModels>[0] => ({
    address,
    fetch: options.fetch ?? fetch,
    signal: AbortSignal.any([signal, AbortSignal.timeout(adviceTimeoutMs)]),
  });
  const names = async (): Promise<readonly string[] | undefined> => {
    try {
      return (await listModels(list())).map((model) => model.name);
    } catch {
      return undefined;
    }
  };
  return {
    model: name,
    url: address.url,
    installed: names,
    async withTools() {
      const some = (await names())?.slice(0, maxAdvised);
      if (some === undefined) return undefined;
      const capabilities = await Promise.all(some.map((model) => capabilitiesOf(model, list())));
      if (some.length > 0 && capabilities.every((known) => known === undefined)) return undefined;
      return some.filter((_, index) => capabilities[index]?.includes("tools"));
    },
  };
}
