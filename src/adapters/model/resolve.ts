import { checkArguments } from "../../error/check-shape.ts";
import type { ModelSource } from "../../agent/definition.ts";
import { WritError } from "../../error/writ-error.ts";
import { modelFromFunction } from "../../model/function-model.ts";
import type { Model, ModelFeatures } from "../../model/model.ts";
import { type ProviderName, providerNames } from "../../model/provider-names.ts";
import { didYouMean } from "../../util/nearest.ts";
import { driverOfCard } from "../model-cards.ts";
import { aiSdk, isAiSdkModel } from "./ai-sdk.ts";
import { hosted } from "./hosted.ts";
import { llamaCpp } from "./llama-cpp.ts";
import { ollama } from "./ollama.ts";
import { openaiCompatible } from "./openai-compatible.ts";
import { type HostedName, isHosted } from "./providers.ts";
import { kindOf, string } from "../../util/shape.ts";

const providers: Readonly<Record<Exclude<ProviderName, HostedName>, (name: string) => Model>> = {
  ollama,
  "llama-cpp": llamaCpp,
  "openai-compatible": openaiCompatible,
};

/**
 * Makes a model from any value that stands for one: a model, a function, an AI SDK model object, or a name like `openai/gpt-5`. If a model of
 * a provider has a card, its features name the driver of the card, unless they name one already.
 *
 * @throws WritError `model-invalid`, `model-name-invalid`
 */
export function resolveModel(source: ModelSource, agent: string): Model {
  if (typeof source === "string") return modelNamed(source);
  if (typeof source === "function") return modelFromFunction(source);
  if (isAiSdkModel(source)) return withCard(aiSdk(source));
  if (isModel(source)) return withCard(source);
  throw new WritError("model-invalid", { name: agent, found: foundIn(source) });
}

function foundIn(source: unknown): string {
  if (source instanceof Promise) return "a promise (await it first)";
  return kindOf(source);
}

/**
 * Makes a model from a name that comes from outside: an environment variable, a file, a form. Pass a name that is written in your program
 * to `agent()` directly.
 *
 * @throws WritError `model-name-invalid`; `peer-missing` for a provider that needs its package and has none
 * @example
 * ```ts
 * import { agent } from "writ";
 * import { modelNamed } from "writ/models";
 *
 * export const greeter = agent({ name: "greeter", model: modelNamed(process.env["MODEL"] ?? "openai/gpt-5-mini") });
 * ```
 */
export function modelNamed(name: string): Model {
  checkArguments("modelNamed()", { name }, { name: string });
  const [, provider = "", model = ""] = /^([a-z-]+)[/:](.+)$/.exec(name) ?? [];
  if (isHosted(provider)) return withCard(hosted(provider, model));
  if (isOwn(provider)) return withCard(providers[provider](model));
  throw new WritError("model-name-invalid", { name, meant: meantBy(name), known: providerNames.join(", ") });
}

function meantBy(name: string): string {
  const begun = name.split(/[/:]/, 1)[0] ?? "";
  if (providerNames.some((known) => known === begun))
    return `: it is a provider alone; write "${begun}/" and the name of the model.`;
  const maker = makers.find(([, names]) => names.test(name))?.[0];
  return maker === undefined ? didYouMean(begun, providerNames) || "." : `; did you mean "${maker}/${name}"?`;
}

/** The providers of names that other libraries take without one. Ollama puts a size behind a colon. */
const makers: readonly (readonly [ProviderName, RegExp])[] = [
  ["openai", /^(?:chat)?gpt-[\w.-]+$|^o\d[\w.-]*$/],
  ["anthropic", /^claude-[\w.-]+$/],
  ["google", /^gemini-[\w.-]+$/],
  ["mistral", /^(?:mistral|ministral|magistral|codestral|devstral)-[\w.-]+$/],
  ["deepseek", /^deepseek-(?:chat|reasoner)$/],
  ["xai", /^grok-[\w.-]+$/],
  ["ollama", /^[a-z][\w.-]*\d[\w.-]*:[\w.-]+$/],
];

function isOwn(name: string): name is keyof typeof providers {
  return Object.hasOwn(providers, name);
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

/** The models with their cards, by the models without: one model always gets the same one. Depends on: the model; its card when it is first asked for. */
const carded = new WeakMap<Model, Model>();

/** The same model; its card is read when its features are first read. Models that belong to no provider have no cards. */
function withCard(model: Model): Model {
  const { id, settings, retries } = model;
  if (!id.includes("/")) return model;
  const known = carded.get(model);
  if (known !== undefined) return known;
  let driver: ModelFeatures["driver"] | null = null;
  const made: Model = {
    id,
    settings,
    get price() {
      return model.price;
    },
    get endpoint() {
      return model.endpoint;
    },
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
