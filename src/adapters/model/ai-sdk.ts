import { closed } from "../../error/check-shape.ts";
import { isWritError, WritError } from "../../error/writ-error.ts";
import type { Price } from "../../message/usage.ts";
import type { Delta, Model, ModelFeatures, ModelRequest, ModelSettings } from "../../model/model.ts";
import { modelFeatures, settingShapes } from "../../model/setting-shapes.ts";
import type { JsonObject } from "../../util/json.ts";
import { boolean, map, optional, record } from "../../util/shape.ts";
import { streamParts } from "./ai-sdk-answer.ts";
import { resultForms } from "./ai-sdk-bound.ts";
import { withCacheMarks } from "./ai-sdk-cache.ts";
import { modelKeyScrub, packageFault, providerError } from "./ai-sdk-errors.ts";
import { filesOf } from "./ai-sdk-files.ts";
import { formatFeatures, formatOptions } from "./ai-sdk-format.ts";
import { lostReplies } from "./ai-sdk-lost.ts";
import { type AiSdkVersion, promptFor, type PromptMessage } from "./ai-sdk-prompt.ts";
import { type GeneratedReply, partsOf, type StreamPart, toDeltas } from "./ai-sdk-stream.ts";
import { free, knownOptions, type OptionShapes, priceShape } from "./options.ts";
import { settingsData } from "./settings-data.ts";
import { abortErrorOf, mistakeOf, orAborted } from "./streams.ts";
import { type AiSdkProviderTool, allowedOptions, toolChoiceOf, toolsOf } from "./ai-sdk-tools.ts";
import { readsChunks } from "./ai-sdk-written.ts";
import { tellWarnings } from "./ai-sdk-warnings.ts";
import { errorWithoutKeys } from "./without-keys.ts";

export { type AgentLanguageModel, type AgentModelOptions, asLanguageModel } from "./ai-sdk-agent.ts";
export type { AiSdkProviderTool } from "./ai-sdk-tools.ts";

/**
 * The fields that writ needs of an AI SDK language model: the objects of `@ai-sdk/*` and community providers
 * have them, in the specifications V2 (`ai` 5), V3 (`ai` 6) and V4 (`ai` 7). One of `doStream` and
 * `doGenerate` is enough.
 *
 * @example
 * ```ts
 * import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
 * import type { AiSdkModel } from "writ/ai-sdk";
 *
 * export const model: AiSdkModel = createOpenAICompatible({ name: "local", baseURL: "http://127.0.0.1:8080/v1" })("qwen");
 * ```
 */
export interface AiSdkModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doStream?(options: object): PromiseLike<{
    readonly stream: ReadableStream<unknown>;
    readonly response?: { readonly headers?: Readonly<Record<string, string>> };
  }>;
  doGenerate?(options: object): PromiseLike<object>;
}

/**
 * Options for an AI SDK model object.
 *
 * @example
 * ```ts
 * import type { AiSdkOptions } from "writ/ai-sdk";
 *
 * export const options: AiSdkOptions = { settings: { temperature: 0 }, features: { tools: false } };
 * ```
 */
export interface AiSdkOptions {
  /** Settings of every request; a request's own settings override them. `providerOptions` are merged by provider. */
  readonly settings?: ModelSettings;
  /**
   * The features of the model, if the default (native tools, replies held to a JSON Schema) is wrong for it.
   */
  readonly features?: ModelFeatures;
  /** Dollars for a usage; 0 for a model without cost. Left out: the price is unknown. `listPrice` of `writ/models` knows many. */
  readonly price?: Price | 0;
  /**
   * Tools of the provider, by the name with which the model calls them. The provider runs them, not writ: no allow-list, policy or capability of
   * the agent applies.
   */
  readonly providerTools?: Readonly<Record<string, AiSdkProviderTool>>;
  /**
   * Tools of the agent that the provider knows in a form of its own, by the names that it gives them: `{ bash: anthropic.tools.bash_20250124({}) }`
   * with a tool `bash` of the agent. The model is told of that form in place of the tool's schema. Its calls are calls of the agent's tool, to which
   * allow-list, policy and schema apply. OpenAI's `shell`, `local_shell`, `apply_patch` and `computer` have results of their own form: the tool's result
   * is put into that form, or sent as it is if it already has it.
   */
  readonly boundTools?: Readonly<Record<string, AiSdkProviderTool>>;
  /**
   * False to send the request without marks for the provider's cache. Default: for a provider that reads from its cache only up to marks (Anthropic,
   * also through OpenRouter and Bedrock), the last tool, the system message and the ends of the last two requests of a run have one; a mark of the author's
   * own replaces them all.
   */
  readonly cache?: boolean;
  /** Options of the provider for the system message, by the provider's name: `{ anthropic: { cacheControl: { type: "ephemeral" } } }`. */
  readonly systemOptions?: JsonObject;
}

const known: OptionShapes<AiSdkOptions> = {
  settings: optional(closed(settingShapes)),
  features: optional(modelFeatures),
  price: optional(priceShape),
  providerTools: optional(map(record)),
  boundTools: optional(map(record)),
  cache: optional(boolean),
  systemOptions: optional(record),
};

const versions: readonly AiSdkVersion[] = ["v2", "v3", "v4"];

function versionOf(written: unknown): AiSdkVersion | undefined {
  return versions.find((version) => version === written);
}

/**
 * True for a language model object of the AI SDK that {@link aiSdk} takes. Never throws; does not call the model.
 *
 * @example
 * ```ts
 * import { aiSdk, isAiSdkModel } from "writ/ai-sdk";
 *
 * export const asModel = (value: unknown) => (isAiSdkModel(value) ? aiSdk(value) : undefined);
 * ```
 */
export function isAiSdkModel(value: unknown): value is AiSdkModel {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  const { specificationVersion, provider, modelId, doStream, doGenerate }: MaybeModel = value;
  if (typeof provider !== "string" || typeof modelId !== "string") return false;
  if (versionOf(specificationVersion) === undefined) return false;
  return typeof doStream === "function" || typeof doGenerate === "function";
}

type MaybeModel = { readonly [Field in keyof AiSdkModel]?: unknown };

/**
 * Makes a model from any AI SDK model object. Nothing of the AI SDK is imported.
 *
 * Everything that a provider puts on the parts of a reply (signatures of reasoning, ids of items) goes back to it with the same parts. A
 * model whose package has only `doGenerate` answers in one piece. A stream that ends without a reason from the
 * provider is half a reply: `provider-failed`. A call whose arguments the package changes after it streamed
 * them does not run; an earlier change is recognised only with OpenRouter's package. `stream` throws the reason of an aborted
 * signal, and these errors:
 *
 * @throws WritError `model-invalid` if the object is not an AI SDK model, `option-invalid` for an unknown option, `definition-invalid` for one of another
 *   form. From `stream`: `provider-unreachable`, `provider-refused-key`, `model-not-found`, `model-without-tools`, `provider-failed` (retryable as its package says), and `option-invalid` for a grammar.
 * @example
 * ```ts
 * import { anthropic } from "@ai-sdk/anthropic";
 * import { aiSdk } from "writ/ai-sdk";
 *
 * export const model = aiSdk(anthropic("claude-sonnet-4-5"), { settings: { maxOutputTokens: 4_000 } });
 * ```
 */
export function aiSdk(model: AiSdkModel, options: AiSdkOptions = {}): Model {
  if (!isAiSdkModel(model)) throw new WritError("model-invalid", { name: "aiSdk()", found: describe(model) });
  knownOptions("aiSdk", options, known);
  const { provider, modelId } = model;
  const version = versionOf(model.specificationVersion) ?? "v4";
  const files = filesOf(provider, version, options.features?.resultFiles);
  const prompt = promptFor(version, provider, { files, forms: resultForms(options.boundTools) });
  const lost = lostReplies();
  return {
    id: nameOf(model),
    settings: settingsData({ provider, name: modelId, ...options.settings }),
    features: { tools: true, fixedTools: true, ...formatFeatures(model), ...options.features },
    price: options.price === 0 ? free : options.price,
    async *stream(request, { signal }): AsyncGenerator<Delta> {
      if (signal.aborted) throw abortErrorOf(signal);
      const open = (): ReturnType<typeof ask> =>
        ask(model, callOptions({ model, options, request: lost.without(request), signal, prompt }), signal);
      try {
        const parts = await open().catch((error: unknown) => {
          if (signal.aborted || !lost.learn(error, request)) throw error;
          return open();
        });
        for await (const delta of toDeltas(parts, provider)) {
          yield delta;
          if (signal.aborted && delta.type !== "end") throw abortErrorOf(signal);
        }
      } catch (error) {
        if (signal.aborted) throw error instanceof Error ? error : abortErrorOf(signal);
        if (error instanceof Error && error.name === "AbortError") throw error;
        const scrub = await modelKeyScrub(model);
        const mistake = isWritError(error) ? undefined : mistakeOf(packageFault(error), scrub);
        if (mistake === undefined)
          throw errorWithoutKeys(
            providerError(error, {
              provider,
              model: modelId,
              hasTools: request.tools.length > 0 || options.providerTools !== undefined,
            }),
            scrub,
          );
        yield mistake;
      }
    },
  };
}

function nameOf({ provider, modelId }: AiSdkModel): string {
  return `${provider}/${modelId}`;
}

interface Asking {
  readonly model: AiSdkModel;
  readonly options: AiSdkOptions;
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
  readonly prompt: ReturnType<typeof promptFor>;
}

interface CallOptions {
  readonly tools?: readonly object[];
  readonly [option: string]: unknown;
}

/** The options of one call. They have the same names in all versions; only the prompt differs. */
function callOptions({ model, options, request, signal, prompt }: Asking): CallOptions {
  const version = versionOf(model.specificationVersion) ?? "v4";
  const settings = settingsOf(options.settings, request.settings);
  const type = version === "v2" ? "provider-defined" : "provider";
  const tools = toolsOf(request.tools, { ...options, provider: model.provider, type });
  const held = { ...settings, ...formatOptions(request.format, model, settings["providerOptions"]) };
  const call = {
    ...held,
    ...allowedOptions(request, model.provider, held["providerOptions"]),
    prompt: withSystemOptions(prompt(request.messages), options),
    ...(tools.length === 0 ? {} : { tools, toolChoice: toolChoiceOf(request.toolChoice) }),
    ...(readsChunks(model.provider) ? { includeRawChunks: true } : {}),
    abortSignal: signal,
  };
  return options.cache === false ? call : withCacheMarks(call, model, request.toolChoice);
}

function withSystemOptions(
  prompt: readonly PromptMessage[],
  { systemOptions: providerOptions }: AiSdkOptions,
): readonly PromptMessage[] {
  const [first, ...others] = prompt;
  if (providerOptions === undefined || first?.role !== "system") return prompt;
  return [{ ...first, providerOptions }, ...others];
}

function settingsOf(defaults: ModelSettings = {}, settings: ModelSettings): JsonObject {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  const providerOptions = { ...defaults.providerOptions, ...settings.providerOptions };
  return {
    ...defaults,
    ...Object.fromEntries(given),
    ...(Object.keys(providerOptions).length === 0 ? {} : { providerOptions }),
  };
}

async function ask(
  model: AiSdkModel,
  options: CallOptions,
  signal: AbortSignal,
): Promise<AsyncIterable<StreamPart> | Iterable<StreamPart>> {
  if (model.doStream !== undefined) {
    const opening = Promise.resolve(model.doStream(options));
    const { stream, response } = await orAborted(opening, signal).catch((error: unknown) => {
      opening.then((late) => late.stream.cancel(error)).catch(() => undefined); // a model that ignores the signal still opens it
      throw error;
    });
    return streamParts({ stream, model, signal, contentType: response?.headers?.["content-type"] ?? "" });
  }
  if (model.doGenerate === undefined) return [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the package's own types promise it, and they have three versions
  const reply = (await orAborted(model.doGenerate(options), signal)) as GeneratedReply;
  tellWarnings(nameOf(model), reply.warnings);
  return partsOf(reply);
}

function describe(value: unknown): string {
  if (typeof value === "string") return `the text "${value}"`;
  if (typeof value !== "object" || value === null) return String(value);
  const version = "specificationVersion" in value ? String(value.specificationVersion) : undefined;
  if (version === undefined) return "an object without specificationVersion";
  return versionOf(version) === undefined
    ? `an AI SDK object of specification "${version}"`
    : `an AI SDK object without doStream and doGenerate`;
}
