import type { JsonObject } from "../../util/json.ts";
import type { ChatHost } from "./chat-host.ts";
import { isThinking } from "./chat-hosts.ts";
import type { FakeRequest } from "./fake-provider.ts";
import { modelOf, objectOf, objectsOf } from "./fields.ts";
import { refuseChat } from "./openai-chat-rules.ts";
import {
  eventStream,
  halvesOf,
  piecesOf,
  signatureOf,
  wholeBody,
  type Wire,
  type WireBody,
  type WireReply,
} from "./wire.ts";

/** Chat completions of a host; of OpenAI if it has no differences. */
export function openaiChat(host: ChatHost = {}): Wire {
  return {
    path: Object.keys(host).length === 0 ? /^\/v1\/chat\/completions$/ : /\/chat\/completions$/,
    refuse: (request) => refuseChat(request, host),
    reply: (given, request) => {
      const isTold = given.reasoning === undefined && isThinking(host, request.body);
      const reply = isTold ? { ...given, reasoning: "" } : given;
      const body = request.body["stream"] === true ? streamed : whole;
      return body(reply, { request, host });
    },
  };
}

/** The request that is answered, and the host that answers. */
interface Answering {
  readonly request: FakeRequest;
  readonly host: ChatHost;
}

/** A piece of reasoning in the form of a host: fields of a message or of a delta. */
function thought({ reasoning = "reasoning_content" }: ChatHost, text: string): JsonObject {
  if (reasoning === "thinking")
    return { content: [{ type: "thinking", thinking: [{ type: "text", text }] }] };
  const details = { reasoning: text, reasoning_details: [{ ...detail, text }] };
  return reasoning === "reasoning_details" ? details : { [reasoning]: text };
}

const detail = { type: "reasoning.text", format: "anthropic-claude-v1", index: 0 };

/** The signatures of a host: with its last piece of reasoning, and with its first call. */
function signed(
  reply: WireReply,
  { host, request }: Answering,
): { details?: JsonObject; first?: JsonObject } {
  const signature = signatureOf(reply.number);
  return {
    ...(host.reasoning === "reasoning_details" && reply.reasoning !== undefined
      ? { details: { ...detail, signature } }
      : {}),
    ...(host.signs?.test(modelOf(request)) === true
      ? { first: { extra_content: { google: { thought_signature: signature } } } }
      : {}),
  };
}

/** A fixed time, so that replies are the same in each run. */
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

function whole(reply: WireReply, { request, host }: Answering): WireBody {
  const { details, first } = signed(reply, { request, host });
  const calls = reply.calls.map(({ id, name, text }, index) => ({
    id,
    type: "function",
    function: { name, arguments: text },
    ...(index === 0 ? first : {}),
  }));
  const { content: thinking, ...fields } =
    reply.reasoning === undefined ? {} : thought(host, reply.reasoning);
  const message = {
    role: "assistant",
    content:
      thinking === undefined
        ? reply.text === "" && calls.length > 0
          ? null
          : reply.text
        : [...objectsOf(thinking), ...(reply.text === "" ? [] : [{ type: "text", text: reply.text }])],
    ...fields,
    ...(details === undefined ? {} : { reasoning_details: [{ ...details, text: reply.reasoning ?? "" }] }),
    refusal: null,
    annotations: [],
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return wholeBody({
    id: `chatcmpl-${reply.number}`,
    object: "chat.completion",
    created,
    model: modelOf(request),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(reply) }],
    usage: usageOf(reply),
    service_tier: "default",
    system_fingerprint: "fp_fake",
  });
}

function streamed(reply: WireReply, { request, host }: Answering): WireBody {
  const isCounted = objectOf(request.body["stream_options"])["include_usage"] === true;
  const { details, first } = signed(reply, { request, host });
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
  const own: JsonObject = host.usageIn === undefined ? {} : { [host.usageIn]: { usage: usageOf(reply) } };
  const { contentType, chunks } = eventStream([
    chunk({ role: "assistant", content: "", refusal: null }),
    ...piecesOf(reply.reasoning ?? "").map((piece) => chunk(thought(host, piece))),
    ...(details === undefined ? [] : [chunk({ reasoning_details: [details] })]),
    ...piecesOf(reply.text).map((content) => chunk({ content })),
    ...reply.calls.flatMap(({ id, name, text }, index) => [
      chunk({
        tool_calls: [
          { index, id, type: "function", function: { name, arguments: "" }, ...(index === 0 ? first : {}) },
        ],
      }),
      ...halvesOf(text).map((half) => chunk({ tool_calls: [{ index, function: { arguments: half } }] })),
    ]),
    { ...chunk({}, finishOf(reply)), ...own },
    ...(isCounted ? [{ ...about, choices: [], usage: usageOf(reply) }] : []),
  ]);
  return { contentType, chunks: [...chunks, "data: [DONE]\n\n"] };
}
