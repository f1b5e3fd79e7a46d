import type { JsonObject } from "../../util/json.ts";
import type { FakeRequest } from "./fake-provider.ts";
import type { ChatHost } from "./chat-host.ts";
import { isThinking } from "./chat-hosts.ts";
import {
  fieldFault,
  type Fields,
  firstOf,
  modelOf,
  objectOf,
  objectsOf,
  type Path,
  textOf,
} from "./fields.ts";
import {
  checkFields,
  checkLength,
  checkNotEmpty,
  checkToolName,
  checkToolOptions,
  checkTools,
  fieldError,
  openaiPath,
} from "./openai-errors.ts";
import { checkChatFormat } from "./openai-format-rules.ts";
import { invalid, isSigned, type ProviderError } from "./wire.ts";

/** Refuses the requests that chat completions of a host refuse. */
export function refuseChat(request: FakeRequest, host: ChatHost): ProviderError | undefined {
  const { body } = request;
  if (modelOf(request) === "") return invalid("you must provide a model parameter");
  const names = objectsOf(body["tools"]).map((tool) => textOf(objectOf(tool["function"])["name"]));
  const messages = objectsOf(body["messages"]);
  return (
    checkHostFields(body, [], { host, role: "", fields: fieldsOf(host) }) ??
    checkNotEmpty(body, [], "messages") ??
    checkTools(body, ["function"], checkTool) ??
    checkToolOptions(body, names) ??
    checkOptions(body, modelOf(request)) ??
    checkChatFormat(body["response_format"]) ??
    firstOf(messages, (message, index) => checkMessage(message, index, host)) ??
    checkOrder(messages) ??
    checkGivenBack(body, host) ??
    host.check?.(body, messages)
  );
}

/** The fields of an object, with their host and the role of their message. */
interface HostFields {
  readonly host: ChatHost;
  readonly role: string;
  readonly fields: Fields;
}

function checkHostFields(
  object: JsonObject,
  at: Path,
  { host, role, fields }: HostFields,
): ProviderError | undefined {
  const fault = fieldFault(object, at, fields);
  if (fault === undefined) return undefined;
  return fault.fault === "unknown" && host.unknown !== undefined
    ? host.unknown(fault.at, role)
    : fieldError(fault);
}

/** The fields of a request to a host. */
function fieldsOf({ takes, refuses = [] }: ChatHost): Fields {
  const left = Object.entries(requestFields).filter(([name]) => !refuses.includes(name));
  return { ...Object.fromEntries(left), ...takes };
}

/** Checks that the reasoning of calls, and their signatures, were sent back, if the host requires it. */
function checkGivenBack(body: JsonObject, host: ChatHost): ProviderError | undefined {
  const messages = objectsOf(body["messages"]);
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const isSigning = host.signs?.test(textOf(body["model"])) === true;
  return firstOf(messages, ({ tool_calls: calls, reasoning_content: reasoning }, index) => {
    const [first] = objectsOf(calls);
    if (first === undefined) return undefined;
    if (isThinking(host, body) && typeof reasoning !== "string")
      return invalid(host.thinks?.missed(index) ?? "");
    const google = objectOf(objectOf(first["extra_content"])["google"]);
    return isSigning && index > asked && !isSigned(textOf(google["thought_signature"]))
      ? invalid("Function call is missing a thought_signature in functionCall parts.")
      : undefined;
  });
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
    },
  ],
  ["tool", { role: "string!", content: "string|array!", tool_call_id: "string!" }],
  ["function", { role: "string!", content: "string|null!", name: "string!" }],
]);

/** The fields in which reasoning is sent back: Mistral has it among the parts of the content. */
const backFields: Readonly<Record<NonNullable<ChatHost["reasoning"]>, Fields>> = {
  reasoning_content: { reasoning_content: "string" },
  reasoning: { reasoning: "string" },
  reasoning_details: { reasoning: "string", reasoning_details: "array" },
  thinking: {},
};

function checkMessage(message: JsonObject, index: number, host: ChatHost): ProviderError | undefined {
  const at: Path = ["messages", index];
  const role = message["role"];
  const back = role === "assistant" ? backFields[host.reasoning ?? "reasoning_content"] : {};
  const known = messageFields.get(textOf(role));
  const fields = known && { ...known, ...back, ...host.messages?.get(textOf(role)) };
  if (role === undefined) return checkFields({}, at, { role: "string!" });
  if (fields === undefined) {
    const message = `Invalid value: '${textOf(role)}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`;
    return invalid(message, openaiPath([...at, "role"]), "invalid_value");
  }
  if (role === "assistant" && saysNothing(message))
    return invalid(
      "Invalid value for 'content': expected a string, got null.",
      `messages.[${index}].content`,
    );
  return (
    checkHostFields(message, at, { host, role: textOf(role), fields }) ??
    checkContent(message, at, host) ??
    checkNotEmpty(message, at, "tool_calls") ??
    firstOf(objectsOf(message["tool_calls"]), (call, place) =>
      checkCall(call, [...at, "tool_calls", place], host),
    )
  );
}

function saysNothing({ content = null, ...message }: JsonObject): boolean {
  const others = ["tool_calls", "function_call", "refusal", "audio"];
  return content === null && others.every((name) => !message[name]);
}

function checkContent(message: JsonObject, at: Path, { parts }: ChatHost): ProviderError | undefined {
  return (
    checkNotEmpty(message, at, "content") ??
    firstOf(objectsOf(message["content"]), (part, place) => {
      const type = textOf(part["type"]);
      if (parts?.includes(type) === false)
        return invalid(
          `Failed to deserialize the JSON body into the target type: ${openaiPath(at)}: unknown variant \`${type}\`, expected \`${parts.join("`, `")}\` at line 1 column 1`,
        );
      const missing = { type: "string!", ...(part["type"] === "text" ? { text: "string!" } : {}) };
      const present = Object.fromEntries(Object.entries(part).filter(([name]) => name in missing));
      return checkFields(present, [...at, "content", place], missing);
    })
  );
}

function checkCall(call: JsonObject, at: Path, host: ChatHost): ProviderError | undefined {
  if (call["type"] === "custom") return undefined;
  const called = objectOf(call["function"]);
  return (
    checkHostFields(call, at, {
      host,
      role: "assistant",
      fields: {
        id: "string!",
        type: "string!",
        function: "object!",
        ...(host.signs && { extra_content: "object" }),
      },
    }) ??
    checkLength(textOf(call["id"]), [...at, "id"], 40) ??
    checkFields(called, [...at, "function"], { name: "string!", arguments: "string!" }) ??
    checkToolName(textOf(called["name"]), [...at, "function", "name"])
  );
}

/** Checks that each call directly has one result, and that each result has its call. */
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
