/** The providers that a model's name begins with, hosted ones and those of this machine. All other places take the names from here. */
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

/** The name of a model: `openai/gpt-5`, `ollama/qwen2.5:7b`. A text from outside becomes a model with `modelNamed` from `writ/models`. */
export type ModelName = `${ProviderName}${"/" | ":"}${string}`;
