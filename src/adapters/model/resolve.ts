import type { ModelSource } from "../../agent/definition.ts";
import { WritError } from "../../error/writ-error.ts";
import { modelFromFunction } from "../../model/function-model.ts";
import type { Model, ModelFeatures } from "../../model/model.ts";
import { driverOfCard } from "../model-cards.ts";
import { aiSdk, isAiSdkModel } from "./ai-sdk.ts";
import { llamaCpp } from "./llama-cpp.ts";
import { ollama } from "./ollama.ts";
import { openaiCompatible } from "./openai-compatible.ts";

const providers: Readonly<Record<string, (name: string) => Model>> = {
  ollama,
  "llama-cpp": llamaCpp,
  "openai-compatible": openaiCompatible,
};

/**
 * Makes a model of whatever stands for one: a model, a function, an AI SDK model object, or a name like `ollama/qwen2.5:7b`. Where a model of
 * a provider has a card, its features name the driver of the card, unless they name one already.
 *
 * @throws WritError `model-invalid`, `model-name-invalid`
 */
export function resolveModel(source: ModelSource, agent: string): Model {
  if (typeof source === "string") return withCard(modelFromName(source));
  if (typeof source === "function") return modelFromFunction(source);
  if (isAiSdkModel(source)) return withCard(aiSdk(source));
  if (isModel(source)) return withCard(source);
  throw new WritError("model-invalid", { name: agent, found: source === null ? "null" : typeof source });
}

function modelFromName(name: string): Model {
  const [, provider = "", model = ""] = /^([a-z-]+)[/:](.+)$/.exec(name) ?? [];
  const make = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  if (make === undefined || model === "") {
    throw new WritError("model-name-invalid", { name, known: Object.keys(providers).join(", ") });
  }
  return make(model);
}

function isModel(source: unknown): source is Model {
  return (
    typeof source === "object" &&
    source !== null &&
    "stream" in source &&
    typeof source.stream === "function" &&
    "id" in source
  );
}

/** The models with their cards, by the models without: the same one is the same, wherever it is used. Depends on: the model; its card when it is first asked for. */
const carded = new WeakMap<Model, Model>();

/** The same model; its card is read when its features are first asked for. Models that belong to no provider have no cards. */
function withCard(model: Model): Model {
  const { id, settings, price, endpoint, retries } = model;
  if (!id.includes("/")) return model;
  const known = carded.get(model);
  if (known !== undefined) return known;
  let driver: ModelFeatures["driver"] | null = null;
  const made: Model = {
    id,
    settings,
    price,
    endpoint,
    retries,
    get features() {
      const { features } = model;
      if (features.driver !== undefined) return features;
      if (driver === null) driver = driverOfCard(id);
      return driver === undefined ? features : { ...features, driver };
    },
    stream: (request, options) => model.stream(request, options),
  };
  carded.set(model, made).set(made, made);
  return made;
}
