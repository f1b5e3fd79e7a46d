/** The provider prefixes of model names, for hosted providers and those on this machine. This list is used everywhere. */
export const providerNames = [
  "ollama",
  "llama-cpp",
  "openai-compatible",
  "openai",
  "anthropic",
  "google",
  "mistral",
  "groq",
  "openrouter",
  "deepseek",
  "xai",
  "cerebras",
  "together",
  "fireworks",
  "moonshot",
  "deepinfra",
  "cohere",
  "huggingface",
  "alibaba",
  "perplexity",
] as const;

/** The name of a provider. */
export type ProviderName = (typeof providerNames)[number];

/** The name of a model: `openai/gpt-5`, `ollama/qwen2.5:7b`. `modelNamed` of `writ/models` makes a model from a text that comes from outside. */
export type ModelName = `${ProviderName}${"/" | ":"}${string}`;
