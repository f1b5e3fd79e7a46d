import type { Runnable } from "../agent/runnable.ts";
import type { Usage } from "../message/usage.ts";
import type { Json, JsonObject } from "../util/json.ts";
import {
  type ClientCall,
  type Ended,
  envelope,
  openAiFailure,
  openAiRun,
  type OpenAiWanted,
  wholeWords,
} from "./openai-run.ts";
import { ownError } from "./problems.ts";
import { agentOf, agentsOf, type Asked, inStream, json, type OpenStream, type Route } from "./route.ts";
import * as schemas from "./schemas.ts";
import type { Sent } from "./sse.ts";

/**
 * The routes that make an agent a model for clients of OpenAI's chat completions: `baseURL: ".../v1"`, `model: "<agent>"`. The agent calls its own tools,
 * and the client those that it sends. The client gets the text of all turns. A system message of the client becomes a user's: only the server gives
 * instructions.
 */
export const openAiRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/v1/models",
    summary: "The agents that the caller may use, as OpenAI lists models",
    answer: { status: 200 },
    failure: openAiFailure,
    act: (asked) => json({ object: "list", data: agentsOf(asked).map(modelOf) }),
  },
  {
    method: "get",
    path: "/v1/models/{model}",
    summary: "An agent that the caller may use, as OpenAI shows a model",
    answer: { status: 200 },
    failure: openAiFailure,
    act: (asked) => json(modelOf(agentOf(asked, asked.params["model"] ?? ""))),
  },
  {
    method: "post",
    path: "/v1/chat/completions",
    summary:
      "A chat completion of OpenAI, by an agent. With the header idempotency-key the same request again gives the same run. Settings of sampling are the agent's own",
    body: schemas.completion,
    answer: { status: 200, orEvents: true },
    failure: openAiFailure,
    act: (asked) => inStream(asked, (opened) => complete(asked, opened)),
  },
];

const modelOf = ({ name }: Runnable): JsonObject => ({
  id: name,
  object: "model",
  created: 0,
  owned_by: "writ",
});

interface Wanted extends Omit<OpenAiWanted, "answer"> {
  readonly response_format?: JsonObject | null;
  readonly stream?: boolean | null;
  readonly stream_options?: { readonly include_usage?: boolean } | null;
}

async function complete(asked: Asked, opened: OpenStream): Promise<Response> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it fits the schema of the route
  const body = asked.body as unknown as Wanted;
  const { stream, stream_options: options, response_format: format, ...wanted } = body;
  const run = await openAiRun(asked, { ...wanted, answer: { field: "response_format", format } }, opened);
  const { key, begunAt, model } = run;
  const head = { id: `chatcmpl-${key}`, created: Math.floor(begunAt / 1000), model };
  if (stream !== true) return json(wholeOf(await wholeWords(run), head));
  return opened.answer(chunksOf(run.streamed(), head, options?.include_usage === true), {
    failure: (error) => sent(envelope(ownError(error, asked.caller)).body), // also if the server leaves: half an answer would be taken for a whole one
  });
}

type Head = { readonly id: string; readonly created: number; readonly model: string };

function wholeOf({ text, finish, usage, calls }: Ended & { readonly text: string }, head: Head): Json {
  const said: JsonObject = { role: "assistant", content: text, refusal: null };
  const content = text === "" ? null : text;
  const message = calls.length === 0 ? said : { ...said, content, tool_calls: calls.map(callOf) };
  const choice = { index: 0, message, logprobs: null, finish_reason: finish };
  return { ...head, object: "chat.completion", choices: [choice], usage: usageOf(usage) };
}

const callOf = ({ id, ...called }: ClientCall): JsonObject => ({ id, type: "function", function: called });

async function* chunksOf(
  words: AsyncGenerator<string, Ended>,
  head: Head,
  wantsUsage: boolean,
): AsyncGenerator<Sent, void> {
  const chunk = (delta: JsonObject, finish: string | null = null): Sent =>
    sent({
      ...head,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(wantsUsage ? { usage: null } : {}),
    });
  yield chunk({ role: "assistant", content: "" });
  for (;;) {
    const next = await words.next();
    if (next.done !== true) {
      yield chunk({ content: next.value });
      continue;
    }
    const calls = next.value.calls.map((call, index) => ({ index, ...callOf(call) }));
    if (calls.length > 0) yield chunk({ tool_calls: calls });
    yield chunk({}, next.value.finish);
    if (wantsUsage)
      yield sent({ ...head, object: "chat.completion.chunk", choices: [], usage: usageOf(next.value.usage) });
    yield { data: "[DONE]" };
    return;
  }
}

const sent = (value: unknown): Sent => ({ data: JSON.stringify(value) });

function usageOf({
  inputTokens,
  outputTokens,
  cachedInputTokens = 0,
  cacheWriteTokens = 0,
  reasoningTokens = 0,
}: Usage): JsonObject {
  return {
    prompt_tokens: inputTokens,
    prompt_tokens_details: { cached_tokens: cachedInputTokens, cache_write_tokens: cacheWriteTokens },
    completion_tokens: outputTokens,
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}
