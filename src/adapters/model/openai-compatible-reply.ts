import type { FinishReason } from "../../message/message.ts";
import type { ReportedUsage } from "../../message/usage.ts";
import type { Delta, ReportedResponse } from "../../model/model.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject, parseJson } from "../../util/json.ts";
import { bounded, errorOf, excerpt, ReportedError, UnreadableReply } from "./http-reply.ts";
import { callReader } from "./openai-compatible-calls.ts";
import { reportedResponse, reportedUsage } from "./wire-fields.ts";

/** The end of a stream that says so itself. */
type Chunk = JsonObject | "done";

/**
 * The chunks of an answer: of a stream, or the one of an answer that came whole, as servers give it that cannot stream.
 *
 * @throws UnreadableReply when it is neither, or larger than `maxBytes`.
 */
export async function* chunksOf(response: Response, maxBytes: number): AsyncGenerator<Chunk, void> {
  if (response.body === null) throw new UnreadableReply("the answer has no body");
  const body = response.body.pipeThrough(bounded(maxBytes));
  if (/\bjson\b/i.test(response.headers.get("content-type") ?? "")) {
    const whole = chunkOf(await new Response(body).text());
    if (whole !== "done" && choiceOf(whole) === undefined && errorIn(whole) === undefined)
      throw new UnreadableReply("the answer is not the reply of a chat: it has no choices");
    yield whole;
    yield "done";
    return;
  }
  const events: string[] = [];
  const { createParser } = await import("eventsource-parser"); // only with the first stream
  const parser = createParser({
    onEvent: ({ data }) => events.push(data),
    onError: ({ field, value = "" }) => field === "error" && events.push(`{"error":${value}}`),
  });
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    for (const event of events.splice(0)) yield chunkOf(event);
  }
  parser.feed(`${decoder.decode()}\n\n`); // some servers do not end their last event
  for (const event of events) yield chunkOf(event);
}

function chunkOf(text: string): Chunk {
  if (text.trim() === "[DONE]") return "done";
  const parsed = parseJson(text);
  if (parsed.ok && isJsonObject(parsed.value)) return parsed.value;
  throw new UnreadableReply(`a part of the answer is not a JSON object: ${excerpt(text.trim())}`);
}

/** The choice of index 0, an index that some servers leave out. Each other choice is a reply of its own. */
function choiceOf({ choices }: JsonObject): JsonObject | undefined {
  if (!isJsonList(choices)) return undefined;
  return choices.filter(isJsonObject).find((choice) => Number(choice["index"] ?? 0) === 0);
}

/** An error in place of a chunk. Older servers write its fields into the chunk itself. */
function errorIn(chunk: JsonObject): ReportedError | undefined {
  const error = chunk["object"] === "error" ? chunk : (chunk["error"] ?? undefined);
  const reason = errorOf(error);
  if (reason === undefined) return undefined;
  const { code, type } = isJsonObject(error) ? error : {};
  return new ReportedError(
    reason,
    [code, type].find((word) => typeof word === "string" || typeof word === "number"),
  );
}

/**
 * The chunks of a reply as deltas.
 *
 * @throws ReportedError for an error among the chunks. UnreadableReply when they end before the reply does.
 */
export async function* toDeltas(chunks: AsyncIterable<Chunk>): AsyncGenerator<Delta, void> {
  const calls = callReader();
  let finish: string | undefined;
  let done = false;
  let usage: ReportedUsage | undefined;
  let response: ReportedResponse | undefined;
  for await (const chunk of chunks) {
    if (chunk === "done") {
      done = true;
      break;
    }
    const error = errorIn(chunk);
    if (error !== undefined) throw error;
    usage = usageOf(chunk) ?? usage;
    response ??= reportedResponse(chunk["id"], chunk["model"]);
    const choice = choiceOf(chunk);
    if (choice === undefined) continue;
    const message = choice["delta"] ?? choice["message"];
    if (isJsonObject(message)) {
      yield* textsOf(message);
      const { tool_calls: pieces } = message;
      if (isJsonList(pieces)) for (const piece of pieces) yield* calls.piece(piece);
    }
    finish = reasonIn(choice) ?? finish;
  }
  if (!done && finish === undefined) throw new UnreadableReply("the answer ended before the reply did");
  yield* calls.end();
  yield {
    type: "end",
    finishReason: finishReasonOf(finish, calls.count > 0),
    ...(usage && { usage }),
    ...(response && { response }),
  };
}

/** The server's reason for the end of the reply. Some servers write an empty reason into each chunk. */
function reasonIn({ finish_reason: reason }: JsonObject): string | undefined {
  return typeof reason === "string" && reason !== "" ? reason : undefined;
}

/** Reasoning and text. Some providers give the text as a list of parts, with the reasoning among them. */
function* textsOf({ reasoning_content, reasoning, content, refusal }: JsonObject): Generator<Delta, void> {
  yield* textDelta("reasoning-delta", reasoning_content ?? reasoning);
  if (!isJsonList(content)) yield* textDelta("text-delta", content);
  else
    for (const { thinking, type, text } of content.filter(isJsonObject)) {
      for (const thought of isJsonList(thinking) ? thinking : [])
        yield* textDelta("reasoning-delta", field(thought, "text"));
      if (type === "text") yield* textDelta("text-delta", text);
    }
  yield* textDelta("text-delta", refusal);
}

function* textDelta(type: "text-delta" | "reasoning-delta", text: Json | undefined): Generator<Delta, void> {
  if (typeof text === "string" && text !== "") yield { type, text };
}

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ["stop", "stop"],
  ["eos", "stop"],
  ["eos_token", "stop"],
  ["stop_sequence", "stop"],
  ["tool_calls", "tool-calls"],
  ["function_call", "tool-calls"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["model_length", "length"],
  ["content_filter", "content-filter"],
  ["error", "error"],
]);

/** `length` and `error` win over calls: the last of them may have been cut. Some servers say `stop` after calls. */
function finishReasonOf(reason: string | undefined, hasCalls: boolean): FinishReason {
  const finish = finishReasons.get(reason ?? "") ?? "other";
  return hasCalls && (finish === "stop" || finish === "other") ? "tool-calls" : finish;
}

/** Counted tokens. DeepSeek names the tokens of its cache in its own way. */
function usageOf({ usage }: JsonObject): ReportedUsage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { prompt_tokens, completion_tokens, prompt_tokens_details, completion_tokens_details } = usage;
  return reportedUsage({
    inputTokens: prompt_tokens,
    outputTokens: completion_tokens,
    cachedInputTokens: field(prompt_tokens_details, "cached_tokens") ?? usage["prompt_cache_hit_tokens"],
    reasoningTokens: field(completion_tokens_details, "reasoning_tokens"),
  });
}

function field(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}
