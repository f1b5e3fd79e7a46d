import { aboutOf, type Runnable } from "../agent/runnable.ts";
import { callsBeside } from "../durable/beside.ts";
import type { QuestionAnswer, RunFilter, WaitingQuestion } from "../durable/run-store.ts";
import { WritError } from "../error/writ-error.ts";
import type { JsonObject } from "../util/json.ts";
import { isFact } from "../event/event.ts";
import { answerId, inputOf, messagesOf, metadataOf, type UiMessage } from "./chat-messages.ts";
import { answerOnce, type PageQuestion, questionId, questionOf } from "./page-questions.ts";
import { problemOf } from "./problems.ts";
import { agentOf, type Asked, inStream, json, type OpenStream, type Route } from "./route.ts";
import { runEvents } from "./run-events.ts";
import * as schemas from "./schemas.ts";
import type { Sent } from "./sse.ts";
import { shownTools } from "./tool-pages.ts";
import { toldBeside, toldEvent } from "./told-failures.ts";
import { UiChunks, type UiChunk } from "./ui-chunks.ts";

/**
 * The routes for `useChat` of the AI SDK (`DefaultChatTransport`, `api: "/chat/<agent>"`). A chat is a session, and each message of the user begins a run of
 * it. The server reads only that message of what a page sends, because the session has the earlier ones.
 */
export const chatRoutes: readonly Route[] = [
  {
    method: "post",
    path: "/chat/{agent}",
    summary:
      "A message of the user, or answers to approvals, as useChat of the AI SDK sends them; the answer is a UI message stream",
    body: schemas.chat,
    answer: { status: 200, type: "text/event-stream" },
    act: (asked) => inStream(asked, (opened) => chat(asked, opened)),
  },
  {
    method: "get",
    path: "/chat/{agent}/{chat}/stream",
    summary:
      "The UI message stream of the latest run of a chat that is at work or waits, from its beginning; 204 when there is none",
    answer: { status: 200, type: "text/event-stream", orNothing: true },
    act: resume,
  },
  {
    method: "get",
    path: "/chat/{agent}/{chat}",
    summary:
      "The messages of a chat, the latest 50, as useChat of the AI SDK takes them; the answer of a run at work comes with its stream",
    query: { before: { type: "string", maxLength: 500, description: "The id of a message of the user" } },
    answer: { status: 200, schema: schemas.chatMessages },
    act: messages,
  },
];

// Each message of the user is a run, and all of these are read again.
const runsOfPage = 50;

interface Chat {
  readonly id: string;
  readonly messages: readonly UiMessage[];
  readonly trigger?: string;
  /** Arguments that replace the model's, by the id of the approval. */
  readonly arguments?: Readonly<Record<string, JsonObject>>;
}

async function chat(asked: Asked, opened: OpenStream): Promise<Response> {
  const agent = agentOf(asked);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it fits the schema of the route
  const { id: chatId, messages, trigger, arguments: edits = {} } = asked.body as unknown as Chat;
  const last = messages.at(-1);
  if (trigger === "regenerate-message")
    refuse("an answer is not written anew: what a run did stays done. Send a message");
  if (last?.role === "user") {
    if (messages.some((one) => one.role === "user" && one !== last)) tellForgetting(agent, asked);
    const id = runIdOf(asked, chatId, last.id);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `start` holds it against what the agent takes
    const input = inputOf(last, refuse) as never;
    await asked.runs.start(agent, input, { id, session: sessionOf(asked, chatId) });
    return stream(asked, { id, messageId: last.id }, opened);
  }
  const answers = answersIn(last, edits);
  const [first] = answers;
  if (first === undefined)
    return refuse("its last message is neither of the user nor has it an answer to an approval");
  if (answers.some(({ run }) => run !== first.run)) return refuse("the approvals are of several runs");
  const { run } = first;
  if (!run.startsWith(`${sessionOf(asked, chatId)}/`)) return refuse("the approvals are not of this chat");
  for (const one of answers) await answerOnce(asked, one, one.answer);
  // The page was told everything before the last question. Its message keeps answers about calls of agents inside, and sends them again.
  const after = Math.max(...answers.map((one) => one.after));
  return stream(asked, { id: run, messageId: last?.id, after }, opened);
}

/** Tells the author of a server without `sessions` that the run of this message does not know the earlier ones. */
function tellForgetting(agent: Runnable, { served: { sessions, host } }: Asked): void {
  if (sessions !== undefined || aboutOf(agent)?.keepsNoConversation === true) return;
  const text = `"${agent.name}" answers each message of a chat without those before it: give \`serve({ sessions: (id) => session(store, id) })\`.`;
  host.warn?.({ code: "WRIT_CHAT_FORGETS", text, isDeprecation: false });
}

async function resume(asked: Asked): Promise<Response> {
  agentOf(asked);
  const session = sessionOf(asked, asked.params["chat"] ?? "");
  const page = await asked.runs.list({ ...ofChat(session), limit: runsOfPage });
  const run = page.find(({ end, status }) => end === undefined && status !== "moved");
  if (run === undefined) return new Response(null, { status: 204 });
  return stream(asked, { id: run.id, messageId: run.id.slice(session.length + 1) }, asked.openStream());
}

async function messages(asked: Asked): Promise<Response> {
  const tools = shownTools(agentOf(asked));
  const { runs, query, params, caller } = asked;
  const session = sessionOf(asked, params["chat"] ?? "");
  const before = query["before"] === undefined ? {} : { before: `${session}/${query["before"]}` };
  const page = await runs.list({ ...ofChat(session), limit: runsOfPage, ...before });
  const told = await Promise.all(
    page.map((run) => {
      const messageId = run.id.slice(session.length + 1);
      const id = run.id.slice(caller.prefix.length);
      return messagesOf(run, { messageId, id, tools, caller }, runs.events(run.id));
    }),
  );
  return json({ messages: told.toReversed().flat() });
}

/** The runs of the messages of a chat. Its session may have other runs too. */
const ofChat = (session: string): RunFilter => ({ session, prefix: `${session}/` });

/** The last event of a failed stream. A page does not reconnect by itself, so it is also told if the server leaves. */
const lastSent = (error: unknown): Sent => sent({ type: "error", errorText: problemOf(error).title });

/** The part of a run that a page is sent. */
interface Part {
  readonly id: string;
  /** The message of the user that is answered, or the message of the assistant that goes on. */
  readonly messageId: string | undefined;
  readonly after?: number;
}

function stream(asked: Asked, part: Part, { signal, answer }: OpenStream): Response {
  return answer(chunksOf(asked, { ...part, signal }), {
    failure: lastSent,
    headers: { "x-vercel-ai-ui-message-stream": "v1" },
  });
}

/** The chunks of a run, until it ends or waits. */
async function* chunksOf(
  asked: Asked,
  { id, messageId, after = 0, signal }: Part & { readonly signal: AbortSignal },
): AsyncGenerator<Sent, void> {
  const { runs, caller } = asked;
  const chunks = new UiChunks(shownTools(agentOf(asked)));
  const run = id.slice(caller.prefix.length);
  let last = after;
  let isOver = false;
  yield sent({
    type: "start",
    messageId: after === 0 ? answerId(messageId) : messageId,
    messageMetadata: { run },
  });
  for await (const event of runEvents(id, asked.served, { after, signal, untilItWaits: true })) {
    if (isFact(event)) last = event.seq;
    isOver = event.type === "run-end";
    if (event.type === "run-end")
      yield sent({ type: "message-metadata", messageMetadata: metadataOf(run, event) });
    for (const chunk of chunks.of(toldEvent(event, caller))) yield sent(chunk);
  }
  if (!isOver) yield* questionsOf((await runs.waiting(id)).filter(isForPage), { asked, chunks, after: last });
  yield { data: "[DONE]" };
}

/** The questions that a run waits for, and the results of the calls beside them. */
async function* questionsOf(
  questions: readonly WaitingQuestion[],
  {
    asked: { served, caller },
    chunks,
    after,
  }: { readonly asked: Asked; readonly chunks: UiChunks; readonly after: number },
): AsyncGenerator<Sent, void> {
  const [first] = questions;
  const beside = first === undefined ? [] : await callsBeside(first, served.store);
  for (const chunk of chunks.beside(toldBeside(beside, caller))) yield sent(chunk);
  // A page that sends answers by itself does so once each call of the last step has one, or a result. Calls in which agents inside ask have neither yet.
  const hasNewStep = !questions.some((question) => chunks.asksOfMessage(question));
  if (hasNewStep) {
    yield sent({ type: "finish-step" });
    yield sent({ type: "start-step" });
  }
  for (const question of questions) {
    for (const chunk of chunks.question(question, questionId(question, after))) yield sent(chunk);
  }
  yield sent({ type: "finish-step" });
  // With the metadata, a page takes over a step without content.
  yield sent({ type: "finish", finishReason: "tool-calls", ...(hasNewStep ? { messageMetadata: {} } : {}) });
}

/** False for a wait for a signal or a time, which nobody approves, and for a call that may have happened, which a page cannot settle. */
const isForPage = ({ request: { waitsFor, unsettled } }: WaitingQuestion): boolean =>
  waitsFor === undefined && unsettled !== true;

const sent = (chunk: UiChunk): Sent => ({ data: JSON.stringify(chunk) });

const sessionOf = ({ caller, params }: Asked, chatId: string): string =>
  `${caller.prefix}chat/${params["agent"]}/${chatId}`;

const runIdOf = (asked: Asked, chatId: string, messageId: string): string =>
  `${sessionOf(asked, chatId)}/${messageId}`;

function refuse(reason: string): never {
  throw new WritError("request-invalid", { where: "the chat", reason });
}

interface PageAnswer extends PageQuestion {
  readonly answer: QuestionAnswer;
}

/** The answers in the last message whose results the page has not seen. */
function answersIn(
  message: UiMessage | undefined,
  edits: NonNullable<Chat["arguments"]>,
): readonly PageAnswer[] {
  if (Object.keys(edits).some((id) => questionOf(id) === undefined))
    refuse("`arguments` has a key that is not the id of an approval");
  return (message?.parts ?? []).flatMap(({ state, approval }) => {
    if (state !== "approval-responded" || approval?.approved === undefined) return [];
    const { id, approved, reason } = approval;
    if (typeof approved !== "boolean" || typeof (reason ?? "") !== "string")
      refuse("an approval has no `approved` that is true or false, or a `reason` that is no text");
    const about = questionOf(id) ?? refuse("an approval has an id that was not made here");
    const edited = Object.hasOwn(edits, id) ? edits[id] : undefined;
    const answer: QuestionAnswer = {
      hash: about.hash,
      approved,
      ...(reason === undefined ? {} : { reason }),
      ...(edited === undefined ? {} : { arguments: edited }),
    };
    return [{ ...about, answer }];
  });
}
