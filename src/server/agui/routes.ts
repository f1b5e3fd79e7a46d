import type { Runnable } from "../../agent/runnable.ts";
import { callerSignalOf } from "../../durable/caller-tools.ts";
import { pastOf } from "../../durable/follow.ts";
import { keyOfSignal } from "../../durable/signals.ts";
import { callsBeside } from "../../durable/beside.ts";
import { WritError } from "../../error/writ-error.ts";
import { isFact } from "../../event/event.ts";
import { asObject, type Json, type JsonObject } from "../../util/json.ts";
import { callerToolsOf, isTaken, resultOf } from "../client-tools.ts";
import { type ResumeEntry, takeAnswers } from "../interrupts.ts";
import { problemOf } from "../problems.ts";
import { agentOf, type Asked, inStream, type OpenStream, type Route } from "../route.ts";
import { runEvents } from "../run-events.ts";
import type { Sent } from "../sse.ts";
import { toldBeside, toldEvent, toldOutcome } from "../told-failures.ts";
import { AguiEvents } from "./events.ts";
import { type AguiContext, type AguiEvent, type AguiMessage, inputOf, saidIn, wordsOf } from "./messages.ts";
import { agui } from "./schema.ts";
import { snapshotOf } from "./shown-reply.ts";
import { askedBefore, latest, type Part, prefixOf } from "./thread.ts";

/**
 * The route for clients of AG-UI 1.0 (`new HttpAgent({ url: ".../v1/agui/<agent>" })`). A thread is a session, and each message of the user begins a run of it.
 * The server reads only the last message of the user that a page sends, because the session has the earlier ones.
 */
export const aguiRoutes: readonly Route[] = [
  {
    method: "post",
    path: "/v1/agui/{agent}",
    summary:
      "A message of the user, answers to interrupts, or neither to look at the thread, as clients of AG-UI 1.0 send them; the answer is its events",
    body: agui,
    answer: { status: 200, type: "text/event-stream" },
    act: (asked) => inStream(asked, (opened) => answer(asked, opened)),
  },
];

interface Wanted {
  readonly threadId: string;
  readonly runId: string;
  readonly messages: readonly AguiMessage[];
  readonly tools?: readonly JsonObject[];
  readonly context?: readonly AguiContext[];
  readonly state?: Json;
  readonly resume?: readonly ResumeEntry[];
}

async function answer(asked: Asked, opened: OpenStream): Promise<Response> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it fits the schema of the route
  const wanted = asked.body as unknown as Wanted;
  const agent = agentOf(asked);
  const session = `${asked.caller.prefix}agui/${agent.name}/${wanted.threadId}`;
  const part = await partOf(asked, { agent, session, wanted });
  const { signal } = opened;
  return opened.answer(sentOf(asked, { part, session, wanted, signal }), { failure: lastSent });
}

interface InThread {
  readonly session: string;
  readonly wanted: Wanted;
}

/** Begins, answers or finds the run that a request is about; undefined for a thread without a run. */
async function partOf(
  asked: Asked,
  { agent, ...thread }: InThread & { readonly agent: Runnable },
): Promise<Part | undefined> {
  const { session, wanted } = thread;
  const { messages, context = [], resume = [] } = wanted;
  const goneOn = resume.length > 0 ? await answered(asked, thread, resume) : undefined;
  const place = messages.findLastIndex(({ role }) => role === "user");
  const said = messages[place];
  if (said === undefined) return goneOn ?? latest(asked, session);
  const id = `${session}/${said.id}`;
  const before = messages.slice(0, place + 1);
  const isShown = before.length < messages.length;
  if (goneOn !== undefined && (isShown || (await asked.runs.show(id)) !== undefined)) return goneOn;
  if (isShown && (await asked.runs.show(id)) === undefined) refuse("its last message is not of the user");
  if (isShown) return (await given(asked, { id, session, wanted })) ?? { id, after: 0, before, isShown };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `start` holds it against what the agent takes
  const input = inputOf(said, context, refuse) as never;
  const callerTools = callerToolsOf(agent, {
    tools: (wanted.tools ?? []).map((tool) => ({ ...tool, type: "function" })),
  });
  await givenBefore(asked, thread);
  await asked.runs.start(agent, input, {
    id,
    session,
    ...(context.length === 0 ? {} : { intent: wordsOf(said) }),
    ...(callerTools.length === 0 ? {} : { callerTools }),
  });
  return { id, after: 0, before, isShown };
}

/** Takes results from a page for earlier runs of the thread: they come with the next message if the user was faster than the page. */
async function givenBefore(asked: Asked, { session, wanted }: InThread): Promise<void> {
  if (!wanted.messages.some(({ role }) => role === "tool")) return;
  const waiting = await asked.runs.list({ session, status: "waiting", prefix: `${session}/` });
  for (const { id } of waiting) await given(asked, { id, session, wanted });
}

/**
 * Takes the results of calls of the page's own tools that the run waits for; undefined if there are none. A page that was overtaken by another one, with
 * another result, is shown the run from its beginning: the results that count stand there.
 */
async function given(
  { runs, served }: Asked,
  { id, session, wanted }: InThread & { readonly id: string },
): Promise<Part | undefined> {
  const waiting = await runs.waiting(id);
  const results = wanted.messages.flatMap(({ role, toolCallId, content }) => {
    const open = waiting.find(({ request }) => prefixOf(id, session) + request.callId === toolCallId);
    const name = open && callerSignalOf(open.request);
    if (role !== "tool" || open === undefined || name === undefined) return [];
    const value = resultOf(open.request.tool, saidIn(content, refuse));
    return [{ signal: { name, value, id: name }, key: open.key }];
  });
  if (results.length === 0) return undefined;
  let after = 0;
  for await (const fact of pastOf(id, served, 0)) after = fact.seq; // the page was told these
  for (const { signal } of results) await runs.signal(id, signal);
  for (const { signal, key } of results) {
    const behind = await served.store.records(id, keyOfSignal(signal));
    if (isTaken(behind.find((record) => record.key === key)?.json, signal.value)) continue;
    const place = wanted.messages.findLastIndex(({ role }) => role === "user");
    return { id, after: 0, before: wanted.messages.slice(0, place + 1), isShown: true };
  }
  return { id, after, before: wanted.messages, isShown: false };
}

/** Takes the answers of a page, all to one run of the thread. */
async function answered(
  asked: Asked,
  { session, wanted }: InThread,
  resume: readonly ResumeEntry[],
): Promise<Part> {
  const isOwn = (run: string): boolean => run.startsWith(`${session}/`);
  const { run: id, after } = await takeAnswers(asked, resume, { isOwn, refuse });
  const part = await given(asked, { id, session, wanted });
  return part?.isShown === true ? part : { id, after, before: wanted.messages, isShown: false };
}

interface PageTelling extends InThread {
  readonly part: Part | undefined;
  readonly signal: AbortSignal;
}

/** The events of a run, until it ends or waits. */
async function* sentOf(
  asked: Asked,
  { part, session, wanted, signal }: PageTelling,
): AsyncGenerator<Sent, void> {
  const { runs, served, caller } = asked;
  const { threadId, runId, state } = wanted;
  const of = (event: AguiEvent): Sent => sent(isOfRun(event) ? { ...event, threadId, runId } : event);
  yield of({ type: "RUN_STARTED", protocolVersion: "1.0" });
  if (part === undefined) {
    yield of({ type: "RUN_FINISHED", outcome: { type: "success" } });
    return;
  }
  const { id, before, isShown } = part;
  if (isShown) yield of(snapshotOf(before));
  const events = new AguiEvents({
    prefix: prefixOf(id, session),
    before,
    state: asObject(state),
  });
  let last = part.after;
  for await (const event of runEvents(id, served, { after: last, signal, untilItWaits: true })) {
    if (isFact(event)) last = event.seq;
    const isEnd = event.type === "run-end";
    // Another process tells the end before it stores it.
    const end = isEnd ? await runs.result(id, { signal }) : undefined;
    const told =
      end === undefined
        ? events.of(toldEvent(event, caller))
        : events.ended(toldOutcome(end.outcome, caller), end.output);
    const open = isEnd && isShown ? await askedBefore(asked, session, events.messages) : undefined;
    for (const one of open === undefined ? told : insteadOfEnd(told, open)) yield of(own(one, caller.prefix));
    if (isEnd) return;
  }
  const questions = await runs.waiting(id);
  const [first] = questions;
  const beside = first === undefined ? [] : await callsBeside(first, served.store);
  for (const one of events.waits(questions, toldBeside(beside, caller), last))
    yield of(own(one, caller.prefix));
}

/** The end of a run, replaced by the question of another run of the thread. */
function insteadOfEnd(told: readonly AguiEvent[], open: AguiEvent): readonly AguiEvent[] {
  const { usage } = told.at(-1) ?? open;
  return [...told.slice(0, -1), { ...open, usage }];
}

const isOfRun = ({ type }: AguiEvent): boolean => type === "RUN_STARTED" || type === "RUN_FINISHED";

/** The event with the id of the run of an agent inside as its caller knows it. */
function own(event: AguiEvent, prefix: string): AguiEvent {
  const { subagentRunId: inside } = event;
  if (typeof inside !== "string" || !inside.startsWith(prefix)) return event;
  return { ...event, subagentRunId: inside.slice(prefix.length) };
}

/** The last event of a failed stream. A page does not reconnect by itself, so it is also told if the server leaves. */
function lastSent(error: unknown): Sent {
  const { title: message, code } = problemOf(error);
  return sent({ type: "RUN_ERROR", message, code });
}

const sent = (event: AguiEvent): Sent => ({ data: JSON.stringify(event) });

function refuse(reason: string): never {
  throw new WritError("request-invalid", { where: "the input of AG-UI", reason });
}
