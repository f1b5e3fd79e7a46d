import type { RunForkOptions } from "../durable/fork.ts";
import type { FollowOptions } from "../durable/follow.ts";
import type { StartOptions } from "../durable/new-run.ts";
import type {
  QuestionAnswer,
  QuestionFilter,
  RunEnd,
  RunFilter,
  ShownRun,
  WaitingQuestion,
} from "../durable/run-store.ts";
import type { SentSignal } from "../durable/signals.ts";
import type { AgentEvent } from "../event/event.ts";
import type { Settlement } from "../tool/after-crash.ts";
import { asking, type RunsClientOptions } from "./asking.ts";
import { patienceUntil } from "./patience.ts";
import { readEvents } from "./read-events.ts";
import { ServerError } from "./server-error.ts";

/** The runs of a server, as their caller sees them: the functions of `durableRuns`, over HTTP. */
export interface RunsClient {
  /** The names of the agents that the caller may use. */
  agents(): Promise<readonly string[]>;
  /**
   * Starts a run, which goes on whether or not anybody listens. A caller that gives an id may ask again after a failure: the same id returns the same
   * run.
   *
   * @throws ServerError `request-invalid`, `input-invalid`, `run-differs`
   */
  start(
    agent: string,
    input: unknown,
    options?: Pick<StartOptions, "id" | "session" | "whenWaiting" | "skill" | "intent" | "tools">,
  ): Promise<ShownRun>;
  /**
   * The events of a run, until it ends: its facts by `seq`, each once, and the text of the model as it is written, if the server that is asked
   * carries out the run itself. It reconnects as often as it takes, also while the server restarts; the deltas of an unfinished message then start over with
   * `message-start`. Leaving the loop closes the connection, and the run goes on. With `inside`, the facts of agents inside come too, each with its `runId`,
   * but no text as it is written; `after` then has the last `seq` of each run, by its id.
   *
   * @throws ServerError `run-missing`, and `server-failed` if the server itself fails twelve times in a row, for about a minute; the error of `fetch` if
   * the first request cannot be sent, and TypeError if a page or something else answers it; the error of the function of the token; the reason of the signal
   */
  events(
    id: string,
    options?: Pick<FollowOptions, "after" | "inside" | "signal">,
  ): AsyncGenerator<AgentEvent, void>;
  /** Waits until a run has ended, as `events` does. @throws ServerError `run-missing`; the errors of `events` */
  result(id: string, options?: { readonly signal?: AbortSignal }): Promise<RunEnd>;
  /** The questions that the runs of the caller wait for, or one run, or a page of them, oldest first. */
  waiting(wanted?: string | Pick<QuestionFilter, "after" | "limit">): Promise<readonly WaitingQuestion[]>;
  /**
   * Answers a question, once, by the hash of the request that was shown. With `arguments`, these replace the model's, and the policy judges them again.
   *
   * @throws ServerError `question-answered`, `question-changed`, `question-closed`, `question-expired`, `question-forbidden`, `question-stale`, `question-stranded`, `question-unknown`
   */
  answer(id: string, key: string, answer: Omit<QuestionAnswer, "by" | "settled">): Promise<void>;
  /** Decides the fate of a call that was under way when its process died. @throws ServerError `call-not-unknown`, `question-answered` */
  settle(id: string, call: string, settled: Settlement): Promise<void>;
  /** Sends a signal that a tool waits for, or will wait for. @throws ServerError `signal-invalid`, `run-ended` */
  signal(id: string, signal: SentSignal): Promise<void>;
  /** Ends a run for good. A run that had ended before keeps its end. @throws ServerError `run-missing` */
  cancel(id: string, reason?: string): Promise<ShownRun>;
  /** Lets a run go on that failed or met a bound. @throws ServerError `run-missing` */
  retry(id: string): Promise<ShownRun>;
  /** Begins a new run from a turn of another one. Recorded calls are not made again. @throws ServerError `turn-missing`, `call-missing`, `run-exists` */
  fork(id: string, options: Pick<RunForkOptions, "beforeTurn" | "id" | "results">): Promise<ShownRun>;
  /** Erases a run with all its records. Its session keeps the conversation. @throws ServerError `run-missing`, `run-claimed` */
  erase(id: string): Promise<void>;
  /** Erases a session: its conversation, and its runs with all their records. @throws ServerError `session-missing`; `session-busy`, `run-claimed` while one of the runs is at work */
  eraseSession(id: string): Promise<void>;
  /** The runs of the caller, the latest first. @throws ServerError `run-missing` if the run that `before` names is gone */
  list(wanted?: Omit<RunFilter, "prefix">): Promise<readonly ShownRun[]>;
  /** @throws ServerError `run-missing` */
  show(id: string): Promise<ShownRun>;
}

/**
 * Makes a client of a server of agents, for browsers and programs. It does not repeat a failed request, except in `events` and `result`, which ask again.
 *
 * @throws TypeError for options without a `url` that is text
 * @example
 * ```ts
 * import { runsClient } from "writ/client";
 *
 * const runs = runsClient({ url: "https://agents.example", token: "…" });
 * const { id } = await runs.start("clerk", "Refund order 17", { id: "order-17" });
 * for await (const event of runs.events(id)) {
 *   if (event.type === "text-delta") console.log(event.text);
 *   if (event.type !== "approval-request") continue;
 *   const [question] = await runs.waiting(id);
 *   if (question !== undefined)
 *     await runs.answer(id, question.key, { approved: true, hash: question.request.hash });
 * }
 * ```
 */
export function runsClient(options: RunsClientOptions): RunsClient {
  const { requestOf, send, read, told } = asking(options);
  const get = <Answer>(path: string): Promise<Answer> => told("GET", path);
  const post = async <Answer>(id: string, part: string, body: object): Promise<Answer> =>
    told("POST", of(id, part), body);
  const events: RunsClient["events"] = (
    id,
    { after = 0, inside = false, signal = new AbortController().signal } = {},
  ) =>
    readEvents({
      requestOf: (known, gone) =>
        requestOf("GET", of(id, `/events?${placeOf(known, id, inside)}`), { signal: gone }),
      send,
      id,
      after: typeof after === "number" ? { [id]: after } : after,
      signal,
    });
  return {
    async agents() {
      const { agents } = await get<{ agents: readonly { readonly name: string }[] }>("/agents");
      return agents.map(({ name }) => name);
    },
    start: (agent, input, options = {}) => told("POST", "/runs", { agent, input, ...options }),
    events,
    async result(id, { signal = new AbortController().signal } = {}) {
      const patience = patienceUntil(signal);
      for (let isFirst = true; ; isFirst = false) {
        const request = await requestOf("GET", of(id), { signal });
        try {
          const { end } = await read<ShownRun>(request);
          if (end !== undefined) return end;
          patience.renew();
        } catch (error) {
          if (isFirst && !(error instanceof ServerError)) throw error;
          await patience.wait(error);
          continue;
        }
        for await (const _event of events(id, { signal })); // the events end with the run
      }
    },
    async waiting(wanted = {}) {
      const isOfRun = typeof wanted === "string" || "id" in wanted;
      const path = isOfRun ? of(wanted, "/questions") : `/questions?${pageOf(wanted)}`;
      return (await get<{ questions: readonly WaitingQuestion[] }>(path)).questions;
    },
    answer: (id, key, answer) => post(id, "/answers", { key, ...answer }),
    settle: (id, call, settled) => post(id, "/settle", { call, ...settled }),
    signal: (id, signal) => post(id, "/signals", signal),
    cancel: (id, reason) => post(id, "/cancel", { reason }),
    retry: (id) => post(id, "/retry", {}),
    fork: (id, options) => post(id, "/fork", options),
    erase: async (id) => told("DELETE", of(id)),
    eraseSession: async (id) => told("DELETE", of(id, "", "/sessions/")),
    async list(wanted = {}) {
      if (wanted.before !== undefined) idOf(wanted.before);
      return (await get<{ runs: readonly ShownRun[] }>(`/runs?${queryOf(wanted)}`)).runs;
    },
    show: async (id) => get(of(id)),
  };
}

const of = (id: unknown, part = "", kind = "/runs/"): string => kind + encodeURIComponent(idOf(id)) + part;

/** @throws TypeError for a run in place of its id, and for anything else that is not a text */
function idOf(given: unknown): string {
  if (typeof given === "string") return given;
  throw new TypeError("runsClient() needs an id as text; of a run give `run.id`");
}

/** The page of questions, in the form that a server reads. */
function pageOf({ after, limit }: Pick<QuestionFilter, "after" | "limit">): string {
  const place = after && JSON.stringify([after.since, after.runId, after.key]);
  return queryOf({ after: place, limit });
}

/** The place of a reader, in the form that a server reads. */
function placeOf(known: ReadonlyMap<string, number>, id: string, inside: boolean): string {
  const own = `after=${known.get(id) ?? 0}`;
  if (!inside) return own;
  const others = [...known]
    .filter(([run]) => run !== id)
    .map(([run, seq]) => encodeURIComponent(`,${encodeURIComponent(run)}:${seq}`));
  return `${own}${others.join("")}&inside=true`;
}

function queryOf(wanted: object): string {
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
  return String(new URLSearchParams(given));
}
