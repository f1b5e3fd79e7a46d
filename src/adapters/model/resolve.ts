import type { ModelSource } from "../../agent/definition.ts";
import { WritError } from "../../error/writ-error.ts";
import { modelFromFunction } from "../../model/function-model.ts";
import type { Model } from "../../model/model.ts";
import { aiSdk, isAiSdkModel } from "./ai-sdk.ts";
import { llamaCpp } from "./llama-cpp.ts";
import { ollama } from "./ollama.ts";

const providers: Readonly<Record<string, (name: string) => Model>> = { ollama, "llama-cpp": llamaCpp };

/**
 * Makes a model of whatever stands for one: a model, a function, an AI SDK model object, or a name like `ollama/qwen2.5:7b`.
 *
 * @throws WritError `model-invalid`, `model-name-invalid`
 */
export function resolveModel(source: ModelSource, agent: string): Model {
  if (typeof source === "string") return modelFromName(source);
  if (typeof source === "function") return modelFromFunction(source);
  if (isAiSdkModel(source)) return aiSdk(source);
  if (isModel(source)) return source;
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
