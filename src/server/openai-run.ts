import { callerSignalOf } from "../durable/caller-tools.ts";
import type { StoredRun, WaitingQuestion } from "../durable/run-store.ts";
import { keyOfSignal } from "../durable/signals.ts";
import { WritError } from "../error/writ-error.ts";
import { type AgentEvent, isFact } from "../event/event.ts";
import type { Outcome } from "../event/outcome.ts";
import { addUsage, noUsage, type Usage } from "../message/usage.ts";
import type { Json, JsonObject } from "../util/json.ts";
import { type AnswerFormat, wantsJson } from "./answer-format.ts";
import { callerToolsOf, checkTaken, clientInput, type ClientTools, resultOf } from "./client-tools.ts";
import type { Caller } from "./callers.ts";
import { endLeftBehind } from "./left-behind.ts";
import { questionId, questionOf } from "./page-questions.ts";
import { problemHeaders, problemOf } from "./problems.ts";
import { agentOf, type Asked, json, type OpenStream } from "./route.ts";
import { runEvents } from "./run-events.ts";
import { toldOutcome } from "./told-failures.ts";
import { text as textOfId } from "./schemas.ts";
import { type UiChunk, UiChunks } from "./ui-chunks.ts";

/** A run under way for a client of OpenAI's protocols: `key` is the part of its id that the client may know. */
export interface OpenAiRun {
  readonly key: string;
  readonly begunAt: number;
  readonly model: string;
  /** Its text: as it is written, or that of each turn once it is whole. */
  readonly words: (by: "piece" | "turn") => AsyncGenerator<string, Ended>;
  /** The same for a stream. JSON that the client asked for comes at once, without the text before it. */
  readonly streamed: () => AsyncGenerator<string, Ended>;
  /** Called once, when nobody reads the text any more. */
  readonly end: () => void;
}

/** A request of a client of OpenAI's. */
export interface OpenAiWanted extends ClientTools {
  readonly model: string;
  /** The conversation, in the form of chat completions. */
  readonly messages: readonly JsonObject[];
  readonly answer: AnswerFormat;
}

/**
 * Starts the run of a request, or goes on with the run whose calls of the client's tools it has results of. The same request sent again with the same
 * `idempotency-key` returns the same run.
 *
 * @throws WritError `request-unknown` if there is no such agent, `request-invalid` for tools of the client that cannot be used, and the errors of `start`
 */
export async function openAiRun(asked: Asked, wanted: OpenAiWanted, stream: OpenStream): Promise<OpenAiRun> {
  const { caller, served, runs, request } = asked;
  const { model, messages } = wanted;
  const agent = agentOf(asked, model);
  const isJson = wantsJson(agent, wanted.answer);
  const results = resultsIn(messages);
  if (results.length > 0) return goneOn(asked, { model, results, stream, isJson });
  const key = keyOf(request) ?? served.host.randomId();
  const callerTools = callerToolsOf(agent, wanted);
  const options = { id: `${caller.prefix}v1/${key}`, ...(callerTools.length === 0 ? {} : { callerTools }) };
  const run = await runs.start(agent, clientInput(agent, messages.map(asUsers)), options);
  await endLeftBehind(asked, messages);
  return openAiRunOf(asked, run, { stream, isJson });
}

/** The key of a request that may be sent again. @throws WritError `request-invalid` for a key that is longer than ids of runs may be */
function keyOf({ headers }: Request): string | undefined {
  const key = headers.get("idempotency-key") ?? "";
  if (key.length <= textOfId.maxLength) return key === "" ? undefined : key;
  const reason = `it has more than ${textOfId.maxLength} characters`;
  throw new WritError("request-invalid", { where: "`idempotency-key`", reason });
}

/** The results of calls at the end of a conversation. */
function resultsIn(messages: readonly JsonObject[]): readonly JsonObject[] {
  return messages.slice(messages.findLastIndex(({ role }) => role !== "tool") + 1);
}

interface GoingOn {
  readonly model: string;
  readonly results: readonly JsonObject[];
  readonly stream: OpenStream;
  readonly isJson: boolean;
}

/** Sends a run the results of the calls that its client carried out. A result that was taken before changes nothing, and another one in its place is refused. */
async function goneOn(asked: Asked, { model, results, ...reading }: GoingOn): Promise<OpenAiRun> {
  const { caller, runs, served } = asked;
  const given = results.map(({ tool_call_id: id, content }) => ({
    question: typeof id === "string" ? questionOf(id) : undefined,
    content,
  }));
  const first = given[0]?.question;
  const run = first?.run.startsWith(`${caller.prefix}v1/`) === true ? await runs.show(first.run) : undefined;
  if (first === undefined || run === undefined || run.agent !== model)
    throw new WritError("request-invalid", {
      where: "the last messages",
      reason: "they are results of calls that were not made here",
    });
  const waiting = await runs.waiting(run.id);
  const own = given.filter(({ question }) => question?.run === run.id);
  const isAgain = own.some(({ question }) => waiting.every(({ key }) => key !== question?.key));
  const records = isAgain ? await served.store.records(run.id) : [];
  const signals = own.flatMap(({ question, content }) => {
    const open = waiting.find(({ key }) => key === question?.key);
    if (open === undefined) checkTaken(records.find(({ key }) => key === question?.key)?.json, content);
    const name = open && callerSignalOf(open.request);
    if (open === undefined || name === undefined) return [];
    const signal = { name, value: resultOf(open.request.tool, content), id: name };
    return [{ signal, key: open.key, content }];
  });
  for (const { signal } of signals) await runs.signal(run.id, signal);
  for (const { signal, key, content } of signals) {
    const behind = await served.store.records(run.id, keyOfSignal(signal)); // another client may have been first meanwhile
    checkTaken(behind.find((record) => record.key === key)?.json, content);
  }
  return openAiRunOf(asked, run, { ...reading, after: first.after });
}

interface Reading {
  readonly stream: OpenStream;
  readonly after?: number;
  readonly isJson?: boolean;
}

/** The run of a request that was made before. */
export function openAiRunOf(
  { caller, runs, served }: Asked,
  { id, agent: model, begunAt }: StoredRun,
  { stream: { signal, end }, after = 0, isJson = false }: Reading,
): OpenAiRun {
  const run = id.slice(caller.prefix.length);
  const events = runEvents(id, served, { after, signal, untilItWaits: true });
  const output = async (): Promise<Json | undefined> => (await runs.result(id, { signal })).output;
  const words = (by: Wording["by"]): AsyncGenerator<string, Ended> =>
    wordsOf(events, { name: model, run, caller, after, by, waiting: () => runs.waiting(id), output });
  const streamed = (): AsyncGenerator<string, Ended> => (isJson ? atOnce({ words, end }) : words("piece"));
  return { key: run.slice("v1/".length), begunAt, model, words, streamed, end };
}

async function* atOnce(run: Pick<OpenAiRun, "words" | "end">): AsyncGenerator<string, Ended> {
  const { text, ...ended } = await wholeWords(run);
  if (text !== "") yield text;
  return ended;
}

/** The text of a run until its end, with the way it ended. @throws WritError `run-unanswered` */
export async function wholeWords(
  run: Pick<OpenAiRun, "words" | "end">,
): Promise<Ended & { readonly text: string }> {
  const words = run.words("turn");
  let text = "";
  try {
    for (;;) {
      const next = await words.next();
      if (next.done === true) return { ...next.value, text: next.value.value ?? text };
      text += next.value;
    }
  } finally {
    run.end();
  }
}

/** A message of the client: one that is an instruction elsewhere becomes the user's here. */
const asUsers = (message: JsonObject): JsonObject =>
  message["role"] === "system" || message["role"] === "developer" ? { ...message, role: "user" } : message;

/** A call of a client's tool, which the client is to carry out. */
export interface ClientCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON text. */
  readonly arguments: string;
}

/** The end of a run that answered, or that waits for results of the client's calls. */
export interface Ended {
  readonly finish: string;
  readonly usage: Usage;
  readonly calls: readonly ClientCall[];
  /** The output as JSON, if it is not a text and the text is not sent piece by piece. */
  readonly value?: string;
}

interface Wording {
  readonly name: string;
  /** The id of the run, as its caller knows it. */
  readonly run: string;
  readonly caller: Caller;
  readonly after: number;
  readonly by: "piece" | "turn";
  readonly waiting: () => Promise<readonly WaitingQuestion[]>;
  readonly output: () => Promise<Json | undefined>;
}

/**
 * The text of a run, with its turns a paragraph apart; returns the way it ended.
 *
 * @throws WritError for a run that did not answer, or that waits for somebody else; piece by piece also if a reply began anew after text of it was sent
 */
async function* wordsOf(
  events: AsyncIterable<AgentEvent>,
  { name, run, caller, after, by, waiting, output }: Wording,
): AsyncGenerator<string, Ended> {
  const chunks = new UiChunks();
  const words = new Words(name, by);
  let last = after;
  let usage = noUsage;
  for await (const event of events) {
    if (isFact(event)) last = event.seq;
    if (event.type === "usage-add") usage = addUsage(usage, event.usage);
    yield* chunks.of(event).flatMap((chunk) => words.of(chunk));
    if (event.type !== "run-end") continue;
    const ended = endedAs(toldOutcome(event.outcome, caller), {
      run,
      usage: after === 0 ? event.usage : usage,
    });
    return by === "turn" ? { ...ended, ...(await valueOf(output)) } : ended;
  }
  yield* words.rest(); // the run waits in the middle of a turn
  const open = await waiting();
  const calls = open.flatMap((question) => clientCall(question, last));
  if (calls.length > 0) return { finish: "tool_calls", usage, calls };
  const [wait] = open.every(({ request }) => request.waitsFor !== undefined) ? open : [];
  const reason = wait?.request.reason ?? "it waits for an answer to a question";
  throw new WritError("run-unanswered", { name: run, reason });
}

/** The output of a run that is not a text: text before it is not a part of it. */
async function valueOf(output: Wording["output"]): Promise<Pick<Ended, "value">> {
  const value = await output();
  return value === undefined || typeof value === "string" ? {} : { value: JSON.stringify(value) };
}

/** The text of turns, a paragraph apart. */
class Words {
  private readonly name: string;
  private readonly by: Wording["by"];
  private turn = "";
  private gap = "";

  constructor(name: string, by: Wording["by"]) {
    this.name = name;
    this.by = by;
  }

  of({ type, delta }: UiChunk): readonly string[] {
    if (type === "text-delta") return this.write(String(delta));
    if (type === "reset-step") this.takeBack();
    return type === "finish-step" ? this.rest() : [];
  }

  /** The text of the turn that was not sent yet. */
  rest(): readonly string[] {
    const { turn, gap } = this;
    if (turn === "") return [];
    this.turn = "";
    this.gap = "\n\n";
    return this.by === "turn" ? [gap + turn] : [];
  }

  private write(delta: string): readonly string[] {
    const gap = this.turn === "" ? this.gap : "";
    this.turn += delta;
    return this.by === "piece" ? [gap + delta] : [];
  }

  private takeBack(): void {
    if (this.by === "piece" && this.turn !== "") throw new WritError("reply-began-anew", { name: this.name });
    this.turn = "";
  }
}

function clientCall(question: WaitingQuestion, after: number): ClientCall[] {
  const { request } = question;
  if (callerSignalOf(request) === undefined) return [];
  const { tool: name, arguments: args } = request;
  return [{ id: questionId(question, after), name, arguments: JSON.stringify(args) }];
}

const finishes: { readonly [reason: string]: string } = {
  length: "length",
  "content-filter": "content_filter",
};

function endedAs(outcome: Outcome, { run, usage }: Pick<Wording, "run"> & Pick<Ended, "usage">): Ended {
  if (outcome.type === "answered")
    return { finish: finishes[outcome.finishReason] ?? "stop", usage, calls: [] };
  const code = "code" in outcome ? `${outcome.code}: ` : "";
  const reason = `its outcome is "${outcome.type}": ${code}${"message" in outcome ? outcome.message : outcome.reason}`;
  throw new WritError("run-unanswered", { name: run, reason });
}

/** An error in the form that OpenAI's clients read. */
export function envelope(error: unknown): { readonly status: number; readonly body: JsonObject } {
  const { status, code, detail, title } = problemOf(error);
  const type =
    status === 401 ? "authentication_error" : status < 500 ? "invalid_request_error" : "server_error";
  return { status, body: { error: { message: detail ?? title, type, code, param: null } } };
}

/** The response with an error in the form that OpenAI's clients read. */
export function openAiFailure(error: unknown): Response {
  const { status, body } = envelope(error);
  return json(body, status, problemHeaders(error));
}
