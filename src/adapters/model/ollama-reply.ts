import type { Delta, FinishReason } from "../../model/model.ts";
import { asObject, isJsonList, isJsonObject, type Json } from "../../util/json.ts";
import { sameJson } from "../../util/same-json.ts";
import { UnreadableReply } from "./http-reply.ts";
import { keptBy, keptCall } from "./kept.ts";
import { newCallId, reportedUsage } from "./wire-fields.ts";

/** A line of a streamed reply, or a whole one. Any field can be missing or of another type: it comes from outside. */
export interface OllamaChunk {
  readonly message?: unknown;
  readonly done?: unknown;
  readonly done_reason?: unknown;
  readonly prompt_eval_count?: unknown;
  readonly eval_count?: unknown;
}

/** A reply that came whole, as the one line of a streamed one. */
export function wholeReply(reply: OllamaChunk): OllamaChunk {
  if (!isJsonObject(reply.message))
    throw new UnreadableReply("the answer is not the reply of a chat: it has no message");
  if (reply.done === false) throw new UnreadableReply("the answer ended before the reply did");
  return { ...reply, done: true };
}

/**
 * The lines of a reply as deltas. Calls come whole; those without an id of their own get `call_` and their index in the reply. Calls that a line
 * repeats, with their ids, count once. `server` is noted on what goes back to it alone.
 *
 * @throws UnreadableReply when the lines end before one says that the reply is done.
 */
export async function* toDeltas(
  chunks: AsyncIterable<OllamaChunk> | Iterable<OllamaChunk>,
  server: string,
): AsyncGenerator<Delta, void> {
  const ids = new Set<string>();
  const told: Json[] = [];
  const providerMetadata = keptBy(server, {});
  for await (const chunk of chunks) {
    const message = asObject(chunk.message);
    const { thinking, content, tool_calls: calls } = message;
    if (typeof thinking === "string" && thinking !== "")
      yield { type: "reasoning-delta", text: thinking, providerMetadata };
    if (typeof content === "string" && content !== "") yield { type: "text-delta", text: content };
    const made = isJsonList(calls) ? calls.filter((call) => !told.some((one) => isRepeated(one, call))) : [];
    for (const call of made) yield* readCall(call, ids, server);
    told.push(...made);
    if (chunk.done !== true) continue;
    // A server that had the whole prompt in its cache may leave its count out: that is not zero.
    const usage = reportedUsage({ inputTokens: chunk.prompt_eval_count, outputTokens: chunk.eval_count });
    const finishReason = finishReasonOf(chunk.done_reason, ids.size > 0);
    yield { type: "end", finishReason, ...(usage && { usage }) };
    return;
  }
  throw new UnreadableReply("the answer ended before the reply did");
}

/** The same call, with an id that the server itself gave. */
function isRepeated(one: Json, another: Json): boolean {
  const { id } = asObject(one);
  return typeof id === "string" && id.trim() !== "" && sameJson(one, another);
}

function* readCall(call: Json, ids: Set<string>, server: string): Generator<Delta, void> {
  const { id: given, function: called } = asObject(call);
  const { name, arguments: whole } = asObject(called);
  const id = newCallId(typeof given === "string" ? given : "", ids);
  yield { type: "call-start", id, name: typeof name === "string" ? name : "" };
  const providerMetadata = keptCall(server, id, {});
  yield { type: "call-end", id, arguments: whole ?? {}, ...(providerMetadata && { providerMetadata }) };
}

/** `length` wins over calls: the last of them may have been cut. Servers of 2023 gave no reason when all was well. */
function finishReasonOf(reason: unknown, hasCalls: boolean): FinishReason {
  if (reason === "length") return "length";
  if (hasCalls) return "tool-calls";
  return reason === "stop" || reason === undefined ? "stop" : "other";
}
