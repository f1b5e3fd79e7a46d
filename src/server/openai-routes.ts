import { isWritError, WritError } from "../error/writ-error.ts";
import type { AgentEvent } from "../event/event.ts";
import type { Usage } from "../message/usage.ts";
import type { Json, JsonObject } from "../util/json.ts";
import { problemOf } from "./problems.ts";
import { agentsOf, type Asked, json, type Route } from "./route.ts";
import { runEvents } from "./run-events.ts";
import * as schemas from "./schemas.ts";
import { eventStream, type Sent } from "./sse.ts";
import { UiChunks } from "./ui-chunks.ts";

/**
 * The routes under which an agent is a model for clients of OpenAI's chat completions: `baseURL: ".../v1"`, `model: "<agent>"`. The agent calls its own tools;
 * a client is told the words of all turns. A system message of the client is told as the user's: instructions are the server's to give.
 */
export const openAiRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/v1/models",
    summary: "The agents that the caller may use, as OpenAI lists models",
    answer: { status: 200 },
    failure: openAiFailure,
    act: (asked) =>
      json({
        object: "list",
        data: agentsOf(asked).map(({ name }) => ({
          id: name,
          object: "model",
          created: 0,
          owned_by: "writ",
        })),
      }),
  },
  {
    method: "post",
    path: "/v1/chat/completions",
    summary:
      "A chat completion of OpenAI, by an agent. With the header idempotency-key the same request again gives the same run. Settings of sampling are the agent's own",
    body: schemas.completion,
    answer: { status: 200 },
    failure: openAiFailure,
    act: complete,
  },
];

interface Wanted {
  readonly model: string;
  readonly messages: readonly JsonObject[];
  readonly stream?: boolean | null;
  readonly stream_options?: { readonly include_usage?: boolean } | null;
}

async function complete(asked: Asked): Promise<Response> {
  const { caller, served, runs, request } = asked;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it fits the schema of the route
  const wanted = asked.body as unknown as Wanted;
  const { model, messages, stream = false, stream_options: options } = wanted;
  const agent = agentsOf(asked).find(({ name }) => name === model);
  if (agent === undefined) throw new WritError("request-unknown", { where: `the model "${model}"` });
  const key = request.headers.get("idempotency-key") ?? served.host.randomId();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `start` holds it against what the agent takes
  const { id, begunAt } = await runs.start(agent, messages.map(asUsers) as never, {
    id: `${caller.prefix}v1/${key}`,
  });
  const head = { id: `chatcmpl-${key}`, created: Math.floor(begunAt / 1000), model };
  const { signal, end } = asked.openStream();
  const words = wordsOf(runEvents(id, served, { after: 0, signal, untilItWaits: true }), model);
  if (stream === true)
    return eventStream(chunksOf(words, head, options?.include_usage === true), {
      timer: (afterMs, fire) => served.host.timer(afterMs, fire),
      onEnd: end,
      failure: (error) => (isWritError(error, "server-leaving") ? undefined : sent(envelope(error).body)),
    });
  try {
    return json(await wholeOf(words, head));
  } finally {
    end();
  }
}

/** Words of a client that are instructions elsewhere are the user's here. */
const asUsers = (message: JsonObject): JsonObject =>
  message["role"] === "system" || message["role"] === "developer" ? { ...message, role: "user" } : message;

interface Ended {
  readonly finish: string;
  readonly usage: Usage;
}

/** The words of a run, those of its turns a paragraph apart; returns how it ended. @throws WritError for a run that did not answer, or that waits */
async function* wordsOf(events: AsyncIterable<AgentEvent>, name: string): AsyncGenerator<string, Ended> {
  const chunks = new UiChunks();
  let isLater = false;
  let gap = "";
  for await (const event of events) {
    if (event.type === "run-end") return endedAs(event);
    if (event.type === "turn-start" && isLater) gap = "\n\n";
    for (const { type, delta } of chunks.of(event)) {
      if (type === "reset-step") throw new WritError("reply-began-anew", { name });
      if (type !== "text-delta") continue;
      yield gap + String(delta);
      isLater = true;
      gap = "";
    }
  }
  throw new WritError("run-unanswered", { name, reason: "it waits for an answer to a question" });
}

const finishes: { readonly [reason: string]: string } = {
  length: "length",
  "content-filter": "content_filter",
};

function endedAs({ outcome, usage }: Extract<AgentEvent, { readonly type: "run-end" }>): Ended {
  if (outcome.type === "answered") return { finish: finishes[outcome.finishReason] ?? "stop", usage };
  const reason =
    "code" in outcome
      ? `${outcome.code}: ${outcome.message}`
      : "reason" in outcome
        ? outcome.reason
        : outcome.message;
  throw new WritError("run-unanswered", { name: outcome.type, reason });
}

type Head = { readonly id: string; readonly created: number; readonly model: string };

async function wholeOf(words: AsyncGenerator<string, Ended>, head: Head): Promise<Json> {
  let content = "";
  for (;;) {
    const next = await words.next();
    if (next.done !== true) {
      content += next.value;
      continue;
    }
    const { finish, usage } = next.value;
    const message = { role: "assistant", content, refusal: null };
    const choice = { index: 0, message, logprobs: null, finish_reason: finish };
    return { ...head, object: "chat.completion", choices: [choice], usage: usageOf(usage) };
  }
}

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
    yield chunk({}, next.value.finish);
    if (wantsUsage)
      yield sent({ ...head, object: "chat.completion.chunk", choices: [], usage: usageOf(next.value.usage) });
    yield { data: "[DONE]" };
    return;
  }
}

const sent = (value: unknown): Sent => ({ data: JSON.stringify(value) });

function usageOf({ inputTokens, outputTokens }: Usage): JsonObject {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

/** An error as OpenAI's clients read it. */
function envelope(error: unknown): { readonly status: number; readonly body: JsonObject } {
  const { status, code, detail, title } = problemOf(error);
  const type =
    status === 401 ? "authentication_error" : status < 500 ? "invalid_request_error" : "server_error";
  return { status, body: { error: { message: detail ?? title, type, code, param: null } } };
}

function openAiFailure(error: unknown): Response {
  const { status, body } = envelope(error);
  return json(body, status);
}
