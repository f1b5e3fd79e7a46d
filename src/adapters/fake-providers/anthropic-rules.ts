import type { Json, JsonObject } from "../../util/json.ts";
import type { FakeRequest } from "./fake-provider.ts";
import {
  fieldFault,
  type FieldFault,
  type Fields,
  firstOf,
  firstTwice,
  objectOf,
  objectsOf,
  type Path,
  textOf,
} from "./fields.ts";
import { blocksOf, checkPairs, checkThought, turnsOf } from "./anthropic-turns.ts";
import { invalid, isSigned, type ProviderError } from "./wire.ts";

/** Refuses the requests that `/v1/messages` of Anthropic refuses. */
export function refuseMessages({ headers, body }: FakeRequest): ProviderError | undefined {
  if (headers["anthropic-version"] === undefined) return invalid("anthropic-version: header is required");
  const messages = objectsOf(body["messages"]);
  return (
    checkFields(body, [], requestFields) ??
    checkLeast(body["max_tokens"], "max_tokens", 1) ??
    checkTools(body) ??
    checkThinking(body) ??
    checkMarks(body) ??
    (messages.length === 0 ? invalid("messages: at least one message is required") : undefined) ??
    firstOf(messages, (message, index) => checkMessage(message, index, index === messages.length - 1)) ??
    (messages[0]?.["role"] === "assistant"
      ? invalid('messages: first message must use the "user" role')
      : undefined) ??
    checkPairs(turnsOf(messages)) ??
    checkThought(body, turnsOf(messages))
  );
}

const requestFields: Fields = {
  model: "string!",
  max_tokens: "integer!",
  messages: "array!",
  cache_control: "object",
  container: "string|object",
  context_management: "object",
  diagnostics: "object",
  inference_geo: "string",
  mcp_servers: "array",
  metadata: "object",
  output_config: "object",
  output_format: "object",
  service_tier: "string",
  speed: "string",
  stop_sequences: "array",
  stream: "boolean",
  system: "string|array",
  temperature: "number",
  thinking: "object",
  tool_choice: "object",
  tools: "array",
  top_k: "integer",
  top_p: "number",
  user_profile_id: "string",
  workspace_id: "string",
};

const kindWords: ReadonlyMap<string, string> = new Map([
  ["array", "list"],
  ["object", "dictionary"],
]);

function checkFields(object: JsonObject, at: Path, fields: Fields): ProviderError | undefined {
  const fault = fieldFault(object, at, fields);
  return fault === undefined ? undefined : invalid(`${fault.at.join(".")}: ${faultText(fault)}`);
}

function faultText({ fault, wanted: [kind = ""] }: FieldFault): string {
  if (fault === "unknown") return "Extra inputs are not permitted";
  return fault === "missing" ? "Field required" : `Input should be a valid ${kindWords.get(kind) ?? kind}`;
}

function checkLeast(value: Json | undefined, name: string, least: number): ProviderError | undefined {
  const isLess = typeof value === "number" && value < least;
  return isLess ? invalid(`${name}: Input should be greater than or equal to ${least}`) : undefined;
}

function checkTools(body: JsonObject): ProviderError | undefined {
  const tools = objectsOf(body["tools"]);
  const names = tools.map((tool) => textOf(tool["name"]));
  const choice = objectOf(body["tool_choice"]);
  return (
    firstOf(tools, (tool, index) => checkTool(tool, ["tools", index, "custom"])) ??
    (firstTwice(names) === undefined ? undefined : invalid("tools: Tool names must be unique.")) ??
    (body["tool_choice"] && tools.length === 0
      ? invalid("tool_choice may only be specified while providing tools.")
      : undefined) ??
    (choice["type"] === "tool" && !names.includes(textOf(choice["name"]))
      ? invalid(`Tool '${textOf(choice["name"])}' not found in provided tools`)
      : undefined)
  );
}

function checkTool(tool: JsonObject, at: Path): ProviderError | undefined {
  // A tool of the provider's own: web search, code execution, …
  if (tool["type"] !== undefined && tool["type"] !== null && tool["type"] !== "custom") return undefined;
  const found = checkFields(tool, at, {
    type: "string",
    name: "string!",
    input_schema: "object!",
    description: "string",
    allowed_callers: "array",
    cache_control: "object",
    defer_loading: "boolean",
    eager_input_streaming: "boolean",
    input_examples: "array",
    strict: "boolean",
  });
  if (found !== undefined) return found;
  const pattern = "^[a-zA-Z0-9_-]{1,128}$";
  if (!new RegExp(pattern).test(textOf(tool["name"])))
    return invalid(`${at.join(".")}.name: String should match pattern '${pattern}'`);
  const { type } = objectOf(tool["input_schema"]);
  if (type === undefined) return invalid(`${at.join(".")}.input_schema.type: Field required`);
  return type === "object"
    ? undefined
    : invalid(`${at.join(".")}.input_schema.type: Input should be 'object'`);
}

const mostMarks = 4;

/** Checks the marks for the cache: at most four, and none on a tool that the model is told of later. */
function checkMarks(body: JsonObject): ProviderError | undefined {
  const deferred = objectsOf(body["tools"]).findIndex(
    ({ defer_loading, cache_control }) => defer_loading === true && cache_control !== undefined,
  );
  if (deferred !== -1)
    return invalid(`tools.${deferred}: cannot have both defer_loading=true and cache_control set.`);
  const { tools, system, messages } = body;
  const found = JSON.stringify([tools, system, messages]).split('"cache_control":{').length - 1;
  return found > mostMarks
    ? invalid(`A maximum of ${mostMarks} blocks with cache_control may be provided. Found ${found}.`)
    : undefined;
}

function checkThinking(body: JsonObject): ProviderError | undefined {
  const { type, budget_tokens: budget } = objectOf(body["thinking"]);
  if (type === undefined || type === "disabled") return undefined;
  if (type === "enabled") {
    if (budget === undefined) return invalid("thinking.enabled.budget_tokens: Field required");
    const found = checkLeast(budget, "thinking.enabled.budget_tokens", 1024);
    if (found !== undefined) return found;
    if (Number(body["max_tokens"]) <= Number(budget))
      return invalid("`max_tokens` must be greater than `thinking.budget_tokens`.");
  }
  if (["any", "tool"].includes(textOf(objectOf(body["tool_choice"])["type"])))
    return invalid("Thinking may not be enabled when tool_choice forces tool use.");
  const { temperature } = body;
  return typeof temperature === "number" && temperature !== 1
    ? invalid("`temperature` may only be set to 1 when thinking is enabled.")
    : undefined;
}

const roles = new Set(["user", "assistant", "system"]);

function checkMessage(message: JsonObject, index: number, isLast: boolean): ProviderError | undefined {
  const at: Path = ["messages", index];
  const { role, content } = message;
  const found = checkFields(message, at, { role: "string!", content: "string|array!" });
  if (found !== undefined) return found;
  if (!roles.has(textOf(role)))
    return invalid(`messages.${index}.role: Input should be 'user' or 'assistant'`);
  const isEmpty = content === "" || (Array.isArray(content) && content.length === 0);
  const isPrefill = isLast && role === "assistant";
  if (isEmpty && !isPrefill)
    return invalid(
      `messages.${index}: all messages must have non-empty content except for the optional final assistant message`,
    );
  const blocks = blocksOf(message);
  const end = textOf(blocks.at(-1)?.["text"]);
  if (isPrefill && end !== end.trimEnd())
    return invalid("messages: final assistant content cannot end with trailing whitespace");
  return firstOf(blocks, (block, place) => checkBlock(block, [...at, "content", place], textOf(role)));
}

/** The fields of the blocks for text, tools and thinking. Blocks of other types are accepted unchecked. */
const blockFields: ReadonlyMap<string, Fields> = new Map<string, Fields>([
  ["text", { type: "string!", text: "string!", cache_control: "object", citations: "array" }],
  [
    "tool_use",
    {
      type: "string!",
      id: "string!",
      name: "string!",
      input: "object!",
      cache_control: "object",
      caller: "object",
      toolset_name: "string",
    },
  ],
  [
    "tool_result",
    {
      type: "string!",
      tool_use_id: "string!",
      content: "string|array",
      is_error: "boolean",
      cache_control: "object",
      toolset_name: "string",
    },
  ],
  ["thinking", { type: "string!", thinking: "string!", signature: "string!" }],
  ["redacted_thinking", { type: "string!", data: "string!" }],
]);

function checkBlock(block: JsonObject, at: Path, role: string): ProviderError | undefined {
  const type = textOf(block["type"]);
  const fields = blockFields.get(type);
  if (type === "") return invalid(`${at.join(".")}.type: Field required`);
  const found = fields === undefined ? undefined : checkFields(block, [...at, type], fields);
  if (found !== undefined) return found;
  const home = homes.get(type) ?? role;
  if (home !== role)
    return invalid(`${at.slice(0, 2).join(".")}: \`${type}\` blocks can only be in \`${home}\` messages`);
  switch (type) {
    case "text":
      return checkText(textOf(block["text"]));
    case "tool_use":
      return checkId(block, [...at, type, "id"]);
    case "tool_result":
      return checkId(block, [...at, type, "tool_use_id"]);
    case "thinking":
      return isSigned(textOf(block["signature"]))
        ? undefined
        : invalid(`${at.join(".")}: Invalid \`signature\` in \`thinking\` block`);
    default:
      return undefined;
  }
}

/** The only roles that may have blocks of a type. */
const homes: ReadonlyMap<string, string> = new Map([
  ["tool_use", "assistant"],
  ["thinking", "assistant"],
  ["tool_result", "user"],
]);

function checkText(text: string): ProviderError | undefined {
  if (text === "") return invalid("messages: text content blocks must be non-empty");
  return text.trim() === ""
    ? invalid("messages: text content blocks must contain non-whitespace text")
    : undefined;
}

function checkId(block: JsonObject, at: Path): ProviderError | undefined {
  const isFine = /^[a-zA-Z0-9_-]+$/.test(textOf(block[String(at.at(-1))]));
  return isFine ? undefined : invalid(`${at.join(".")}: String should match pattern '^[a-zA-Z0-9_-]+$'`);
}
