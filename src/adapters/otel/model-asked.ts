import type { Attributes } from "@opentelemetry/api";
import { providerNames } from "../../model/provider-names.ts";

/** The names that the conventions have for providers, where these are others than those of writ and of the AI SDK. */
const conventional: readonly (readonly [begins: string, name: string])[] = [
  ["google.vertex", "gcp.vertex_ai"],
  ["google", "gcp.gemini"],
  ["mistral", "mistral_ai"],
  ["xai", "x_ai"],
  ["amazon-bedrock", "aws.bedrock"],
  ["azure", "azure.ai.openai"],
];

/** The model that was asked, and its provider: that of its id (`openai/gpt-5`, `openai.responses/gpt-5` for one of the AI SDK). Left out where the id names none that is known. */
export function modelAsked(id: string): Attributes {
  const [, begun = "", model = ""] = /^([^/]+)\/(.+)$/s.exec(id) ?? [];
  const provider = providerOf(begun);
  if (provider === undefined) return { "gen_ai.request.model": id };
  return { "gen_ai.provider.name": provider, "gen_ai.request.model": model };
}

function providerOf(begun: string): string | undefined {
  const known = (name: string): boolean => begun === name || begun.startsWith(`${name}.`);
  return conventional.find(([name]) => known(name))?.[1] ?? providerNames.find(known);
}
