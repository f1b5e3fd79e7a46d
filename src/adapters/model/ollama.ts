import type { ChatRequest } from "ollama/browser";
import { WritError } from "../../error/writ-error.ts";
import { endpointOf } from "../../model/endpoint.ts";
import type {
  Delta,
  Model,
  ModelRequest,
  ModelSettings,
  StreamOptions,
  ToolDescription,
} from "../../model/model.ts";
import type { JsonObject } from "../../util/json.ts";
import { visible } from "../../util/visible.ts";
import { abortErrorOf } from "./abort-error.ts";
import { type OllamaAddress, ollamaAddress, openClient } from "./ollama-client.ts";
import { type AskedOllama, ollamaError } from "./ollama-errors.ts";
import { toOllamaFormat } from "./ollama-schema.ts";
import { toOllamaMessages, toOllamaTools } from "./ollama-messages.ts";
import { capabilitiesOf, defaultHost, listModels } from "./ollama-models.ts";
import { toDeltas, wholeReply } from "./ollama-reply.ts";

export { type OllamaModel, ollamaModels, ollamaRunning } from "./ollama-models.ts";

/**
 * Where an Ollama model is, and the settings of its requests where they say nothing themselves.
 *
 * @example
 * ```ts
 * import type { OllamaOptions } from "writ/ollama";
 *
 * export const options: OllamaOptions = { host: "gpu-box", temperature: 0.1, contextLength: 16_384, keepAlive: "30m" };
 * ```
 */
export interface OllamaOptions {
  /** The server: a name, `name:port` or a URL. Default: the environment variable OLLAMA_HOST, else `localhost`. */
  readonly host?: string;
  /** Default: the one in `host`, else 11434 (80 or 443 for a URL, as for Ollama's own tools). */
  readonly port?: number;
  /** 0 always takes the likeliest token. Default 0.7. */
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly seed?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  /** A reply is cut after so many tokens (`num_predict`). Default: the model's own. */
  readonly maxOutputTokens?: number;
  readonly stopSequences?: readonly string[];
  /**
   * Tokens that the model reads and writes at most (`num_ctx`). Default: the server's, often 4096. Ollama cuts a longer conversation at its
   * beginning without a word, so a run with many tools or turns needs more.
   */
  readonly contextLength?: number;
  /** How long the server keeps the model in memory afterwards: like `"10m"`, or seconds; 0 not at all, -1 for ever. Default: the server's, 5 minutes. */
  readonly keepAlive?: string | number;
  /** Whether, or how much, the model reasons before it answers. Models that cannot refuse it. Default: the model's own. */
  readonly think?: boolean | "low" | "medium" | "high" | "max";
  /** False asks for replies in one piece, for proxies that cannot stream. Default true. */
  readonly stream?: boolean;
  /** More of Ollama's options, under its own names, like `{ num_gpu: 0, min_p: 0.05 }`. */
  readonly providerOptions?: JsonObject;
  /** Headers for every request, like the key of a proxy. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A reply larger than this ends with an error. Default 16 MiB. */
  readonly maxReplyBytes?: number;
  /**
   * Sends the requests, each with `redirect: "manual"`. Default: the global one, which gives up on a server
   * that begins no answer within 5 minutes.
   */
  readonly fetch?: typeof globalThis.fetch;
  /** Takes warnings, each once for a model. Default: a process warning. */
  readonly warn?: (message: string) => void;
}

/**
 * Makes a model of a name on an Ollama server, like `qwen2.5:7b`. Needs the package `ollama` (an optional peer), which is loaded with the
 * first request. Nothing is asked before.
 *
 * Ollama has no tool choice: `"none"` sends no tools, a named one sends only that tool, `"required"` sends all; the last two are wishes,
 * warned of once, and a run asks again when they are not followed. Whether the model can call tools is not known before the first request
 * that has some. The price is 0. Leaving the stream early, or aborting it, ends the request on the server; an aborted stream throws what the
 * signal was aborted with.
 *
 * @throws WritError `option-invalid`. From `stream`: `provider-unreachable`, `model-not-found`, `model-without-tools`,
 *   `provider-refused-key`, `provider-redirected`, `provider-failed` (retryable for load and broken
 *   connections), `peer-missing`, and `option-invalid` for a grammar.
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { ollama } from "writ/ollama";
 *
 * export const helpful = agent({
 *   name: "helpful",
 *   instructions: "Answer briefly.",
 *   model: ollama("qwen2.5:7b", { temperature: 0.1, contextLength: 16_384 }),
 * });
 * ```
 */
export function ollama(name: string, options: OllamaOptions = {}): Model {
  const { host = defaultHost(), port, contextLength, maxReplyBytes } = options;
  atLeastOne({ contextLength, maxReplyBytes });
  const address = ollamaAddress(host, port);
  const source: Source = {
    name,
    options,
    address: { ...address, headers: { ...address.headers, ...options.headers } },
  };
  return {
    id: `ollama/${name}`,
    features: { format: "schema" },
    endpoint: endpointOf(source.address.url, source.address.headers),
    price: () => 0,
    stream: (request, streamOptions) => reply(source, request, streamOptions),
  };
}

interface Source {
  readonly name: string;
  readonly options: OllamaOptions;
  readonly address: OllamaAddress;
}

const defaultMaxReplyBytes = 16 * 1024 * 1024;
/** How long the server may take to say what else it has, and how many models are asked what they can do: the run waits for it. */
const adviceTimeoutMs = 2_000;
const maxAdvised = 8;

async function* reply(
  source: Source,
  request: ModelRequest,
  { signal }: StreamOptions,
): AsyncGenerator<Delta, void> {
  const { options, address } = source;
  if (signal.aborted) throw abortErrorOf(signal);
  const stop = new AbortController();
  const abort = (): void => stop.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    const client = await openClient({
      address,
      fetch: options.fetch ?? fetch,
      signal: stop.signal,
      maxReplyBytes: options.maxReplyBytes ?? defaultMaxReplyBytes,
      lines: options.stream !== false,
    });
    const body = chatBody(source, request);
    const chunks =
      options.stream === false
        ? [wholeReply(await client.chat({ ...body, stream: false }))]
        : await client.chat({ ...body, stream: true });
    for await (const delta of toDeltas(chunks)) {
      signal.throwIfAborted(); // what came before the abort and was not read yet
      yield delta;
    }
  } catch (error) {
    if (signal.aborted) throw abortErrorOf(signal);
    throw await ollamaError(error, asked(source, signal));
  } finally {
    signal.removeEventListener("abort", abort);
    stop.abort();
  }
}

/** The body of a request. All that is about sampling stands in `options`: elsewhere Ollama passes over it. */
function chatBody({ name, options }: Source, request: ModelRequest): ChatRequest {
  const { format } = request;
  if (format?.type === "grammar") {
    const advice = "Ollama models can be held to a JSON Schema, not to a grammar.";
    throw new WritError("option-invalid", { option: "format", value: "grammar", advice });
  }
  const tools = offeredTools({ name, options }, request);
  const body = {
    model: name,
    messages: toOllamaMessages(request.messages, name),
    ...(tools.length === 0 ? {} : { tools: toOllamaTools(tools) }),
    ...(format === undefined ? {} : { format: toOllamaFormat(format.schema) }),
    ...(options.think === undefined ? {} : { think: options.think }),
    ...(options.keepAlive === undefined ? {} : { keep_alive: options.keepAlive }),
    options: { temperature: 0.7, ...samplingOptions(options), ...samplingOptions(request.settings) },
  };
  // The package's types are narrower than the server: a content may be null, and results may name the call they belong to.
  return body as unknown as ChatRequest;
}

function samplingOptions(settings: ModelSettings & Pick<OllamaOptions, "contextLength">): JsonObject {
  const named = {
    temperature: settings.temperature,
    top_p: settings.topP,
    top_k: settings.topK,
    seed: settings.seed,
    frequency_penalty: settings.frequencyPenalty,
    presence_penalty: settings.presencePenalty,
    num_predict: settings.maxOutputTokens,
    stop: settings.stopSequences,
    num_ctx: settings.contextLength,
  };
  const given = Object.entries(named).filter(
    (entry): entry is [string, number | readonly string[]] => entry[1] !== undefined,
  );
  return { ...Object.fromEntries(given), ...settings.providerOptions };
}

/** The tools that the request sends: Ollama calls what it is told of, or not. */
function offeredTools(
  { name, options }: Pick<Source, "name" | "options">,
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

// Register: the models of which each function was warned, by name. One warning of a model is enough, whatever it is asked to call.
const warned = new WeakMap<Warn, Set<string>>();

function warnOnce(warn: Warn, model: string, message: string): void {
  const models = warned.get(warn) ?? new Set<string>();
  if (models.has(model)) return;
  warned.set(warn, models.add(model));
  warn(message);
}

/** How to find out, for the message of an error, what the server has instead. */
function asked({ name, address, options }: Source, signal: AbortSignal): AskedOllama {
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

function atLeastOne(numbers: Readonly<Record<string, number | undefined>>): void {
  for (const [option, value] of Object.entries(numbers)) {
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) continue;
    throw new WritError("option-invalid", {
      option: `ollama ${option}`,
      value,
      advice: "Give a whole number from 1 on.",
    });
  }
}
