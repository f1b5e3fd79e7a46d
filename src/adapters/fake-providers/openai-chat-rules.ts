import type { JsonObject } from "../../util/json.ts";
import type { FakeRequest } from "./fake-provider.ts";
import { type Fields, firstOf, modelOf, objectOf, objectsOf, type Path, textOf } from "./fields.ts";
import {
  checkFields,
  checkLength,
  checkNotEmpty,
  checkToolName,
  checkToolOptions,
  checkTools,
  invalid,
  openaiPath,
} from "./openai-errors.ts";
import type { ProviderError } from "./wire.ts";

/** Refuses what `/v1/chat/completions` of OpenAI refuses. `reasoning_content`, which compatible servers give, is taken back. */
export function refuseChat(request: FakeRequest): ProviderError | undefined {
  const { body } = request;
  if (modelOf(request) === "") return invalid("you must provide a model parameter");
  const names = objectsOf(body["tools"]).map((tool) => textOf(objectOf(tool["function"])["name"]));
  return (
    checkFields(body, [], requestFields) ??
    checkNotEmpty(body, [], "messages") ??
    checkTools(body, ["function"], checkTool) ??
    checkToolOptions(body, names) ??
    checkOptions(body, modelOf(request)) ??
    firstOf(objectsOf(body["messages"]), checkMessage) ??
    checkOrder(objectsOf(body["messages"]))
  );
}

const requestFields: Fields = {
  model: "string!",
  messages: "array!",
  audio: "object",
  frequency_penalty: "number",
  function_call: "string|object",
  functions: "array",
  logit_bias: "object",
  logprobs: "boolean",
  max_completion_tokens: "integer",
  max_tokens: "integer",
  metadata: "object",
  modalities: "array",
  moderation: "object",
  n: "integer",
  parallel_tool_calls: "boolean",
  prediction: "object",
  presence_penalty: "number",
  prompt_cache_key: "string",
  prompt_cache_options: "object",
  prompt_cache_retention: "string",
  reasoning_effort: "string",
  response_format: "object",
  safety_identifier: "string",
  seed: "integer",
  service_tier: "string",
  stop: "string|array",
  store: "boolean",
  stream: "boolean",
  stream_options: "object",
  temperature: "number",
  tool_choice: "string|object",
  tools: "array",
  top_logprobs: "integer",
  top_p: "number",
  user: "string",
  verbosity: "string",
  web_search_options: "object",
};

function checkTool(tool: JsonObject, at: Path): ProviderError | undefined {
  if (tool["type"] === "custom") return undefined;
  return (
    checkFields(tool, at, { type: "string!", function: "object!" }) ??
    checkFields(objectOf(tool["function"]), [...at, "function"], {
      name: "string!",
      description: "string",
      parameters: "object",
      strict: "boolean",
    })
  );
}

function checkOptions(body: JsonObject, model: string): ProviderError | undefined {
  if (body["stream_options"] !== undefined && body["stream_options"] !== null && body["stream"] !== true)
    return invalid(
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      "stream_options",
    );
  if (typeof body["max_tokens"] === "number" && /^(?:o\d|gpt-5)/.test(model))
    return invalid(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      "max_tokens",
      "unsupported_parameter",
    );
  return undefined;
}

/** The fields of a message by its role. */
const messageFields: ReadonlyMap<string, Fields> = new Map<string, Fields>([
  ["system", { role: "string!", content: "string|array!", name: "string" }],
  ["developer", { role: "string!", content: "string|array!", name: "string" }],
  ["user", { role: "string!", content: "string|array!", name: "string" }],
  [
    "assistant",
    {
      role: "string!",
      content: "string|array",
      name: "string",
      refusal: "string",
      audio: "object",
      function_call: "object",
      tool_calls: "array",
      reasoning_content: "string",
    },
  ],
  ["tool", { role: "string!", content: "string|array!", tool_call_id: "string!" }],
  ["function", { role: "string!", content: "string|null!", name: "string!" }],
]);

function checkMessage(message: JsonObject, index: number): ProviderError | undefined {
  const at: Path = ["messages", index];
  const role = message["role"];
  const fields = messageFields.get(textOf(role));
  if (role === undefined) return checkFields({}, at, { role: "string!" });
  if (fields === undefined) {
    const message = `Invalid value: '${textOf(role)}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`;
    return invalid(message, openaiPath([...at, "role"]), "invalid_value");
  }
  const saysNothing =
    (message["content"] ?? null) === null && !message["tool_calls"] && !message["function_call"];
  if (role === "assistant" && saysNothing && !message["refusal"] && !message["audio"])
    return invalid(
      "Invalid value for 'content': expected a string, got null.",
      `messages.[${index}].content`,
    );
  return (
    checkFields(message, at, fields) ??
    checkContent(message, at) ??
    checkNotEmpty(message, at, "tool_calls") ??
    firstOf(objectsOf(message["tool_calls"]), (call, place) => checkCall(call, [...at, "tool_calls", place]))
  );
}

function checkContent(message: JsonObject, at: Path): ProviderError | undefined {
  return (
    checkNotEmpty(message, at, "content") ??
    firstOf(objectsOf(message["content"]), (part, place) => {
      const missing = { type: "string!", ...(part["type"] === "text" ? { text: "string!" } : {}) };
      const present = Object.fromEntries(Object.entries(part).filter(([name]) => name in missing));
      return checkFields(present, [...at, "content", place], missing);
    })
  );
}

function checkCall(call: JsonObject, at: Path): ProviderError | undefined {
  if (call["type"] === "custom") return undefined;
  const called = objectOf(call["function"]);
  return (
    checkFields(call, at, { id: "string!", type: "string!", function: "object!" }) ??
    checkLength(textOf(call["id"]), [...at, "id"], 40) ??
    checkFields(called, [...at, "function"], { name: "string!", arguments: "string!" }) ??
    checkToolName(textOf(called["name"]), [...at, "function", "name"])
  );
}

/** Each call has one result, at once, and each result has its call. */
function checkOrder(messages: readonly JsonObject[]): ProviderError | undefined {
  let calls: readonly string[] | undefined;
  let waiting: readonly string[] = [];
  for (const [index, message] of messages.entries()) {
    const id = textOf(message["tool_call_id"]);
    if (message["role"] !== "tool") {
      if (waiting.length > 0) return unanswered(waiting, index);
      calls =
        message["tool_calls"] === undefined
          ? undefined
          : objectsOf(message["tool_calls"]).map((call) => textOf(call["id"]));
      waiting = calls ?? [];
    } else if (calls === undefined) {
      const rule = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'";
      return invalid(`Invalid parameter: ${rule}.`, `messages.[${index}].role`);
    } else if (!calls.includes(id)) {
      const rule = `'tool_call_id' of '${id}' not found in 'tool_calls' of previous message`;
      return invalid(`Invalid parameter: ${rule}.`, `messages.[${index}].tool_call_id`);
    } else if (!waiting.includes(id)) {
      const rule = `Duplicate value for 'tool_call_id' of '${id}' in message[${index}]`;
      return invalid(`Invalid parameter: ${rule}.`, `messages.[${index}].tool_call_id`);
    } else waiting = waiting.filter((one) => one !== id);
  }
  return waiting.length > 0 ? unanswered(waiting, messages.length - 1) : undefined;
}

function unanswered(ids: readonly string[], index: number): ProviderError {
  const rule =
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
  const which = `The following tool_call_ids did not have response messages: ${ids.join(", ")}`;
  return invalid(`${rule} ${which}`, `messages.[${index}].role`);
}
