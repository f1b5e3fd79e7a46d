import { checkArguments, closed } from "../../error/check-shape.ts";
import { anything, boolean, callable, filled, map, optional, record, string } from "../../util/shape.ts";
import { endpointOf } from "../../model/endpoint.ts";
import type { Model } from "../../model/model.ts";
import { modelFeatures, settingShapes } from "../../model/setting-shapes.ts";
import { openaiServer } from "./openai-compatible-address.ts";
import { featuresOf, type OpenaiCompatibleOptions, type OpenaiSource } from "./openai-compatible-source.ts";
import { atLeastOne, free, knownOptions, type OptionShapes, priceShape } from "./options.ts";
import { settingsData } from "./settings-data.ts";
import { whenAsked } from "./streams.ts";

export type { OpenaiCompatibleOptions } from "./openai-compatible-source.ts";

const known: OptionShapes<OpenaiCompatibleOptions> = {
  baseUrl: optional(string),
  apiKey: optional(string),
  headers: optional(map(string)),
  settings: optional(closed(settingShapes)),
  systemOptions: optional(record),
  features: optional(modelFeatures),
  price: optional(priceShape),
  maxReplyBytes: anything,
  doneEnds: optional(boolean),
  fetch: optional(callable),
};

/**
 * Makes a model of a server with OpenAI's chat completions: llama.cpp, vLLM, LM Studio, Ollama's `/v1`, hosted providers. Nothing is sent
 * before the first request.
 *
 * Replies are held to a JSON Schema by `response_format`, unless the server says that it cannot. If the server turns out to be llama.cpp, replies are held to
 * grammars too, and it is asked once whether the model's chat template knows tools: if not, the server would drop them silently, and here the error is
 * `model-without-tools`. A named tool choice sends that tool alone and requires a call, because few servers take a name; OpenAI's own gets the name. Leaving
 * the stream early, or aborting it, ends the request on the server; an aborted stream throws the reason of the signal.
 *
 * @throws WritError `option-invalid` if there is no address, or for an unknown option. From `stream`: `provider-unreachable`, `model-not-found`,
 * `model-without-tools`,   `provider-refused-key`, `provider-redirected`, `provider-failed` (retryable for load and broken   connections), and `option-invalid`
 * for a grammar elsewhere.
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
  checkArguments("openaiCompatible()", { name }, { name: filled });
  knownOptions("openaiCompatible", options, known);
  const { maxReplyBytes, price } = options;
  atLeastOne("openaiCompatible", { maxReplyBytes });
  const server = openaiServer(options);
  const source: OpenaiSource = { name, options, server, llamaCpp: undefined, learned: new Set() };
  return {
    id: `openai-compatible/${name}`,
    settings: settingsData({
      provider: "openai-compatible",
      name,
      baseUrl: server.url,
      ...options.settings,
      maxReplyBytes,
    }),
    get features() {
      return featuresOf(source);
    },
    endpoint: endpointOf(server.url, server.headers),
    price: price === 0 ? free : price,
    stream: (request, streamOptions) =>
      whenAsked(async () =>
        (await import("./openai-compatible-request.ts")).reply(source, request, streamOptions),
      ),
  };
}
