import type { StoredRun } from "../durable/run-store.ts";
import { WritError } from "../error/writ-error.ts";
import type { Usage } from "../message/usage.ts";
import { isJsonObject, type JsonObject } from "../util/json.ts";
import {
  type ClientCall,
  type Ended,
  envelope,
  openAiFailure,
  type OpenAiRun,
  openAiRun,
  openAiRunOf,
  type OpenAiWanted,
  wholeWords,
} from "./openai-run.ts";
import { ownError } from "./problems.ts";
import { type Asked, inStream, json, type Route } from "./route.ts";
import * as schemas from "./schemas.ts";
import type { Sent } from "./sse.ts";

/** The routes of OpenAI's Responses: an agent is the model. The text of a response is one message with the text of all turns, followed by
 * the calls of the client's tools. */
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
      const stored = await runOf(asked, asked.params["response"] ?? "");
      const run = openAiRunOf(asked, stored, { stream: asked.openStream() });
      return json(wholeOf(run, await wholeWords(run)));
    },
  },
];

interface Wanted extends Omit<OpenAiWanted, "messages" | "answer"> {
  readonly input: string | readonly JsonObject[];
  readonly instructions?: string | null;
  readonly previous_response_id?: string | null;
  readonly stream?: boolean | null;
  readonly text?: { readonly format?: unknown } | null;
}

async function respond(asked: Asked): Promise<Response> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it fits the schema of the route
  const wanted = asked.body as unknown as Wanted;
  const messages = await conversationOf(asked, wanted);
  return inStream(asked, async (opened) => {
    const answer = { field: "text.format", format: wanted.text?.format };
    const run = await openAiRun(asked, { ...wanted, messages, answer }, opened);
    if (wanted.stream !== true) return json(wholeOf(run, await wholeWords(run)));
    return opened.answer(eventsOf(run), { failure: (error) => failureOf(ownError(error, asked.caller)) });
  });
}

/** The conversation for the agent: that of the previous response, its answer with the label of what its run had read, and the input. */
async function conversationOf(
  asked: Asked,
  { input, instructions, previous_response_id: previous }: Wanted,
): Promise<readonly JsonObject[]> {
  const said = typeof input === "string" ? [{ role: "user", content: input }] : messagesIn(input);
  checkResults(said);
  if (said.at(-1)?.["role"] === "tool") return said; // its run knows the earlier messages
  const told = typeof instructions === "string" ? [{ role: "user", content: instructions }] : [];
  if (typeof previous !== "string") return [...told, ...said];
  const stored = await runOf(asked, previous);
  const { text, calls } = await wholeWords(openAiRunOf(asked, stored, { stream: asked.openStream() }));
  const open = calls.find(({ id }) => !said.some((message) => message["tool_call_id"] === id));
  if (open !== undefined) {
    const reason = `it waits for the result of a call of "${open.name}"; send the results of its calls first`;
    throw new WritError("request-invalid", { where: "`previous_response_id`", reason });
  }
  const { label } = await asked.runs.replay(stored.id);
  const answer = { role: "assistant", parts: [{ type: "text", text }], label: { ...label } };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this route began it with a list of messages
  return [...(stored.input as readonly JsonObject[]), answer, ...told, ...said];
}

const isResult = ({ role }: JsonObject): boolean => role === "tool";

/** Checks that results of calls that are not in the input come without other messages: the run that made the calls takes none. */
function checkResults(said: readonly JsonObject[]): void {
  const made = said.flatMap(({ tool_calls: calls }) => (Array.isArray(calls) ? calls : []));
  const isKnown = ({ tool_call_id: id }: JsonObject): boolean =>
    made.some((call) => isJsonObject(call) && call["id"] === id);
  if (said.every(isResult) || said.every((message) => !isResult(message) || isKnown(message))) return;
  const reason =
    "it has results of calls and messages beside them; send the results alone, and the messages in the next request, behind the response to them";
  throw new WritError("request-invalid", { where: "`input`", reason });
}

/** The messages in items: consecutive calls are one message. The model's thoughts are left out. */
function messagesIn(items: readonly JsonObject[]): readonly JsonObject[] {
  const messages: JsonObject[] = [];
  let calls: JsonObject[] | undefined;
  for (const item of items) {
    const { type = "message" } = item;
    if (type === "reasoning") continue;
    if (type !== "function_call") calls = undefined;
    else if (calls === undefined) messages.push({ role: "assistant", tool_calls: (calls = []) });
    if (calls === undefined) messages.push(messageIn(item));
    else calls.push(callIn(item));
  }
  return messages;
}

function callIn({ call_id: id = "", name = "", arguments: args = "" }: JsonObject): JsonObject {
  return { id, type: "function", function: { name, arguments: args } };
}

function messageIn({ id: _id, status: _status, type = "message", ...message }: JsonObject): JsonObject {
  const { call_id: callId = "", output = "" } = message;
  if (type === "message") return message;
  if (type === "function_call_output") return { role: "tool", tool_call_id: callId, content: output };
  throw new WritError("request-invalid", {
    where: "`input`",
    reason: `it has an item of the type ${JSON.stringify(type)}`,
  });
}

async function runOf({ runs, caller }: Asked, response: string): Promise<StoredRun> {
  const run = await runs.show(`${caller.prefix}v1/${response.replace(/^resp_/, "")}`);
  if (run === undefined || !caller.mayUse(run.agent) || !Array.isArray(run.input))
    throw new WritError("request-unknown", { what: `response ${JSON.stringify(response)}` });
  return run;
}

/** The events of a response, as OpenAI streams them. */
async function* eventsOf(run: OpenAiRun): AsyncGenerator<Sent, void> {
  let number = 0;
  const event = ({ type, ...more }: ResponseEvent): Sent => {
    const data = JSON.stringify({ type, sequence_number: number, ...more });
    number += 1;
    return { event: type, data };
  };
  const begun = { ...headOf(run), status: "in_progress", output: [], usage: null };
  yield event({ type: "response.created", response: begun });
  yield event({ type: "response.in_progress", response: begun });
  const words = run.streamed();
  let text = "";
  for (;;) {
    const next = await words.next();
    if (next.done === true) {
      const whole = wholeOf(run, { ...next.value, text });
      for (const one of endOf(run, { text, calls: next.value.calls })) yield event(one);
      const isWhole = whole["status"] === "completed";
      yield event({ type: isWhole ? "response.completed" : "response.incomplete", response: whole });
      return;
    }
    if (text === "") for (const one of beginOf(run)) yield event(one);
    text += next.value;
    yield event({ type: "response.output_text.delta", ...placeOf(run), delta: next.value, logprobs: [] });
  }
}

type ResponseEvent = JsonObject & { readonly type: string };

const placeOf = (run: OpenAiRun): JsonObject => ({
  output_index: 0,
  item_id: messageId(run),
  content_index: 0,
});

/** The beginning of the message. */
function beginOf(run: OpenAiRun): readonly ResponseEvent[] {
  const item = { ...messageOf(run, ""), status: "in_progress", content: [] };
  return [
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.content_part.added", ...placeOf(run), part: textPart("") },
  ];
}

/** The end of the message, if there is one, and the calls of the client's tools. */
function endOf(
  run: OpenAiRun,
  { text, calls }: Pick<Ended, "calls"> & { readonly text: string },
): readonly ResponseEvent[] {
  const place = placeOf(run);
  const said = [
    ...(text === "" ? beginOf(run) : []),
    { type: "response.output_text.done", ...place, text, logprobs: [] },
    { type: "response.content_part.done", ...place, part: textPart(text) },
    { type: "response.output_item.done", output_index: 0, item: messageOf(run, text) },
  ];
  const isSaid = text !== "" || calls.length === 0;
  return [
    ...(isSaid ? said : []),
    ...calls.flatMap((call, place) => callEvents(call, place + (isSaid ? 1 : 0))),
  ];
}

function callEvents(call: ClientCall, index: number): readonly ResponseEvent[] {
  const item = callItem(call);
  const { id, name, arguments: args } = call;
  const place = { output_index: index, item_id: itemId(id) };
  return [
    {
      type: "response.output_item.added",
      output_index: index,
      item: { ...item, status: "in_progress", arguments: "" },
    },
    { type: "response.function_call_arguments.delta", ...place, delta: args },
    { type: "response.function_call_arguments.done", ...place, name, arguments: args },
    { type: "response.output_item.done", output_index: index, item },
  ];
}

const itemId = (callId: string): string => `fc_${callId}`;

const callItem = ({ id, name, arguments: args }: ClientCall): JsonObject => ({
  type: "function_call",
  id: itemId(id),
  call_id: id,
  name,
  arguments: args,
  status: "completed",
});

/** @see https://platform.openai.com/docs/api-reference/responses-streaming/error */
function failureOf(error: unknown): Sent {
  const { body } = envelope(error);
  return { event: "error", data: JSON.stringify({ type: "error", ...Object(body["error"]), ...body }) };
}

const cutOff: { readonly [finish: string]: string } = {
  length: "max_output_tokens",
  content_filter: "content_filter",
};

function wholeOf(
  run: OpenAiRun,
  { text, finish, usage, calls }: Ended & { readonly text: string },
): JsonObject {
  const reason = cutOff[finish];
  return {
    ...headOf(run),
    status: reason === undefined ? "completed" : "incomplete",
    incomplete_details: reason === undefined ? null : { reason },
    output: [...(text === "" && calls.length > 0 ? [] : [messageOf(run, text)]), ...calls.map(callItem)],
    usage: usageOf(usage),
  };
}

/** The fields that stay the same from the beginning to the end. */
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
