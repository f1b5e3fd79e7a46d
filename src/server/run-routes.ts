import { followRun } from "../durable/follow.ts";
import type { RunForkOptions } from "../durable/fork.ts";
import type { StartOptions } from "../durable/new-run.ts";
import type { QuestionAnswer, StoredRun, WaitingQuestion } from "../durable/run-store.ts";
import type { SentSignal } from "../durable/signals.ts";
import { isWritError, WritError } from "../error/writ-error.ts";
import { type AgentEvent, isFact } from "../event/event.ts";
import { aboutOf } from "../agent/runnable.ts";
import type { Settlement } from "../tool/after-crash.ts";
import type { Caller } from "./callers.ts";
import { type Cursor, cursorAfter, cursorText, readCursor } from "./event-cursor.ts";
import { clientInput } from "./client-tools.ts";
import { ownError, problemOf } from "./problems.ts";
import { agentsOf, type Asked, inStream, json, type OpenStream, type Route } from "./route.ts";
import { runEvents, type ServedRuns } from "./run-events.ts";
import * as schemas from "./schemas.ts";
import { questionsSeen, runsSeen } from "./seen-runs.ts";
import { own, shownEvent, shownRun } from "./shown-run.ts";
import type { Sent } from "./sse.ts";

/** The routes about runs. A caller sees only their own runs, by the ids that they gave them. Other runs do not exist for the caller. */
export const runRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/agents",
    summary: "The agents that the caller may use",
    answer: { status: 200, schema: schemas.agents },
    act: (asked) => json({ agents: agentsOf(asked).map(({ name }) => ({ name })) }),
  },
  {
    method: "post",
    path: "/runs",
    summary:
      "Starts a run, which goes on whether or not anybody listens. The same id again gives the same run. Accepting text/event-stream, the answer is its events",
    body: schemas.start,
    answer: { status: 201, schema: schemas.run, orEvents: true },
    act: start,
  },
  {
    method: "get",
    path: "/runs",
    summary: "The runs of the caller, the latest first",
    query: schemas.filter,
    answer: { status: 200, schema: schemas.runs },
    act: list,
  },
  {
    method: "get",
    path: "/runs/{id}",
    summary: "One run: its status, and its end when it has one",
    answer: { status: 200, schema: schemas.run },
    act: async (asked) => json(shownRun(await runOf(asked), asked.caller)),
  },
  {
    method: "delete",
    path: "/runs/{id}",
    summary:
      "Forgets a run with all that was recorded of it. Its session keeps what was said; DELETE /sessions/{id} forgets that too",
    answer: { status: 204 },
    act: async (asked) => {
      await asked.runs.erase({ id: (await runOf(asked)).id });
      return new Response(null, { status: 204 });
    },
  },
  {
    method: "get",
    path: "/runs/{id}/events",
    summary:
      "The events of a run as server-sent events: facts with their number as id, after the one that the header last-event-id or `after` names; live ones without. With `inside` the facts of agents inside it too, and no live ones. 204 where the run has ended and no event comes after that one",
    query: { ...schemas.after, ...schemas.inside },
    answer: { status: 200, type: "text/event-stream", orNothing: true },
    act: events,
  },
  {
    method: "get",
    path: "/runs/{id}/questions",
    summary: "The questions that a run waits for",
    answer: { status: 200, schema: schemas.questions },
    act: async (asked) => questions(asked, await asked.runs.waiting((await runOf(asked)).id)),
  },
  {
    method: "get",
    path: "/questions",
    summary: "The questions that the runs of the caller wait for, the oldest first",
    query: schemas.questionPage,
    answer: { status: 200, schema: schemas.questions },
    act: async (asked) => questions(asked, await questionsSeen(asked)),
  },
  {
    method: "post",
    path: "/runs/{id}/answers",
    summary: "Answers a question, once, by the hash of the request that was shown",
    body: schemas.answer,
    answer: { status: 204 },
    act: answer,
  },
  {
    method: "post",
    path: "/runs/{id}/settle",
    summary: "Says, once, what became of a call that was at work when its process died",
    body: schemas.settle,
    answer: { status: 204 },
    act: settle,
  },
  {
    method: "post",
    path: "/runs/{id}/signals",
    summary: "Sends a signal for which a tool of the run waits, or will wait",
    body: schemas.signal,
    answer: { status: 204 },
    act: signal,
  },
  {
    method: "post",
    path: "/runs/{id}/cancel",
    summary: "Ends a run for good",
    body: schemas.cancel,
    answer: { status: 200, schema: schemas.run },
    act: cancel,
  },
  {
    method: "post",
    path: "/runs/{id}/retry",
    summary: "Lets a run go on that failed or met a bound",
    body: schemas.nothing,
    answer: { status: 200, schema: schemas.run },
    act: async (asked) => json(shownRun(await asked.runs.retry((await runOf(asked)).id), asked.caller)),
  },
  {
    method: "post",
    path: "/runs/{id}/fork",
    summary:
      "Begins a new run from a turn of another one, with other results of its calls. Nothing happens again: tools answer as they did there",
    body: schemas.fork,
    answer: { status: 201, schema: schemas.run },
    act: fork,
  },
];

async function runOf({ runs, caller, params }: Asked): Promise<StoredRun> {
  const id = params["id"] ?? "";
  const run = await runs.show(caller.prefix + id);
  if (run === undefined || !caller.mayUse(run.agent))
    throw new WritError("run-missing", { id: caller.prefix + id });
  return run;
}

async function start(asked: Asked): Promise<Response> {
  const { runs, served, caller, request } = asked;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it fits the schema of the route
  const { agent: name, input, id, session, ...more } = asked.body as unknown as Start;
  const agent = agentsOf(asked).find((one) => one.name === name);
  if (agent === undefined)
    throw new WritError("request-invalid", { where: "`agent`", reason: `there is no agent "${name}"` });
  const keepsNone = served.sessions !== undefined && aboutOf(agent)?.keepsNoConversation === true;
  if (session !== undefined && keepsNone) {
    const reason = `"${name}" is a composition of agents, which keeps no conversation; leave the field out`;
    throw new WritError("request-invalid", { where: "`session`", reason });
  }
  const begin = (): Promise<StoredRun> =>
    runs.start(agent, clientInput(agent, input), {
      ...more,
      id: storedName(caller, id ?? served.host.randomId(), "id"),
      ...(session === undefined ? {} : { session: storedName(caller, session, "session") }),
    });
  if (request.headers.get("accept")?.toLowerCase().includes("text/event-stream") !== true)
    return begun(await begin(), caller);
  return inStream(asked, async (opened) =>
    stream(asked, { id: (await begin()).id, after: new Map(), inside: false }, opened),
  );
}

/** A run or session as the store names it. @throws WritError `request-invalid` for a name that no address can have in it */
function storedName({ prefix }: Caller, name: string, field: "id" | "session"): string {
  const isPlace = name === "." || name === ".."; // in an address they mean a folder
  if (name.isWellFormed() && !isPlace) return prefix + name;
  const what = isPlace ? "it is a step to another folder" : "it has half of a character";
  const reason = `${what}, so that no address names it`;
  throw new WritError("request-invalid", { where: `\`${field}\``, reason });
}

/** The response for a run that was begun, with its address: `runs` is the address of the runs, relative to the request. */
function begun(run: StoredRun, caller: Caller, runs = "runs"): Response {
  const shown = shownRun(run, caller);
  return json(shown, 201, { location: `${runs}/${encodeURIComponent(shown.id)}` });
}

/** The events that a reader wants, after a place. */
interface Wanted {
  readonly id: string;
  readonly after: Cursor;
  readonly inside: boolean;
}

function stream({ served, caller }: Asked, wanted: Wanted, opened: OpenStream): Response {
  return opened.answer(sentOf(eventsOf(wanted, served, opened.signal), wanted, caller), {
    failure: (error) => lastSent(ownError(error, caller)),
  });
}

/** The events of a run. With those of runs inside, these are only facts, from the records. */
function eventsOf(
  { id, after, inside }: Wanted,
  served: ServedRuns,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, void> {
  if (inside) return followRun(id, served, { after: Object.fromEntries(after), inside, signal });
  return runEvents(id, served, { after: after.get(id) ?? 0, signal });
}

/** The last event of a failed stream; nothing if the server leaves, because the reader reconnects. */
function lastSent(error: unknown): Sent | undefined {
  if (isWritError(error, "server-leaving")) return undefined;
  return { event: "error", data: JSON.stringify(problemOf(error)) };
}

async function events(asked: Asked): Promise<Response> {
  const { id, end } = await runOf(asked);
  const { caller, query, request } = asked;
  const known = request.headers.get("last-event-id") || (query["after"] ?? "0");
  const wanted = { id, after: readCursor(known, id, caller.prefix), inside: query["inside"] === "true" };
  // The standard has 204 for this: an EventSource does not reconnect.
  if (end !== undefined && !(await tellsMore(asked, wanted))) return new Response(null, { status: 204 });
  return stream(asked, wanted, asked.openStream());
}

/** True if a run has an event after a place. */
async function tellsMore({ served, request }: Asked, wanted: Wanted): Promise<boolean> {
  if (wanted.after.get(wanted.id) === 0) return true;
  for await (const _event of eventsOf(wanted, served, request.signal)) return true;
  return false;
}

async function list(asked: Asked): Promise<Response> {
  const { caller, query } = asked;
  const { limit, before, session, ...wanted } = query;
  const seen = await runsSeen(asked, {
    ...wanted,
    prefix: caller.prefix,
    limit: Number(limit ?? 100),
    ...(before === undefined ? {} : { before: caller.prefix + before }),
    ...(session === undefined ? {} : { session: caller.prefix + session }),
  });
  return json({ runs: seen.map((run) => shownRun(run, caller)) });
}

const questions = ({ caller: { prefix } }: Asked, asked: readonly WaitingQuestion[]): Response =>
  json({ questions: asked.map((question) => ({ ...question, runId: own(question.runId, prefix) })) });

async function answer(asked: Asked): Promise<Response> {
  const { id } = await runOf(asked);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it fits the schema of the route
  const { key, ...given } = asked.body as unknown as QuestionAnswer & { readonly key: string };
  await asked.runs.answer(id, key, { ...given, by: asked.caller.name });
  return new Response(null, { status: 204 });
}

async function settle(asked: Asked): Promise<Response> {
  const { id } = await runOf(asked);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it fits the schema of the route
  const { call, ...settled } = asked.body as unknown as Settlement & { readonly call: string };
  await asked.runs.settle(id, call, { ...settled, by: asked.caller.name });
  return new Response(null, { status: 204 });
}

/** Begins a fork. Only the server gives settings that change its powers or run tools again: a caller could forge a result for a tool to act on. */
async function fork(asked: Asked): Promise<Response> {
  const { runs, served, caller } = asked;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it fits the schema of the route
  const { id = served.host.randomId(), ...wanted } = asked.body as unknown as Pick<
    RunForkOptions,
    "beforeTurn" | "id" | "results"
  >;
  const { id: from } = await runOf(asked);
  return begun(await runs.fork(from, { ...wanted, id: storedName(caller, id, "id") }), caller, "..");
}

async function signal(asked: Asked): Promise<Response> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it fits the schema of the route
  await asked.runs.signal((await runOf(asked)).id, asked.body as unknown as SentSignal);
  return new Response(null, { status: 204 });
}

async function cancel(asked: Asked): Promise<Response> {
  const { id } = await runOf(asked);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it fits the schema of the route
  const { reason } = (asked.body ?? {}) as { readonly reason?: string };
  return json(shownRun(await asked.runs.cancel(id, reason), asked.caller));
}

type Start = Pick<StartOptions, "id" | "session" | "whenWaiting" | "skill" | "intent" | "tools"> & {
  readonly agent: string;
  readonly input: never;
};

async function* sentOf(
  events: AsyncGenerator<AgentEvent, void>,
  { id, after }: Wanted,
  caller: Caller,
): AsyncGenerator<Sent, void> {
  const { prefix } = caller;
  let known = after;
  for await (const event of events) {
    const data = JSON.stringify(shownEvent(event, caller));
    if (isFact(event)) known = cursorAfter(known, event);
    yield isFact(event) ? { id: cursorText(known, id, (run) => own(run, prefix)), data } : { data };
  }
}
