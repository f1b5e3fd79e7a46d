import type { FinishReason } from "../../message/message.ts";
import type { ReportedUsage } from "../../message/usage.ts";
import type { Delta } from "../../model/model.ts";
import { isJsonList, isJsonObject, type Json, type JsonObject, parseJson } from "../../util/json.ts";
import { callPieces, choiceOf, reasonIn } from "./openai-choice.ts";
import { bounded, RefusedRequest, UnreadableReply } from "./http-reply.ts";
import { callReader } from "./openai-compatible-calls.ts";
import { saidReader } from "./openai-compatible-said.ts";
import { textReader } from "./openai-compatible-texts.ts";
import { untilSilent } from "./until-silent.ts";
import { excerpt, readFault, shown } from "./provider-fault.ts";
import { reasonWord, reportedUsage, unreadableBy } from "./wire-fields.ts";

/** A part of a reply, the end in a stream, or the end of a whole answer. */
type Chunk = JsonObject | "done" | "whole";

/**
 * The chunks of an answer: of a stream, or the only one of a whole answer, from servers that cannot stream. Its first character distinguishes
 * them, because servers and proxies send either with the content type of the other.
 *
 * @throws UnreadableReply if it is neither, or larger than `maxBytes`
 */
export async function* chunksOf(response: Response, maxBytes: number): AsyncGenerator<Chunk, void> {
  if (response.body === null) throw new UnreadableReply("the answer has no body");
  const events = await eventReader();
  const decoder = new TextDecoder();
  let begun = ""; // the text of a whole answer
  let isStream: boolean | undefined;
  let count = 0;
  for await (const bytes of response.body.pipeThrough(bounded(maxBytes))) {
    const text = decoder.decode(bytes, { stream: true });
    if (isStream === undefined) begun = text.trimStart(); // empty lines keep the connection open
    else if (isStream) events.feed(text);
    else begun += text;
    if (isStream === undefined && begun !== "") {
      isStream = !/^[{[<]/.test(begun);
      if (isStream) events.feed(begun);
    }
    for (const event of events.take()) {
      count += 1;
      yield chunkOf(event);
    }
  }
  if (isStream === false) {
    yield wholeChunk(begun + decoder.decode());
    yield "whole";
    return;
  }
  events.feed(`${decoder.decode()}\n\n`); // some servers do not end their last event
  const last = events.take();
  if (count + last.length === 0 && begun !== "")
    throw new UnreadableReply(`no event of a stream came; the answer begins: ${shown(begun)}`);
  for (const event of last) yield chunkOf(event);
}

/** The data of server-sent events. */
interface EventReader {
  feed(text: string): void;
  /** Returns the events since the last call. */
  take(): readonly string[];
}

async function eventReader(): Promise<EventReader> {
  let events: string[] = [];
  const { createParser } = await import("eventsource-parser"); // only with the first reply
  const parser = createParser({
    onEvent({ event, data }) {
      if (data.trim() !== "") events.push(event === "error" ? errorText(data) : data); // some keep-alives are empty
    },
    onError: ({ field, value = "" }) => field === "error" && events.push(errorText(value)),
  });
  return {
    feed: (text) => parser.feed(text),
    take() {
      const taken = events;
      events = [];
      return taken;
    },
  };
}

function wholeChunk(text: string): Chunk {
  if (text.trimStart().startsWith("<")) throw misplaced("an HTML page", text);
  const lines = text.trim().split("\n");
  if (lines.length > 1 && lines.slice(0, 2).every((line) => parseJson(line).ok))
    throw misplaced("lines of JSON", text);
  const whole = chunkOf(text);
  if (typeof whole === "object" && choiceOf(whole) === undefined && errorIn(whole) === undefined)
    throw new UnreadableReply(`the answer is not the reply of a chat, it has no choices: ${excerpt(text)}`);
  return whole;
}

function misplaced(what: string, text: string): UnreadableReply {
  const reason = `${what} came where a chat completion should: is the path of the address right? It begins: ${shown(text)}`;
  return new UnreadableReply(reason, { retryable: false });
}

/** The data of an event that is an error, as the chunk with an `error` that other servers send. */
function errorText(data: string): string {
  const parsed = parseJson(data);
  if (!parsed.ok) return JSON.stringify({ error: data });
  return isJsonObject(parsed.value) && isJsonObject(parsed.value["error"]) ? data : `{"error":${data}}`;
}

function chunkOf(text: string): Chunk {
  if (text.trim() === "[DONE]") return "done";
  const parsed = parseJson(text);
  if (parsed.ok && isJsonObject(parsed.value)) return parsed.value;
  if (parsed.ok && isJsonList(parsed.value) && isJsonObject(parsed.value[0])) return parsed.value[0]; // errors of Google
  throw new UnreadableReply(`a part of the answer is not a JSON object: ${shown(text)}`);
}

/** An error in a chunk or its choice, in any form. Older servers write its fields into the chunk itself. */
function errorIn(...places: readonly (JsonObject | undefined)[]): RefusedRequest | undefined {
  const place = places.find((each) => each?.["object"] === "error" || Boolean(each?.["error"]));
  return place && new RefusedRequest(readFault(place));
}

/** The settings for reading a reply. */
export interface ReadingOptions {
  /** The server, noted on parts that must go back to it. */
  readonly server: string;
  /** Accepts `[DONE]` as the end of a reply without a finish reason. */
  readonly doneEnds: boolean;
}

/**
 * The chunks of a reply as deltas.
 *
 * @throws RefusedRequest for an error among the chunks. UnreadableReply if they end before the reply does.
 */
export async function* toDeltas(
  chunks: AsyncIterable<Chunk>,
  { server, doneEnds }: ReadingOptions,
): AsyncGenerator<Delta, void> {
  const calls = callReader(server);
  const texts = textReader(server);
  const said = saidReader();
  let finish: string | undefined;
  let end: "done" | "whole" | undefined;
  let usage: ReportedUsage | undefined;
  let citations: Json | undefined;
  for await (const chunk of untilSilent(chunks, () => finish !== undefined)) {
    if (typeof chunk === "string") {
      end = chunk;
      break;
    }
    const choice = choiceOf(chunk);
    const error = errorIn(chunk, choice);
    if (error !== undefined) throw error;
    usage = usageOf(chunk, choice) ?? usage;
    citations = chunk["citations"] ?? citations;
    said.read(chunk, choice);
    if (choice === undefined) continue;
    const message = choice["delta"] ?? choice["message"];
    if (isJsonObject(message)) {
      yield* texts.read(message);
      yield* calls.read(callPieces(message));
    }
    finish = reasonIn(choice) ?? finish;
  }
  if (finish === undefined && end !== "whole" && !(end === "done" && doneEnds)) throw unended(end);
  yield* calls.end();
  yield* texts.end(citations);
  const response = said.end(finish);
  yield {
    type: "end",
    finishReason: finishReasonOf(finish, { hasCalls: calls.count > 0, isRefusal: texts.isRefusal }),
    ...(usage && { usage }),
    ...(response && { response }),
    ...unreadableBy(finish),
  };
}

/** The error of a reply without an end. Proxies write `[DONE]` after a reply that broke off. */
function unended(end: "done" | undefined): UnreadableReply {
  return new UnreadableReply(
    end === undefined
      ? "the answer ended before the reply did"
      : "`[DONE]` came before a finish reason, so the reply may be cut; `doneEnds: true` is for servers that never give one",
  );
}

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ["stop", "stop"],
  ["eos", "stop"],
  ["eos_token", "stop"],
  ["stop_sequence", "stop"],
  ["end_turn", "stop"],
  ["tool_calls", "tool-calls"],
  ["function_call", "tool-calls"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["max_output_tokens", "length"],
  ["model_length", "length"],
  ["model_context_window_exceeded", "length"],
  ["content_filter", "content-filter"],
  ["sensitive", "content-filter"],
  ["refusal", "content-filter"],
  ["error", "error"],
  ["abort", "error"],
  ["insufficient_system_resource", "error"],
  ["network_error", "error"],
]);

/** The reason for the end. `length` and `error` override calls, because the last of them may have been cut. Some servers say `stop` after calls. */
function finishReasonOf(
  reason: string | undefined,
  { hasCalls, isRefusal }: { readonly hasCalls: boolean; readonly isRefusal: boolean },
): FinishReason {
  const finish = finishReasons.get(reasonWord(reason)) ?? "other";
  if (isRefusal && finish === "stop") return "content-filter";
  return hasCalls && (finish === "stop" || finish === "other") ? "tool-calls" : finish;
}

/**
 * The token counts. Groq has a field of its own for them, Moonshot the choice that ends the reply; tokens of a cache have several names, including those
 * of Anthropic behind LiteLLM.
 */
function usageOf(chunk: JsonObject, choice: JsonObject | undefined): ReportedUsage | undefined {
  const places = [chunk["usage"], field(chunk["x_groq"], "usage"), choice?.["usage"]];
  const usage = places.find((place) => isJsonObject(place));
  if (usage === undefined) return undefined;
  const { prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details: ofPrompt } = usage;
  const counted = reportedUsage({
    inputTokens: prompt_tokens,
    outputTokens: completion_tokens,
    totalTokens: total_tokens,
    cachedInputTokens:
      field(ofPrompt, "cached_tokens") ??
      usage["prompt_cache_hit_tokens"] ??
      usage["cached_tokens"] ??
      usage["num_cached_tokens"] ??
      usage["cache_read_input_tokens"],
    cacheWriteTokens:
      field(ofPrompt, "cache_write_tokens") ??
      field(ofPrompt, "cache_creation_tokens") ??
      field(ofPrompt, "cache_creation_input_tokens") ??
      usage["cache_creation_input_tokens"],
    reasoningTokens: field(usage["completion_tokens_details"], "reasoning_tokens"),
  });
  return counted && withWritten(counted);
}

/** The usage with the tokens written into a cache as a part of the input. Some versions of LiteLLM leave them out there. */
function withWritten(usage: ReportedUsage): ReportedUsage {
  const { inputTokens, cacheWriteTokens = 0 } = usage;
  const isLeftOut = inputTokens !== undefined && inputTokens < cacheWriteTokens;
  return isLeftOut ? { ...usage, inputTokens: inputTokens + cacheWriteTokens } : usage;
}

function field(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}
