import type { ModelSettings } from "../model/model.ts";

/** What is left of the token budget bounds what the model may write. */
export function withinTokens(settings: ModelSettings, left: number): ModelSettings {
  if (left === Infinity) return settings;
  return {
    ...settings,
    maxOutputTokens: Math.max(1, Math.min(settings.maxOutputTokens ?? Infinity, Math.floor(left))),
  };
}
