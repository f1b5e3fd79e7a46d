import type { Json, JsonObject } from "../../util/json.ts";
import type { FakeRequest } from "./fake-provider.ts";
import {
  fieldFault,
  type FieldFault,
  type Fields,
  firstOf,
  kindOf,
  modelOf,
  objectOf,
  objectsOf,
  type Path,
  textOf,
} from "./fields.ts";
import {
  invalid,
  numberedIds,
  piecesOf,
  type Provider,
  type ProviderError,
  wholeBody,
  type Wire,
  type WireBody,
  type WireReply,
} from "./wire.ts";

const chat: Wire = {
  path: /^\/api\/chat$/,
  refuse: refuseChat,
  reply: (reply, request) =>
    request.body["stream"] === false ? wholeBody(whole(reply, request)) : streamed(reply, request),
};

/** Ollama: `/api/chat`. */
export function ollamaProvider(): Provider {
  return {
    wires: [chat],
    callId: numberedIds("call_"),
    error: ({ status, message }) => ({ error: message ?? usualErrors.get(status) ?? "internal error" }),
  };
}

const usualErrors: ReadonlyMap<number, string> = new Map([
  [401, "unauthorized"],
  [404, "model not found, try pulling it first"],
  [429, "too many requests"],
  [500, "llama runner process has terminated: exit status 2"],
  [503, "server busy, please try again.  maximum pending requests exceeded"],
]);

/**
 * Refuses the requests that Ollama refuses: those that do not fit its types. It ignores unknown fields, and does not check that results belong to
 * calls.
 */
function refuseChat(request: FakeRequest): ProviderError | undefined {
  const { body } = request;
  const think = body["think"] ?? false;
  return (
    checkKinds(body, "", requestFields) ??
    firstOf(objectsOf(body["messages"]), checkMessage) ??
    firstOf(objectsOf(body["tools"]), checkTool) ??
    (modelOf(request) === "" ? invalid("model is required") : undefined) ??
    (typeof think === "boolean" || ["high", "medium", "low", "max"].includes(textOf(think))
      ? undefined
      : invalid(
          `invalid think value: ${JSON.stringify(think)} (must be "high", "medium", "low", "max", true, or false)`,
        )) ??
    checkFormat(body["format"])
  );
}

const requestFields: Fields = {
  model: "string",
  messages: "array",
  tools: "array",
  stream: "boolean",
  options: "object",
  truncate: "boolean",
  shift: "boolean",
  logprobs: "boolean",
  top_logprobs: "integer",
};

/** Refuses known fields of another kind, as Go's JSON decoder does. */
function checkKinds(object: JsonObject, place: string, fields: Fields): ProviderError | undefined {
  const known = Object.fromEntries(Object.entries(object).filter(([name]) => Object.hasOwn(fields, name)));
  const fault = fieldFault(known, [], fields);
  return fault === undefined ? undefined : invalid(faultText(fault, place));
}

const goTypes: ReadonlyMap<string, string> = new Map([
  ["string", "string"],
  ["boolean", "bool"],
  ["integer", "int"],
  ["object", "map[string]interface {}"],
  ["array", "[]json.RawMessage"],
]);

function faultText({ at, wanted: [kind = ""], got }: FieldFault, place: string): string {
  const path: Path = place === "" ? at : [place, ...at];
  const words = got === "boolean" ? "bool" : got === "integer" ? "number" : got;
  return `json: cannot unmarshal ${words} into Go struct field ChatRequest.${path.join(".")} of type ${goTypes.get(kind) ?? kind}`;
}

function checkMessage(message: JsonObject): ProviderError | undefined {
  return (
    checkKinds(message, "messages", {
      role: "string",
      content: "string",
      thinking: "string",
      images: "array",
      tool_calls: "array",
      tool_name: "string",
      tool_call_id: "string",
    }) ??
    firstOf(objectsOf(message["tool_calls"]), (call) => {
      const called = objectOf(call["function"]);
      return checkKinds(called, "messages.tool_calls.function", {
        name: "string",
        arguments: "object",
        index: "integer",
      });
    })
  );
}

function checkTool(tool: JsonObject): ProviderError | undefined {
  return (
    checkKinds(tool, "tools", { type: "string", function: "object" }) ??
    checkKinds(objectOf(tool["function"]), "tools.function", {
      name: "string",
      description: "string",
      parameters: "object",
    })
  );
}

function checkFormat(format: Json | undefined): ProviderError | undefined {
  const isFine = format === "" || format === "json" || ["nothing", "null", "object"].includes(kindOf(format));
  return isFine
    ? undefined
    : invalid(`invalid format: ${JSON.stringify(format)}; expected "json" or a valid JSON Schema object`);
}

const created_at = "2026-11-21T08:04:26.714520748Z";

function ending({ finishReason, inputTokens, outputTokens }: WireReply): JsonObject {
  return {
    done: true,
    done_reason: finishReason === "length" ? "length" : "stop",
    total_duration: 400_510_650,
    load_duration: 24_478_458,
    prompt_eval_count: inputTokens,
    prompt_eval_duration: 33_994_270,
    eval_count: outputTokens,
    eval_duration: 330_837_422,
  };
}

function callsOf({ calls }: WireReply): readonly JsonObject[] {
  return calls.map(({ id, name, value }, index) => ({ id, function: { index, name, arguments: value } }));
}

function whole(reply: WireReply, request: FakeRequest): Json {
  const { text, reasoning, calls } = reply;
  const message = {
    role: "assistant",
    content: text,
    ...(reasoning === undefined ? {} : { thinking: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: callsOf(reply) }),
  };
  return { model: modelOf(request), created_at, message, ...ending(reply) };
}

function streamed(reply: WireReply, request: FakeRequest): WireBody {
  const model = modelOf(request);
  const line = (fields: JsonObject, end: JsonObject = { done: false }): string =>
    `${JSON.stringify({ model, created_at, message: { role: "assistant", content: "", ...fields }, ...end })}\n`;
  const chunks = [
    ...piecesOf(reply.reasoning ?? "").map((thinking) => line({ thinking })),
    ...piecesOf(reply.text).map((content) => line({ content })),
    ...callsOf(reply).map((call) => line({ tool_calls: [call] })),
    line({}, ending(reply)),
  ];
  return { contentType: "application/x-ndjson", chunks };
}
