import type { Json, JsonObject } from "../../util/json.ts";
import { refuseMessages } from "./anthropic-rules.ts";
import type { FakeRequest } from "./fake-provider.ts";
import { modelOf, objectOf, textOf } from "./fields.ts";
import {
  eventStream,
  halvesOf,
  numberedIds,
  piecesOf,
  type Provider,
  type ProviderError,
  signatureOf,
  wholeBody,
  type Wire,
  type WireReply,
} from "./wire.ts";

const messages: Wire = {
  path: /^\/v1\/messages$/,
  refuse: refuseMessages,
  reply(reply, request) {
    const message = messageOf(reply, request);
    if (request.body["stream"] !== true) return wholeBody(message);
    return eventStream(eventsOf(message, reply), { named: true });
  },
};

/** Anthropic: messages. */
export function anthropicProvider(): Provider {
  return { wires: [messages], callId: numberedIds("toolu_"), error: errorOf };
}

function errorOf({ status, message }: ProviderError): Json {
  const [type, usual] = usualErrors.get(status) ?? ["api_error", "Internal server error"];
  return { type: "error", error: { type, message: message ?? usual }, request_id: "req_fake" };
}

const usualErrors: ReadonlyMap<number, readonly [type: string, message: string]> = new Map([
  [400, ["invalid_request_error", "Invalid request"]],
  [401, ["authentication_error", "invalid x-api-key"]],
  [403, ["permission_error", "Your API key does not have permission to use the specified resource."]],
  [404, ["not_found_error", "Not found"]],
  [413, ["request_too_large", "Request exceeds the maximum size"]],
  [429, ["rate_limit_error", "This request would exceed your organization's rate limit."]],
  [500, ["api_error", "Internal server error"]],
  [529, ["overloaded_error", "Overloaded"]],
]);

const stopReasons: ReadonlyMap<string, string> = new Map([
  ["stop", "end_turn"],
  ["pause", "pause_turn"],
  ["length", "max_tokens"],
  ["tool-calls", "tool_use"],
  ["content-filter", "refusal"],
]);

interface Message extends JsonObject {
  readonly content: readonly JsonObject[];
  readonly usage: JsonObject;
}

function messageOf(reply: WireReply, request: FakeRequest): Message {
  return {
    id: `msg_${reply.number}`,
    type: "message",
    role: "assistant",
    model: modelOf(request),
    content: contentOf(reply, request),
    stop_reason: stopReasons.get(reply.finishReason) ?? "end_turn",
    stop_sequence: null,
    usage: {
      input_tokens: reply.inputTokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: reply.outputTokens,
      service_tier: "standard",
    },
  };
}

/** The content of a reply. With thinking `enabled` it begins with thinking, which is empty if the script has none. */
function contentOf(
  { number, reasoning, text, calls }: WireReply,
  { body }: FakeRequest,
): readonly JsonObject[] {
  const thinking = reasoning ?? (objectOf(body["thinking"])["type"] === "enabled" ? "" : undefined);
  const signature = signatureOf(number);
  return [
    ...(thinking === undefined ? [] : [{ type: "thinking", thinking, signature }]),
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...calls.map(({ id, name, value }) => ({ type: "tool_use", id, name, input: value })),
  ];
}

function eventsOf(message: Message, reply: WireReply): readonly JsonObject[] {
  const { content, stop_reason, usage } = message;
  const begun = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  return [
    { type: "message_start", message: begun },
    ...content.flatMap((block, index) => blockEvents(block, index, reply)),
    { type: "message_delta", delta: { stop_reason: stop_reason ?? null, stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
}

function blockEvents(block: JsonObject, index: number, { calls }: WireReply): readonly JsonObject[] {
  const { begun, deltas } = partsOf(block, calls);
  return [
    { type: "content_block_start", index, content_block: { ...block, ...begun } },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

/** The fields of a block at its beginning, and the deltas that fill them. */
function partsOf(
  block: JsonObject,
  calls: WireReply["calls"],
): { readonly begun: JsonObject; readonly deltas: readonly JsonObject[] } {
  if (block["type"] === "text")
    return {
      begun: { text: "" },
      deltas: piecesOf(textOf(block["text"])).map((text) => ({ type: "text_delta", text })),
    };
  if (block["type"] === "thinking") {
    const pieces = piecesOf(textOf(block["thinking"])).map((thinking) => ({
      type: "thinking_delta",
      thinking,
    }));
    const signature = { type: "signature_delta", signature: textOf(block["signature"]) };
    return { begun: { thinking: "", signature: "" }, deltas: [...pieces, signature] };
  }
  const text = calls.find(({ id }) => id === block["id"])?.text ?? "";
  return {
    begun: { input: {} },
    deltas: ["", ...halvesOf(text)].map((partial_json) => ({ type: "input_json_delta", partial_json })),
  };
}
