import { checkArguments } from "../../error/check-shape.ts";
import {
  anything,
  boolean,
  callable,
  either,
  filled,
  map,
  number,
  oneOf,
  optional,
  string,
} from "../../util/shape.ts";
import { endpointOf } from "../../model/endpoint.ts";
import type { Model } from "../../model/model.ts";
import { settingShapes } from "../../model/setting-shapes.ts";
import { defaultTemperature, ollamaAddress } from "./ollama-address.ts";
import type { OllamaOptions, OllamaSource } from "./ollama-request.ts";
import { atLeastOne, free, headersOf, knownOptions, type OptionShapes } from "./options.ts";
import { settingsData } from "./settings-data.ts";
import { whenAsked } from "./streams.ts";

export { type OllamaModel, ollamaModels, ollamaRunning } from "./ollama-models.ts";
export type { OllamaOptions } from "./ollama-request.ts";

const known: OptionShapes<OllamaOptions> = {
  ...settingShapes,
  host: optional(string),
  port: anything,
  contextLength: anything,
  keepAlive: optional(either(string, number)),
  think: optional(either(boolean, oneOf("low", "medium", "high", "max"))),
  stream: optional(boolean),
  headers: optional(map(string)),
  maxReplyBytes: anything,
  fetch: optional(callable),
  warn: optional(callable),
};

/**
 * Makes a model from a name on an Ollama server, like `qwen2.5:7b`. Needs the package `ollama` (an optional peer), which is loaded at the
 * first request. It sends nothing before.
 *
 * Ollama has no tool choice: `"none"` sends no tools, a named one sends only that tool, `"required"` sends all. The last two are only wishes,
 * with one warning, and a run asks again if the model does not follow them. Before the first request with tools it is unknown whether the model can call
 * them. The price is 0. Leaving the stream early, or aborting it, ends the request on the server; an aborted stream throws the reason of the
 * signal.
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
  checkArguments("ollama()", { name }, { name: filled });
  knownOptions("ollama", options, known);
  const { host, port, contextLength, maxReplyBytes } = options;
  atLeastOne("ollama", { contextLength, maxReplyBytes });
  const address = ollamaAddress(host, port);
  const source: OllamaSource = {
    name,
    options,
    address: { ...address, headers: headersOf(address.headers, options.headers) },
  };
  const { headers: _headers, fetch: _fetch, warn: _warn, host: _host, ...settings } = options;
  const url = new URL(address.url);
  return {
    id: `ollama/${name}`,
    settings: settingsData({
      provider: "ollama",
      name,
      ...settings,
      temperature: options.temperature ?? defaultTemperature,
      host: url.hostname,
      port: Number(url.port) || (url.protocol === "https:" ? 443 : 80),
    }),
    features: { format: "schema" },
    endpoint: endpointOf(source.address.url, source.address.headers),
    price: free,
    stream: (request, streamOptions) =>
      whenAsked(async () => (await import("./ollama-request.ts")).reply(source, request, streamOptions)),
  };
}
