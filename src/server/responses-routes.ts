import type { StoredRun } from "../durable/run-store.ts";
import { isWritError, WritError } from "../error/writ-error.ts";
import type { Usage } from "../message/usage.ts";
import type { JsonObject } from "../util/json.ts";
import {
  type Ended,
  envelope,
  openAiFailure,
  type OpenAiRun,
  openAiRun,
  openAiRunOf,
  wholeWords,
} from "./openai-run.ts";
import { type Asked, json, type Route } from "./route.ts";
import * as schemas from "./schemas.ts";
import { eventStream, type Sent } from "./sse.ts";

/** The routes of OpenAI's Responses: an agent is the model. The text of a response is one message with the words of all turns. */
export const responsesRoutes: readonly Route[] = [
  {
    method: "post",
    path: "/v1/responses",
    summary:
      "A response of OpenAI, by an agent. With the header idempotency-key the same request again gives the same run. Settings of sampling are the agent's own",
    body: schemas.response,
    answer: { status: 200, orEvents: true },
    failure: openAiFailure,
    act: respond,
  },
  {
    method: "get",
    path: "/v1/responses/{response}",
    summary: "A response that was begun before, once its run has ended",
    answer: { status: 200 },
    failure: openAiFailure,
    async act(asked) {
      const run = openAiRunOf(asked, await runOf(asked, asked.params["response"] ?? ""));
      return json(wholeOf(run, await wholeWords(run)));
    },
  },
];

interface Wanted {
  readonly model: string;
  readonly input: string | readonly JsonObject[];
  readonly instructions?: string | null;
  readonly previous_response_id?: string | null;
  readonly stream?: boolean | null;
}

async function respond(asked: Asked): Promise<Response> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it fits the schema of the route
  const wanted = asked.body as unknown as Wanted;
  const run = await openAiRun(asked, { model: wanted.model, messages: await conversationOf(asked, wanted) });
  if (wanted.stream !== true) return json(wholeOf(run, await wholeWords(run)));
  return eventStream(eventsOf(run), {
    timer: (afterMs, fire) => asked.served.host.timer(afterMs, fire),
    onEnd: run.end,
    failure: (error) => (isWritError(error, "server-leaving") ? undefined : failureOf(error)),
  });
}

/** What the agent is asked: the conversation of the response before, what it answered, and the input. */
async function conversationOf(
  asked: Asked,
  { input, instructions, previous_response_id: previous }: Wanted,
): Promise<readonly JsonObject[]> {
  const said = typeof input === "string" ? [{ role: "user", content: input }] : input.flatMap(messageIn);
  const told = typeof instructions === "string" ? [{ role: "user", content: instructions }] : [];
  if (typeof previous !== "string") return [...told, ...said];
  const run = openAiRunOf(asked, await runOf(asked, previous));
  const { text } = await wholeWords(run);
  const before = (await runOf(asked, previous)).input;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this route began it with a list of messages
  return [...(before as readonly JsonObject[]), { role: "assistant", content: text }, ...told, ...said];
}

/** The message in an item. What a model thought is its own; calls are not the client's to tell of. */
function messageIn({
  id: _id,
  status: _status,
  type = "message",
  ...message
}: JsonObject): readonly JsonObject[] {
  if (type === "reasoning") return [];
  if (type === "message") return [message];
  throw new WritError("request-invalid", {
    where: "`input`",
    reason: `it has an item of the type ${JSON.stringify(type)}`,
  });
}

async function runOf({ runs, caller }: Asked, response: string): Promise<StoredRun> {
  const run = await runs.show(`${caller.prefix}v1/${response.replace(/^resp_/, "")}`);
  if (run === undefined || !caller.mayUse(run.agent) || !Array.isArray(run.input))
    throw new WritError("request-unknown", { where: `the response "${response}"` });
  return run;
}

/** The events of a response, as OpenAI streams them. */
async function* eventsOf(run: OpenAiRun): AsyncGenerator<Sent, void> {
  let number = 0;
  const event = (type: string, more: JsonObject): Sent => {
    const data = JSON.stringify({ type, sequence_number: number, ...more });
    number += 1;
    return { event: type, data };
  };
  const begun = { ...headOf(run), status: "in_progress", output: [], usage: null };
  yield event("response.created", { response: begun });
  yield event("response.in_progress", { response: begun });
  const item = { output_index: 0 };
  const place = { ...item, item_id: messageId(run), content_index: 0 };
  yield event("response.output_item.added", {
    ...item,
    item: { ...messageOf(run, ""), status: "in_progress", content: [] },
  });
  yield event("response.content_part.added", { ...place, part: textPart("") });
  let text = "";
  for (;;) {
    const next = await run.words.next();
    if (next.done !== true) {
      text += next.value;
      yield event("response.output_text.delta", { ...place, delta: next.value, logprobs: [] });
      continue;
    }
    const response = wholeOf(run, { ...next.value, text });
    const end = response["status"] === "completed" ? "response.completed" : "response.incomplete";
    yield event("response.output_text.done", { ...place, text, logprobs: [] });
    yield event("response.content_part.done", { ...place, part: textPart(text) });
    yield event("response.output_item.done", { ...item, item: messageOf(run, text) });
    yield event(end, { response });
    return;
  }
}

/** @see https://platform.openai.com/docs/api-reference/responses-streaming/error */
function failureOf(error: unknown): Sent {
  const { body } = envelope(error);
  return { event: "error", data: JSON.stringify({ type: "error", ...Object(body["error"]), ...body }) };
}

const cutOff: { readonly [finish: string]: string } = {
  length: "max_output_tokens",
  content_filter: "content_filter",
};

function wholeOf(run: OpenAiRun, { text, finish, usage }: Ended & { readonly text: string }): JsonObject {
  const reason = cutOff[finish];
  return {
    ...headOf(run),
    status: reason === undefined ? "completed" : "incomplete",
    incomplete_details: reason === undefined ? null : { reason },
    output: [messageOf(run, text)],
    usage: usageOf(usage),
  };
}

/** The fields that are the same from the beginning to the end. */
function headOf({ key, begunAt, model }: OpenAiRun): JsonObject {
  return {
    id: `resp_${key}`,
    object: "response",
    created_at: Math.floor(begunAt / 1000),
    model,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: "auto",
    tools: [],
    top_p: null,
  };
}

const messageId = ({ key }: OpenAiRun): string => `msg_${key}`;

const messageOf = (run: OpenAiRun, text: string): JsonObject => ({
  type: "message",
  id: messageId(run),
  role: "assistant",
  status: "completed",
  content: [textPart(text)],
});

const textPart = (text: string): JsonObject => ({ type: "output_text", text, annotations: [], logprobs: [] });

function usageOf({
  inputTokens,
  outputTokens,
  cachedInputTokens = 0,
  cacheWriteTokens = 0,
  reasoningTokens = 0,
}: Usage): JsonObject {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedInputTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}
