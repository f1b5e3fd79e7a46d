import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createAnthropic as createAnthropicV2 } from "ai-sdk-anthropic-v2";
import { createAnthropic as createAnthropicV3 } from "ai-sdk-anthropic-v3";
import { createOpenAICompatible as createOpenAICompatibleV2 } from "ai-sdk-openai-compatible-v2";
import { createOpenAICompatible as createOpenAICompatibleV3 } from "ai-sdk-openai-compatible-v3";
import type { AiSdkModel } from "../../src/adapters/model/ai-sdk.ts";

export type SpecVersion = "v2" | "v3" | "v4";
export const specVersions: readonly SpecVersion[] = ["v2", "v3", "v4"];

/** A chat model of the real `@ai-sdk/openai-compatible` of that specification, which asks the played server. */
export function openaiCompatible(version: SpecVersion, url: string, modelId = "test-model"): AiSdkModel {
  const settings = { name: "played", baseURL: `${url}/v1`, includeUsage: true };
  if (version === "v2") return createOpenAICompatibleV2(settings)(modelId);
  return version === "v3"
    ? createOpenAICompatibleV3(settings)(modelId)
    : createOpenAICompatible(settings)(modelId);
}

/** A model of the real `@ai-sdk/anthropic` of that specification, which asks the played server. */
export function anthropic(version: SpecVersion, url: string, modelId = "claude-sonnet-4-5"): AiSdkModel {
  const settings = { baseURL: `${url}/v1`, apiKey: "played" };
  if (version === "v2") return createAnthropicV2(settings)(modelId);
  return version === "v3" ? createAnthropicV3(settings)(modelId) : createAnthropic(settings)(modelId);
}
