import type { ErrorCode } from "../../../src/error/codes.ts";

/** A refusal as a provider writes it, and what an error makes of it. */
interface Refusal {
  readonly status: number;
  readonly body: unknown;
  readonly says?: string;
  readonly waits?: number;
  readonly retryable?: boolean;
}

/** An error body of the most usual form. */
export const message = (text: string, more: object = {}) => ({ error: { message: text, ...more } });
const quotaWords = "You exceeded your current quota, please check your plan and billing details.";

/** Bodies as each provider writes them. */
export const refusals: Readonly<Partial<Record<ErrorCode, Readonly<Record<string, Refusal>>>>> = {
  "context-exceeded": {
    "Z.ai": { status: 400, body: message("tokens in request more than max tokens allowed") },
    OpenAI: {
      status: 400,
      body: message(
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        {
          type: "invalid_request_error",
          param: "messages",
          code: "context_length_exceeded",
        },
      ),
    },
    "OpenAI, responses": {
      status: 400,
      body: message(
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
      ),
    },
    Anthropic: {
      status: 400,
      body: {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: "prompt is too long: 208310 tokens > 200000 maximum",
        },
      },
    },
    "Anthropic, with its output": {
      status: 400,
      body: message("input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"),
    },
    "Anthropic, by bytes": {
      status: 413,
      body: {
        type: "error",
        error: { type: "request_too_large", message: "Request exceeds the maximum size" },
      },
    },
    "a proxy before a provider, by bytes": { status: 413, body: {} },
    Gemini: {
      status: 400,
      body: message(
        "The input token count (1200015) exceeds the maximum number of tokens allowed (1048576).",
        {
          code: 400,
          status: "INVALID_ARGUMENT",
        },
      ),
    },
    Mistral: {
      status: 400,
      body: {
        object: "error",
        message:
          "Prompt contains 39912 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        type: "invalid_request_prompt",
        code: "3051",
      },
    },
    Groq: {
      status: 400,
      body: message("Please reduce the length of the messages or completion.", {
        code: "context_length_exceeded",
      }),
    },
    OpenRouter: {
      status: 400,
      body: message(
        "This endpoint's maximum context length is 32768 tokens. However, you requested about 40012 tokens.",
        {
          code: 400,
        },
      ),
    },
    "OpenRouter, upstream": {
      status: 400,
      body: message("Provider returned error", {
        code: 400,
        metadata: {
          raw: '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens"}}',
          provider_name: "Anthropic",
        },
      }),
      says: "Anthropic said: prompt is too long",
    },
    xAI: {
      status: 400,
      body: {
        code: "Client specified an invalid argument",
        error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
      },
    },
    "llama.cpp": {
      status: 400,
      body: message("the request exceeds the available context size, try increasing it", {
        code: 400,
        type: "exceed_context_size_error",
      }),
    },
    Ollama: { status: 400, body: { error: "the input length exceeds the context length" } },
    "Ollama, longer": {
      status: 400,
      body: { error: "prompt too long; exceeded max context length by 12 tokens" },
    },
    vLLM: {
      status: 400,
      body: {
        object: "error",
        message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
        type: "BadRequestError",
        code: 400,
      },
    },
    "vLLM, prompt": {
      status: 400,
      body: message("The decoder prompt (length 5012) is longer than the maximum model length of 4096."),
    },
    "LM Studio": {
      status: 400,
      body: {
        error:
          "Trying to keep the first 5012 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
      },
    },
    Bedrock: { status: 400, body: { message: "Input is too long for requested model." } },
  },
  "model-rate-limited": {
    OpenAI: {
      status: 429,
      body: message("Rate limit reached for gpt-4o on requests per min", {
        type: "requests",
        code: "rate_limit_exceeded",
      }),
      retryable: true,
    },
    "OpenAI, too large for a minute": {
      status: 429,
      body: message(
        "Request too large for gpt-4o on tokens per min (TPM): Limit 1, Requested 30. The input or output tokens must be reduced in order to run successfully.",
        {
          code: "rate_limit_exceeded",
        },
      ),
      retryable: false,
    },
    Anthropic: {
      status: 429,
      body: {
        type: "error",
        error: { type: "rate_limit_error", message: "Number of requests has exceeded your limit" },
      },
      retryable: true,
    },
    "Gemini, with its wait": {
      status: 429,
      body: message(quotaWords, {
        code: 429,
        status: "RESOURCE_EXHAUSTED",
        details: [
          { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [] },
          { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.4s" },
        ],
      }),
      retryable: true,
      waits: 34_400,
    },
    "Gemini's compatible door, in a list": {
      status: 429,
      body: [
        message("slow down", {
          code: 429,
          status: "RESOURCE_EXHAUSTED",
          details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "2s" }],
        }),
      ],
      says: ": slow down (HTTP 429)",
      waits: 2_000,
    },
    OpenRouter: {
      status: 429,
      body: message("Provider returned error", {
        code: 429,
        metadata: { raw: "qwen/qwen3 is temporarily rate-limited upstream.", provider_name: "Chutes" },
      }),
      says: "Provider returned error: Chutes said: qwen/qwen3 is temporarily rate-limited upstream.",
      retryable: true,
    },
  },
  "model-quota-exceeded": {
    OpenAI: {
      status: 429,
      body: message(quotaWords, { type: "insufficient_quota", code: "insufficient_quota" }),
      retryable: false,
    },
    Anthropic: {
      status: 400,
      body: message("Your credit balance is too low to access the Anthropic API."),
      retryable: false,
    },
    DeepSeek: { status: 402, body: message("Insufficient Balance"), retryable: false },
    OpenRouter: {
      status: 402,
      body: message("This request requires more credits, or fewer max_tokens.", { code: 402 }),
    },
    xAI: {
      status: 429,
      body: { code: "Some resource has been exhausted", error: "Your team has used all available credits." },
    },
    Moonshot: {
      status: 429,
      body: message("Your account is suspended", { type: "exceeded_current_quota_error" }),
    },
  },
  "provider-refused-key": {
    OpenAI: { status: 401, body: message("Incorrect API key provided: sk-no", { code: "invalid_api_key" }) },
    Anthropic: {
      status: 401,
      body: { type: "error", error: { type: "authentication_error", message: "invalid x-api-key" } },
    },
    xAI: {
      status: 400,
      body: { code: "Client specified an invalid argument", error: "Incorrect API key provided: xx***xx." },
    },
    Gemini: {
      status: 400,
      body: [
        message("API key not valid. Please pass a valid API key.", {
          code: 400,
          status: "INVALID_ARGUMENT",
          details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }],
        }),
      ],
    },
    "a proxy": { status: 403, body: message("Forbidden") },
  },
  "model-not-found": {
    OpenAI: {
      status: 404,
      body: message("The model `gpt-9` does not exist or you do not have access to it.", {
        code: "model_not_found",
      }),
    },
    Anthropic: {
      status: 404,
      body: { type: "error", error: { type: "not_found_error", message: "model: claude-none" } },
    },
    Gemini: {
      status: 404,
      body: message("models/none is not found for API version v1beta", { code: 404, status: "NOT_FOUND" }),
    },
    OpenRouter: { status: 400, body: message("none/none is not a valid model ID", { code: 400 }) },
  },
  "provider-failed": {
    "a region": {
      status: 403,
      body: message("Country, region, or territory not supported", {
        code: "unsupported_country_region_territory",
      }),
      retryable: false,
    },
    "a right": {
      status: 403,
      body: message("Your API key does not have permission to use the specified resource.", {
        type: "permission_error",
      }),
      retryable: false,
    },
    "a wrong address": {
      status: 404,
      body: message("Not Found"),
      says: "may be the address of something else",
    },
    "a wrong address of OpenAI": {
      status: 404,
      body: message("Invalid URL (POST /v1/models/chat/completions)", { type: "invalid_request_error" }),
      says: "may be the address of something else",
    },
    overload: {
      status: 529,
      body: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
      retryable: true,
    },
    "a field": {
      status: 422,
      body: { detail: [{ loc: ["body"], msg: "extra fields not permitted" }] },
      says: "extra fields",
    },
  },
};
