import type { StoredRun } from "../durable/run-store.ts";
import { WritError } from "../error/writ-error.ts";
import type { AgentEvent } from "../event/event.ts";
import type { Usage } from "../message/usage.ts";
import type { JsonObject } from "../util/json.ts";
import { problemOf } from "./problems.ts";
import { agentsOf, type Asked, json } from "./route.ts";
import { runEvents } from "./run-events.ts";
import { UiChunks } from "./ui-chunks.ts";

/** A run for a client of OpenAI's protocols, under way: `key` is the part of its id that the client may know. */
export interface OpenAiRun {
  readonly key: string;
  readonly begunAt: number;
  readonly model: string;
  readonly words: AsyncGenerator<string, Ended>;
  /** Called once, when nobody reads the words any more. */
  readonly end: () => void;
}

/**
 * Starts the run of a request. With the header `idempotency-key` the same request again gives the same run.
 *
 * @throws WritError `request-unknown` where there is no such agent, and what `start` throws
 */
export async function openAiRun(
  asked: Asked,
  { model, messages }: { readonly model: string; readonly messages: readonly JsonObject[] },
): Promise<OpenAiRun> {
  const { caller, served, runs, request } = asked;
  const agent = agentsOf(asked).find(({ name }) => name === model);
  if (agent === undefined) throw new WritError("request-unknown", { where: `the model "${model}"` });
  const key = request.headers.get("idempotency-key") ?? served.host.randomId();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `start` holds it against what the agent takes
  const run = await runs.start(agent, messages.map(asUsers) as never, { id: `${caller.prefix}v1/${key}` });
  return openAiRunOf(asked, run);
}

/** The run of a request that was made before. */
export function openAiRunOf(
  { caller, served, openStream }: Asked,
  { id, agent: model, begunAt }: StoredRun,
): OpenAiRun {
  const { signal, end } = openStream();
  const words = wordsOf(runEvents(id, served, { after: 0, signal, untilItWaits: true }), model);
  return { key: id.slice(`${caller.prefix}v1/`.length), begunAt, model, words, end };
}

/** The words of a run until it has ended, and how. @throws WritError `run-unanswered`, `reply-began-anew` */
export async function wholeWords({ words, end }: OpenAiRun): Promise<Ended & { readonly text: string }> {
  let text = "";
  try {
    for (;;) {
      const next = await words.next();
      if (next.done === true) return { ...next.value, text };
      text += next.value;
    }
  } finally {
    end();
  }
}

/** Words of a client that are instructions elsewhere are the user's here. */
const asUsers = (message: JsonObject): JsonObject =>
  message["role"] === "system" || message["role"] === "developer" ? { ...message, role: "user" } : message;

/** The end of a run that answered. */
export interface Ended {
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

/** An error as OpenAI's clients read it. */
export function envelope(error: unknown): { readonly status: number; readonly body: JsonObject } {
  const { status, code, detail, title } = problemOf(error);
  const type =
    status === 401 ? "authentication_error" : status < 500 ? "invalid_request_error" : "server_error";
  return { status, body: { error: { message: detail ?? title, type, code, param: null } } };
}

/** Answers with an error as OpenAI's clients read it. */
export function openAiFailure(error: unknown): Response {
  const { status, body } = envelope(error);
  return json(body, status);
}
