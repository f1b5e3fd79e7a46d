import type { ModelSettings } from "../../model/model.ts";
import type { EngineHold, EngineOptions } from "./llama-cpp-engine.ts";

/** The model of a request. */
export interface LlamaCppSource {
  readonly engine: EngineOptions;
  readonly defaults: ModelSettings;
  /** Its hold on the engine, from its first request until it is disposed of. */
  hold: EngineHold | undefined;
}

/** The settings without undefined ones. */
export function withoutUndefined(settings: {
  readonly [Name in keyof ModelSettings]?: ModelSettings[Name] | undefined;
}): ModelSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}
