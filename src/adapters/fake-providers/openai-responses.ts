import type { JsonObject } from "../../util/json.ts";
import type { FakeRequest } from "./fake-provider.ts";
import { listOf, modelOf, objectsOf, textOf } from "./fields.ts";
import { refuseResponse, type ResponseStore, wholeInput } from "./openai-responses-rules.ts";
import { eventStream, halvesOf, piecesOf, wholeBody, type Wire, type WireReply } from "./wire.ts";

/** The Responses API of OpenAI. It keeps its responses, unless a request says `store: false`. */
export function openaiResponses(): Wire {
  const store: ResponseStore = { items: new Map(), histories: new Map(), reasoning: new Map() };
  return {
    path: /^\/v1\/responses$/,
    refuse: (request) => refuseResponse(request, store),
    reply(reply, request) {
      const output = outputOf(reply, request);
      keep(output, { reply, request, store });
      const response = responseOf(reply, request);
      const ended = { ...response, status: statusOf(reply), output, usage: usageOf(reply) };
      if (request.body["stream"] !== true) return wholeBody(ended);
      const events = [
        { type: "response.created", response },
        { type: "response.in_progress", response },
        ...output.flatMap(itemEvents),
        { type: `response.${statusOf(reply)}`, response: ended },
      ];
      return eventStream(
        events.map((event, index) => ({ ...event, sequence_number: index })),
        { named: true },
      );
    },
  };
}

/** Stores the items that later requests may refer to. */
function keep(
  output: readonly JsonObject[],
  {
    reply,
    request,
    store,
  }: { readonly reply: WireReply; readonly request: FakeRequest; readonly store: ResponseStore },
): void {
  const reasoningId = output.find((item) => item["type"] === "reasoning")?.["id"];
  for (const item of output) {
    const id = textOf(item["id"]);
    if (typeof reasoningId === "string" && id !== reasoningId) store.reasoning.set(id, reasoningId);
    if (request.body["store"] !== false) store.items.set(id, item);
  }
  if (request.body["store"] !== false)
    store.histories.set(`resp_${reply.number}`, [...wholeInput(request.body, store), ...output]);
}

function statusOf({ finishReason }: WireReply): "completed" | "incomplete" {
  return finishReason === "length" || finishReason === "content-filter" ? "incomplete" : "completed";
}

function responseOf(reply: WireReply, request: FakeRequest): JsonObject {
  const { body } = request;
  const reason = reply.finishReason === "length" ? "max_output_tokens" : "content_filter";
  return {
    id: `resp_${reply.number}`,
    object: "response",
    created_at: 1_763_800_000,
    status: "in_progress",
    background: false,
    error: null,
    incomplete_details: statusOf(reply) === "incomplete" ? { reason } : null,
    instructions: body["instructions"] ?? null,
    max_output_tokens: body["max_output_tokens"] ?? null,
    metadata: body["metadata"] ?? {},
    model: modelOf(request),
    output: [],
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    previous_response_id: body["previous_response_id"] ?? null,
    reasoning: body["reasoning"] ?? { effort: null, summary: null },
    service_tier: "default",
    store: body["store"] ?? true,
    temperature: body["temperature"] ?? 1,
    text: body["text"] ?? { format: { type: "text" } },
    tool_choice: body["tool_choice"] ?? "auto",
    tools: body["tools"] ?? [],
    top_p: body["top_p"] ?? 1,
    truncation: body["truncation"] ?? "disabled",
    usage: null,
  };
}

function usageOf({ inputTokens, outputTokens }: WireReply): JsonObject {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + outputTokens,
  };
}

function outputOf(
  { number, text, reasoning, calls }: WireReply,
  request: FakeRequest,
): readonly JsonObject[] {
  const isEncrypted = listOf(request.body["include"]).includes("reasoning.encrypted_content");
  const items: JsonObject[] = [];
  if (reasoning !== undefined)
    items.push({
      id: `rs_${number}`,
      type: "reasoning",
      summary: reasoning === "" ? [] : [{ type: "summary_text", text: reasoning }],
      ...(isEncrypted ? { encrypted_content: Buffer.from(`reasoning ${number}`).toString("base64") } : {}),
    });
  if (text !== "" || calls.length === 0)
    items.push({
      id: `msg_${number}`,
      type: "message",
      status: "completed",
      role: "assistant",
      content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
    });
  for (const [index, call] of calls.entries())
    items.push({
      id: `fc_${number}_${index + 1}`,
      type: "function_call",
      status: "completed",
      call_id: call.id,
      name: call.name,
      arguments: call.text,
    });
  return items;
}

/** The events of an item of the output. */
function itemEvents(item: JsonObject, output_index: number): readonly JsonObject[] {
  const begun = { ...item, ...beginnings.get(textOf(item["type"])) };
  return [
    { type: "response.output_item.added", output_index, item: begun },
    ...partEvents(item, { output_index, item_id: textOf(item["id"]) }),
    { type: "response.output_item.done", output_index, item },
  ];
}

/** The fields of an item at its beginning. */
const beginnings: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ["reasoning", { summary: [] }],
  ["message", { status: "in_progress", content: [] }],
  ["function_call", { status: "in_progress", arguments: "" }],
]);

function partEvents(item: JsonObject, of: JsonObject): readonly JsonObject[] {
  if (item["type"] === "function_call") {
    const type = "response.function_call_arguments";
    const text = textOf(item["arguments"]);
    return [
      ...halvesOf(text).map((delta) => ({ ...of, type: `${type}.delta`, delta })),
      { ...of, type: `${type}.done`, name: textOf(item["name"]), arguments: text },
    ];
  }
  const isMessage = item["type"] === "message";
  const [part] = objectsOf(isMessage ? item["content"] : item["summary"]);
  if (part === undefined) return [];
  const place = { ...of, ...(isMessage ? { content_index: 0 } : { summary_index: 0 }) };
  const name = isMessage ? "response.content_part" : "response.reasoning_summary_part";
  const type = isMessage ? "response.output_text" : "response.reasoning_summary_text";
  const text = textOf(part["text"]);
  const more: JsonObject = isMessage ? { logprobs: [] } : {};
  return [
    { ...place, type: `${name}.added`, part: { ...part, text: "" } },
    ...piecesOf(text).map((delta) => ({ ...place, ...more, type: `${type}.delta`, delta })),
    { ...place, ...more, type: `${type}.done`, text },
    { ...place, type: `${name}.done`, part },
  ];
}
