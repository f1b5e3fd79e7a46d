import { WritError } from "../../error/writ-error.ts";
import type { JsonSchema } from "../../schema/schema.ts";
import type { ModelFeatures, ReplyFormat } from "../../model/model.ts";
import { asObject, type Json, type JsonObject } from "../../util/json.ts";
import { withoutLookAround } from "./ollama-schema.ts";
import { strictSchema } from "./openai-strict-schema.ts";

/** The fields of an AI SDK model that show its features. */
interface FormattedModel {
  readonly provider: string;
  readonly modelId: string;
  readonly supportsStructuredOutputs?: unknown;
}

const isOpenai = ({ provider }: FormattedModel): boolean => /^openai\.|azure/.test(provider);
const isGoogle = ({ provider }: FormattedModel): boolean => provider.startsWith("google.");

/**
 * The features of the model for replies held to a schema. OpenAI-compatible models say themselves whether
 * their server can; they do not say whether the model may call tools beside it. With OpenAI and Anthropic it may
 * (Anthropic's package makes the answer a call of its own if the model has nothing better), and with Google's
 * models from Gemini 3 on.
 */
export function formatFeatures(model: FormattedModel): ModelFeatures {
  if (model.supportsStructuredOutputs === false) return {};
  const lets =
    isOpenai(model) ||
    model.provider.startsWith("anthropic.") ||
    (isGoogle(model) && /gemini-(?:[3-9]|\d\d)/.test(model.modelId));
  return { format: "schema", ...(lets ? { formatWithTools: true } : {}) };
}

/**
 * The options of a call that hold its reply to a schema. Most providers take only an object at the root, and refuse a request with anything
 * else: then nothing is sent, and the reply is checked afterwards as usual. OpenAI is strict if the schema allows it, and otherwise told not to be,
 * because it would refuse the request; `providerOptions` are those of the call.
 *
 * @throws WritError `option-invalid` for a grammar
 */
export function formatOptions(
  format: ReplyFormat | undefined,
  model: FormattedModel,
  providerOptions?: Json,
): JsonObject {
  if (format === undefined) return {};
  if (format.type === "grammar") {
    const advice = "AI SDK models can be held to a JSON Schema, not to a grammar.";
    throw new WritError("option-invalid", { option: "format", value: "grammar", advice });
  }
  const takesAnyRoot = model.supportsStructuredOutputs === true || isGoogle(model);
  const schema = withoutLookAround(format.schema);
  if (!takesAnyRoot && !isPlainObject(schema)) return {};
  const strict = isOpenai(model) ? strictSchema(schema) : undefined;
  const responseFormat = { type: "json", schema: strict ?? schema };
  return strict === undefined && isOpenai(model)
    ? { responseFormat, providerOptions: loosened(providerOptions) }
    : { responseFormat };
}

/** Turns strictness off, unless the author's own options set it. */
function loosened(given: Json | undefined): JsonObject {
  const options = asObject(given);
  const openai = asObject(options["openai"]);
  return { ...options, openai: { strictJsonSchema: false, ...openai } };
}

function isPlainObject(schema: JsonSchema): boolean {
  return (
    schema["type"] === "object" &&
    !["anyOf", "oneOf", "allOf", "$ref"].some((keyword) => Object.hasOwn(schema, keyword))
  );
}
