import type { Delta, FinishReason } from "../../model/model.ts";
import { asObject, isJsonList, isJsonObject, type Json } from "../../util/json.ts";
import { sameJson } from "../../util/same-json.ts";
import { UnreadableReply } from "./http-reply.ts";
import { keptBy, keptCall } from "./kept.ts";
import { newCallId, reportedUsage } from "./wire-fields.ts";

/** A line of a streamed reply, or a whole one. It is untrusted: any field can be missing or of another type. */
export interface OllamaChunk {
  readonly message?: unknown;
  readonly done?: unknown;
  readonly done_reason?: unknown;
  readonly prompt_eval_count?: unknown;
  readonly eval_count?: unknown;
}

/** A whole reply, as the only line of a streamed one. */
export function wholeReply(reply: OllamaChunk): OllamaChunk {
  if (!isJsonObject(reply.message))
    throw new UnreadableReply("the answer is not the reply of a chat: it has no message");
  if (reply.done === false) throw new UnreadableReply("the answer ended before the reply did");
  return { ...reply, done: true };
}

/**
 * The lines of a reply as deltas. Calls come whole; those without an id get `call_` and their index in the reply. Calls that a line
 * repeats with their ids count once. `server` is noted on parts that go back only to it.
 *
 * @throws UnreadableReply if the lines end before one says that the reply is done
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
    // A server that had the whole prompt in its cache may leave out its count, which is not zero.
    const usage = reportedUsage({ inputTokens: chunk.prompt_eval_count, outputTokens: chunk.eval_count });
    const finishReason = finishReasonOf(chunk.done_reason, ids.size > 0);
    yield { type: "end", finishReason, ...(usage && { usage }) };
    return;
  }
  throw new UnreadableReply("the answer ended before the reply did");
}

/** True for the same call, with an id from the server itself. */
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

/** The reason for the end. `length` overrides calls, because the last of them may have been cut. Servers of 2023 gave no reason for a normal end. */
function finishReasonOf(reason: unknown, hasCalls: boolean): FinishReason {
  if (reason === "length") return "length";
  if (hasCalls) return "tool-calls";
  return reason === "stop" || reason === undefined ? "stop" : "other";
}
