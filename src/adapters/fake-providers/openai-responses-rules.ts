import type { JsonObject } from "../../util/json.ts";
import type { FakeRequest } from "./fake-provider.ts";
import { type Fields, firstOf, listOf, modelOf, objectOf, objectsOf, type Path, textOf } from "./fields.ts";
import {
  checkFields,
  checkLength,
  checkToolName,
  checkToolOptions,
  checkTools,
  openaiPath,
} from "./openai-errors.ts";
import { checkResponseFormat } from "./openai-format-rules.ts";
import { invalid, type ProviderError } from "./wire.ts";

/** The data of earlier responses that OpenAI keeps. */
export interface ResponseStore {
  /** The stored items, by id. */
  readonly items: Map<string, JsonObject>;
  /**
   * The input and output of each response, by its id. A request that continues from that response has them
   * before its own input.
   */
  readonly histories: Map<string, readonly JsonObject[]>;
  /** The reasoning that an item needs before it, by the item's id. */
  readonly reasoning: Map<string, string>;
}

/** Refuses the requests that `/v1/responses` of OpenAI refuses. */
export function refuseResponse(request: FakeRequest, store: ResponseStore): ProviderError | undefined {
  const { body } = request;
  const names = objectsOf(body["tools"]).map((tool) => textOf(tool["name"]));
  return (
    checkMoved(body) ??
    checkFields(body, [], requestFields) ??
    (modelOf(request) === ""
      ? invalid("Missing required parameter: 'model'.", "model", "missing_required_parameter")
      : undefined) ??
    checkTools(body, [], checkTool) ??
    checkToolOptions(body, names) ??
    checkResponseFormat(objectOf(body["text"])["format"]) ??
    checkBeginning(body, store) ??
    firstOf(typeof body["input"] === "string" ? [] : objectsOf(body["input"]), (item, index) =>
      checkItem(item, ["input", index]),
    ) ??
    checkStored(body, store) ??
    checkPairs(wholeInput(body, store), store)
  );
}

const requestFields: Fields = {
  model: "string",
  input: "string|array",
  access_programs: "array",
  background: "boolean",
  context_management: "array",
  conversation: "string|object",
  image: "object",
  include: "array",
  instructions: "string",
  max_output_tokens: "integer",
  max_tool_calls: "integer",
  metadata: "object",
  moderation: "object",
  parallel_tool_calls: "boolean",
  previous_response_id: "string",
  prompt: "object",
  prompt_cache_key: "string",
  prompt_cache_options: "object",
  prompt_cache_retention: "string",
  reasoning: "object",
  safety_identifier: "string",
  service_tier: "string",
  store: "boolean",
  stream: "boolean",
  stream_options: "object",
  temperature: "number",
  text: "object",
  tool_choice: "string|object",
  tools: "array",
  top_logprobs: "integer",
  top_p: "number",
  truncation: "string",
  user: "string",
};

/** Parameters of chat completions that have another name here. */
const moved: Readonly<Record<string, string>> = {
  messages: "input",
  response_format: "text.format",
  reasoning_effort: "reasoning.effort",
  max_tokens: "max_output_tokens",
  max_completion_tokens: "max_output_tokens",
};

function checkMoved(body: JsonObject): ProviderError | undefined {
  const name = Object.keys(moved).find((name) => body[name] !== undefined);
  if (name === undefined) return undefined;
  const message = `Unsupported parameter: '${name}'. In the Responses API, this parameter has moved to '${moved[name]}'. Try again with the new parameter.`;
  return invalid(message, name, "unsupported_parameter");
}

function checkTool(tool: JsonObject, at: Path): ProviderError | undefined {
  if (tool["type"] !== "function")
    return checkFields({ type: tool["type"] ?? null }, at, { type: "string!" });
  return checkFields(tool, at, {
    type: "string!",
    name: "string!",
    parameters: "object",
    strict: "boolean",
    description: "string",
    allowed_callers: "array",
    async: "boolean",
    defer_loading: "boolean",
    output_schema: "object",
  });
}

function checkBeginning(body: JsonObject, store: ResponseStore): ProviderError | undefined {
  const previous = body["previous_response_id"];
  if (typeof previous === "string" && !store.histories.has(previous))
    return invalid(
      `Previous response with id '${previous}' not found.`,
      "previous_response_id",
      "previous_response_not_found",
    );
  if ([body["input"], previous, body["prompt"], body["conversation"]].some((one) => (one ?? null) !== null))
    return undefined;
  const message = "One of 'input' or 'previous_response_id' or 'prompt' or 'conversation' must be provided.";
  return invalid(message, "input", "missing_required_parameter");
}

/** The fields of the items for tools and messages. Items of other types are accepted unchecked. */
const itemFields: ReadonlyMap<string, Fields> = new Map<string, Fields>([
  [
    "message",
    {
      type: "string",
      role: "string!",
      content: "string|array!",
      id: "string",
      status: "string",
      phase: "string",
    },
  ],
  [
    "function_call",
    {
      type: "string!",
      call_id: "string!",
      name: "string!",
      arguments: "string!",
      id: "string",
      status: "string",
      async: "boolean",
      caller: "object",
      namespace: "string",
    },
  ],
  [
    "function_call_output",
    {
      type: "string!",
      call_id: "string!",
      output: "string|array!",
      id: "string",
      status: "string",
      name: "string",
      caller: "object",
      namespace: "string",
    },
  ],
  [
    "reasoning",
    {
      type: "string!",
      id: "string!",
      summary: "array!",
      content: "array",
      encrypted_content: "string",
      status: "string",
    },
  ],
  ["item_reference", { type: "string", id: "string!" }],
]);
const roles = new Set(["assistant", "system", "developer", "user"]);

function checkItem(item: JsonObject, at: Path): ProviderError | undefined {
  const fields = itemFields.get(typeOf(item));
  if (fields === undefined) return undefined;
  const found = checkFields(item, at, fields);
  if (found !== undefined) return found;
  if (typeOf(item) === "message" && !roles.has(textOf(item["role"]))) {
    const message = `Invalid value: '${textOf(item["role"])}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`;
    return invalid(message, openaiPath([...at, "role"]), "invalid_value");
  }
  if (typeOf(item) !== "function_call") return undefined;
  const id = item["id"];
  if (typeof id === "string" && !id.startsWith("fc")) {
    const path = openaiPath([...at, "id"]);
    return invalid(
      `Invalid '${path}': '${id}'. Expected an ID that begins with 'fc'.`,
      path,
      "invalid_value",
    );
  }
  return (
    checkLength(textOf(item["call_id"]), [...at, "call_id"], 64) ??
    checkToolName(textOf(item["name"]), [...at, "name"])
  );
}

function typeOf(item: JsonObject): string {
  if (item["type"] !== undefined && item["type"] !== null) return textOf(item["type"]);
  return item["role"] === undefined && item["id"] !== undefined ? "item_reference" : "message";
}

/** Refuses references to items that are not stored. */
function checkStored(body: JsonObject, { items }: ResponseStore): ProviderError | undefined {
  return firstOf(objectsOf(listOf(body["input"])), (item) => {
    const id = textOf(item["id"]);
    const isLost =
      typeOf(item) === "item_reference" ||
      (typeOf(item) === "reasoning" && body["store"] === false && textOf(item["encrypted_content"]) === "");
    if (!isLost || items.has(id)) return undefined;
    const why =
      "Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.";
    return { ...invalid(`Item with id '${id}' not found. ${why}`, "input"), status: 404 };
  });
}

/** The whole input of the model: the history of the previous response, with references resolved. */
export function wholeInput(body: JsonObject, { items, histories }: ResponseStore): readonly JsonObject[] {
  const { input } = body;
  const given = typeof input === "string" ? [{ role: "user", content: input }] : objectsOf(input);
  const before = histories.get(textOf(body["previous_response_id"])) ?? [];
  return [...before, ...given].map((item) => {
    return typeOf(item) === "item_reference" ? objectOf(items.get(textOf(item["id"]))) : item;
  });
}

/** Checks that each call has its output, each output its call, and that reasoning precedes the items that came of it. */
function checkPairs(input: readonly JsonObject[], { reasoning }: ResponseStore): ProviderError | undefined {
  const idsOf = (type: string, name: string): readonly string[] =>
    input.filter((item) => typeOf(item) === type).map((item) => textOf(item[name]));
  const calls = idsOf("function_call", "call_id");
  const outputs = idsOf("function_call_output", "call_id");
  const reasons = idsOf("reasoning", "id");
  const known = new Set(reasoning.values());
  return (
    firstOf(outputs, (id) =>
      calls.includes(id)
        ? undefined
        : invalid(`No tool call found for function call output with call_id ${id}.`, "input"),
    ) ??
    firstOf(calls, (id) =>
      outputs.includes(id) ? undefined : invalid(`No tool output found for function call ${id}.`, "input"),
    ) ??
    firstOf(input, (item, index) => {
      const id = textOf(item["id"]);
      const needed = reasoning.get(id);
      if (needed !== undefined && !reasons.includes(needed))
        return invalid(
          `Item '${id}' of type '${typeOf(item)}' was provided without its required 'reasoning' item: '${needed}'.`,
          "input",
        );
      const next = input[index + 1];
      const isFollowed =
        next !== undefined &&
        (typeOf(next) !== "message" || next["role"] === "assistant") &&
        typeOf(next) !== "function_call_output";
      return typeOf(item) !== "reasoning" || !known.has(id) || isFollowed
        ? undefined
        : invalid(
            `Item '${id}' of type 'reasoning' was provided without its required following item.`,
            "input",
          );
    })
  );
}
