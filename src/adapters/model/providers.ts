import type { ProviderName } from "../../model/provider-names.ts";

/** A hosted provider: the way its AI SDK package makes a model, and its address without the package. */
export interface HostedProvider {
  /** The AI SDK package. */
  readonly package: string;
  /** The export of the package that makes the provider. */
  readonly factory: string;
  /** The environment variables that may have the key. The first one that is set counts. */
  readonly keys: readonly [string, ...string[]];
  /** The address for OpenAI's chat completions. Left out: there is none, and the package is needed. */
  readonly baseUrl?: string;
  /** The environment variable that names another address, if the package reads one. */
  readonly baseUrlFrom?: string;
  /** Its name in the price table. Left out: the table has no prices of it. */
  readonly prices?: string;
}

/** The name of a hosted provider. */
export type HostedName = Exclude<ProviderName, "ollama" | "llama-cpp" | "openai-compatible">;

/**
 * Everything that writ knows of hosted providers. Factories, keys and addresses are those of their packages, read in November 2026 (a test checks
 * where the installed ones send requests). For packages that use another interface, the providers' own pages name the address of OpenAI's chat completions:
 * platform.claude.com/docs/en/api/openai-sdk, ai.google.dev/gemini-api/docs/openai, docs.cohere.com/docs/compatibility-api,
 * api-docs.deepseek.com (`/v1` is the same as no path), huggingface.co/docs/inference-providers. Perplexity has ended its chat completions.
 */
export const hostedProviders: Readonly<Record<HostedName, HostedProvider>> = {
  openai: {
    package: "@ai-sdk/openai",
    factory: "createOpenAI",
    keys: ["OPENAI_API_KEY"],
    baseUrl: "https://api.openai.com/v1",
    baseUrlFrom: "OPENAI_BASE_URL",
    prices: "openai",
  },
  anthropic: {
    package: "@ai-sdk/anthropic",
    factory: "createAnthropic",
    keys: ["ANTHROPIC_API_KEY"],
    baseUrl: "https://api.anthropic.com/v1",
    baseUrlFrom: "ANTHROPIC_BASE_URL",
    prices: "anthropic",
  },
  google: {
    package: "@ai-sdk/google",
    factory: "createGoogleGenerativeAI",
    keys: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"],
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
    prices: "google",
  },
  mistral: {
    package: "@ai-sdk/mistral",
    factory: "createMistral",
    keys: ["MISTRAL_API_KEY"],
    baseUrl: "https://api.mistral.ai/v1",
    prices: "mistral",
  },
  groq: {
    package: "@ai-sdk/groq",
    factory: "createGroq",
    keys: ["GROQ_API_KEY"],
    baseUrl: "https://api.groq.com/openai/v1",
    prices: "groq",
  },
  openrouter: {
    package: "@openrouter/ai-sdk-provider",
    factory: "createOpenRouter",
    keys: ["OPENROUTER_API_KEY"],
    baseUrl: "https://openrouter.ai/api/v1",
    prices: "openrouter",
  },
  deepseek: {
    package: "@ai-sdk/deepseek",
    factory: "createDeepSeek",
    keys: ["DEEPSEEK_API_KEY"],
    baseUrl: "https://api.deepseek.com/v1",
    prices: "deepseek",
  },
  xai: {
    package: "@ai-sdk/xai",
    factory: "createXai",
    keys: ["XAI_API_KEY"],
    baseUrl: "https://api.x.ai/v1",
    prices: "x-ai",
  },
  cerebras: {
    package: "@ai-sdk/cerebras",
    factory: "createCerebras",
    keys: ["CEREBRAS_API_KEY"],
    baseUrl: "https://api.cerebras.ai/v1",
    prices: "cerebras",
  },
  together: {
    package: "@ai-sdk/togetherai",
    factory: "createTogetherAI",
    keys: ["TOGETHER_API_KEY", "TOGETHER_AI_API_KEY"],
    baseUrl: "https://api.together.xyz/v1",
    prices: "together",
  },
  fireworks: {
    package: "@ai-sdk/fireworks",
    factory: "createFireworks",
    keys: ["FIREWORKS_API_KEY"],
    baseUrl: "https://api.fireworks.ai/inference/v1",
    prices: "fireworks",
  },
  moonshot: {
    package: "@ai-sdk/moonshotai",
    factory: "createMoonshotAI",
    keys: ["MOONSHOT_API_KEY"],
    baseUrl: "https://api.moonshot.ai/v1",
    prices: "moonshotai",
  },
  deepinfra: {
    package: "@ai-sdk/deepinfra",
    factory: "createDeepInfra",
    keys: ["DEEPINFRA_API_KEY"],
    baseUrl: "https://api.deepinfra.com/v1/openai",
  },
  cohere: {
    package: "@ai-sdk/cohere",
    factory: "createCohere",
    keys: ["COHERE_API_KEY"],
    baseUrl: "https://api.cohere.ai/compatibility/v1",
    prices: "cohere",
  },
  huggingface: {
    package: "@ai-sdk/huggingface",
    factory: "createHuggingFace",
    keys: ["HUGGINGFACE_API_KEY", "HF_TOKEN"],
    baseUrl: "https://router.huggingface.co/v1",
  },
  alibaba: {
    package: "@ai-sdk/alibaba",
    factory: "createAlibaba",
    keys: ["ALIBABA_API_KEY", "DASHSCOPE_API_KEY"],
    baseUrl: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
  },
  perplexity: {
    package: "@ai-sdk/perplexity",
    factory: "createPerplexity",
    keys: ["PERPLEXITY_API_KEY"],
    prices: "perplexity",
  },
};

/** True for the name of a hosted provider. */
export function isHosted(name: string): name is HostedName {
  return Object.hasOwn(hostedProviders, name);
}

/** The hosted provider of an AI SDK model, by the first word of its `provider`: `openai.responses`, `togetherai.chat`. Vertex AI has other keys. */
export function hostedAs(provider: string): HostedProvider | undefined {
  if (provider.startsWith("google.vertex.")) return undefined;
  const word = provider.replace(/\..*$/s, "");
  if (isHosted(word)) return hostedProviders[word];
  return Object.values(hostedProviders).find((about) => about.package === `@ai-sdk/${word}`);
}

/** The hosted provider that takes requests at an address. */
export function hostedAt(url: string): HostedName | undefined {
  const names = Object.keys(hostedProviders).filter(isHosted);
  return names.find((name) => addressOf(hostedProviders[name]) === url);
}

/** The variable that has a provider's key, with the key; undefined if none is set. */
export function keyOf({ keys }: HostedProvider): { readonly from: string; readonly key: string } | undefined {
  for (const from of keys) {
    const key = process.env[from]?.trim() ?? "";
    if (key !== "") return { from, key };
  }
  return undefined;
}

/** The address that takes a provider's requests: that of its variable, otherwise its own. */
export function addressOf({ baseUrl, baseUrlFrom }: HostedProvider): string | undefined {
  const given = baseUrlFrom === undefined ? "" : (process.env[baseUrlFrom]?.trim() ?? "");
  return given === "" ? baseUrl : given;
}

/** The same address for people: without its query and credentials, where proxies have keys. */
export function shownAddressOf(about: HostedProvider): string {
  const address = addressOf(about) ?? "";
  const url = URL.parse(address);
  return url === null ? address : `${url.origin}${url.pathname}`;
}
