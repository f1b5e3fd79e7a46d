import type { Json, JsonObject } from "../../util/json.ts";
import type { FakeRequest } from "./fake-provider.ts";
import { modelOf, objectOf } from "./fields.ts";
import { refuseChat } from "./openai-chat-rules.ts";
import {
  eventStream,
  halvesOf,
  piecesOf,
  wholeBody,
  type Wire,
  type WireBody,
  type WireReply,
} from "./wire.ts";

/** Chat completions of OpenAI. */
export const openaiChat: Wire = {
  path: /^\/v1\/chat\/completions$/,
  refuse: refuseChat,
  reply: (reply, request) =>
    request.body["stream"] === true ? streamed(reply, request) : wholeBody(whole(reply, request)),
};

/** A fixed time: replies are the same in each run. */
const created = 1_763_800_000;

const finishReasons: ReadonlyMap<string, string> = new Map([
  ["stop", "stop"],
  ["length", "length"],
  ["tool-calls", "tool_calls"],
  ["content-filter", "content_filter"],
]);

function finishOf({ finishReason }: WireReply): string {
  return finishReasons.get(finishReason) ?? "stop";
}

function usageOf({ inputTokens, outputTokens }: WireReply): JsonObject {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  };
}

function whole(reply: WireReply, request: FakeRequest): Json {
  const calls = reply.calls.map(({ id, name, text }) => ({
    id,
    type: "function",
    function: { name, arguments: text },
  }));
  const message = {
    role: "assistant",
    content: reply.text === "" && calls.length > 0 ? null : reply.text,
    ...(reply.reasoning === undefined ? {} : { reasoning_content: reply.reasoning }),
    refusal: null,
    annotations: [],
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    id: `chatcmpl-${reply.number}`,
    object: "chat.completion",
    created,
    model: modelOf(request),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(reply) }],
    usage: usageOf(reply),
    service_tier: "default",
    system_fingerprint: "fp_fake",
  };
}

function streamed(reply: WireReply, request: FakeRequest): WireBody {
  const isCounted = objectOf(request.body["stream_options"])["include_usage"] === true;
  const about = {
    id: `chatcmpl-${reply.number}`,
    object: "chat.completion.chunk",
    created,
    model: modelOf(request),
    service_tier: "default",
    system_fingerprint: "fp_fake",
    ...(isCounted ? { usage: null } : {}),
  };
  const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
    ...about,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  });
  const { contentType, chunks } = eventStream([
    chunk({ role: "assistant", content: "", refusal: null }),
    ...piecesOf(reply.reasoning ?? "").map((piece) => chunk({ reasoning_content: piece })),
    ...piecesOf(reply.text).map((content) => chunk({ content })),
    ...reply.calls.flatMap(({ id, name, text }, index) => [
      chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
      ...halvesOf(text).map((half) => chunk({ tool_calls: [{ index, function: { arguments: half } }] })),
    ]),
    chunk({}, finishOf(reply)),
    ...(isCounted ? [{ ...about, choices: [], usage: usageOf(reply) }] : []),
  ]);
  return { contentType, chunks: [...chunks, "data: [DONE]\n\n"] };
}
