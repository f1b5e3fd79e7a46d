import { checkCount, checkShape, closed, checkArguments } from "../error/check-shape.ts";
import { isWritError, WritError } from "../error/writ-error.ts";
import { isPlain } from "../message/label.ts";
import { labelOfAll, type Message, sinceAsked } from "../message/message.ts";
import type { ReadyTranscript } from "../message/transcript.ts";
import { actsIn, type Act, type EffectOf } from "../tool/acts.ts";
import { object, oneOf, callable, either, having, optional, shapeOf, record, string } from "../util/shape.ts";
import { type History, historyOf } from "./history.ts";
import { enterSession, type SessionVisit } from "./one-at-a-time.ts";
import {
  checkVersion,
  runText,
  type SessionRecord,
  type SessionRun,
  type SessionStore,
} from "./session-store.ts";
import { type Summarise, summaryOf } from "./summary.ts";

const storeShape = having("a store of sessions", "read");

/** A session as a run is given it, in `agent.run(input, { session })`. */
export interface SessionHandle {
  readonly id: string;
  /** A run that is replayed is kept too: it was ended where nobody carried it out. */
  readonly keepsReplay?: true;
  /**
   * Waits until no other run uses the session, and keeps others out until what it gives is called.
   *
   * @throws WritError `session-busy` where runs do not wait, `session-inside` for a run inside one that uses it, and what the store throws
   */
  enter(visit: SessionVisit): Promise<() => Promise<void>>;
  /**
   * The messages before the run. Creates the session when there is none.
   *
   * @throws WritError what the store throws
   */
  load(): Promise<LoadedSession>;
  /**
   * Asked before a run changes anything.
   *
   * @throws WritError `session-conflict` when the session was changed since the run loaded it, but not by this run; `session-missing`
   */
  check(runId: string, loaded: Pick<LoadedSession, "version">): Promise<void>;
  /**
   * Keeps a run behind those before it. Saying the same again does nothing more. What was kept meanwhile stays before it: a run that has done
   * something is not lost.
   *
   * @throws WritError `session-conflict` when a run with the same id gave another answer; `session-missing`
   */
  save(run: FinishedRun, loaded: Pick<LoadedSession, "version">): Promise<void>;
}

/** A session as a run is given it. JSON, so that a journal can keep it. */
export interface LoadedSession {
  readonly version: number;
  /** They go between the system message and what the user says now. */
  readonly messages: readonly Message[];
  /** The hash of what the run before was for. */
  readonly intent?: string;
}

/** A run that ended. */
export interface FinishedRun extends Omit<SessionRun, "messages"> {
  /** All of it, what was said before it too: of that nothing is kept twice. */
  readonly transcript: ReadyTranscript;
  /** Calls that may have changed something and no longer stand in the transcript. */
  readonly acts?: readonly Act[];
  /** The effects of its tools. Left out: nobody knows, and each call may have changed something. */
  readonly effectOf?: EffectOf;
}

/** Options of {@link session}. */
export interface SessionOptions {
  /** The part of the earlier runs that a run is sent. Default `answers`: without calls and results. */
  readonly history?: History;
  /** While another run uses the session a run waits for its turn (`wait`, the default), or fails with `session-busy` before it does anything. */
  readonly whenBusy?: "wait" | "refuse";
}

/**
 * Names a session of a store, for runs. A run that is given it is sent what was said in earlier ones, and is kept with them, however it ends.
 * Runs of one session go one after another, in the order of their coming: one that waits does nothing yet, and its signal and its time end the waiting.
 *
 * @throws WritError `definition-invalid` for what is no store, an id that is no text, and other options
 * @example
 * ```ts
 * import { agent, inMemorySessions, session } from "writ";
 *
 * const store = inMemorySessions();
 * const talker = agent({ name: "talker", model: "ollama/qwen2.5:7b" });
 * await talker.run("My name is Kim.", { session: session(store, "kim") });
 * const { text } = await talker.run("What is my name?", { session: session(store, "kim") });
 * console.log(text, (await store.read("kim")).version);
 * ```
 */
export function session(store: SessionStore, id: string, options: SessionOptions = {}): SessionHandle {
  checkShape("session()", { store, id }, handleShape);
  checkShape(`Session "${id}"`, options, optionsShape);
  const { history = "answers", whenBusy = "wait" } = options;
  return {
    id,
    enter: (visit) => enterSession({ store, id, whenBusy }, visit),
    async check(runId, { version }) {
      const found = await store.read(id);
      if (!found.runs.some((run) => run.runId === runId)) checkVersion(id, found.version, version);
    },
    async load() {
      const record = await readOrCreate(store, id);
      const intent = record.runs.at(-1)?.intent;
      const messages = historyOf(record, history);
      return { version: record.version, messages, ...(intent === undefined ? {} : { intent }) };
    },
    async save({ transcript, acts = [], effectOf = () => "undeclared", ...run }, { version }) {
      const messages = sinceAsked(transcript.messages);
      const kept = { ...run, messages, acts: [...acts, ...actsIn(messages, effectOf)] };
      await appendLast(store, id, { kept, version });
    },
  };
}

const handleShape = object({
  store: having("a store of sessions, like inMemorySessions()", "read", "append"),
  id: shapeOf("the id of a session, a text", (value) => typeof value === "string" && value !== ""),
});
const optionsShape = closed({
  history: optional(either(oneOf("answers", "all"), callable)),
  whenBusy: optional(oneOf("wait", "refuse")),
});

/** The place at which a session is forked. */
export interface ForkOptions {
  /** The id of the new session. */
  readonly newId: string;
  /** The new session begins with so many of the first runs. Default: all. */
  readonly atRun?: number;
}

/**
 * Begins a new session as another one is, or as it was after some of its runs. Afterwards the two have nothing to do with each other.
 *
 * @throws WritError `session-missing`, `session-exists`, and `session-run-missing` when there are fewer runs than `atRun`
 * @example
 * ```ts
 * import { inMemorySessions } from "writ";
 * import { forkSession } from "writ/session";
 *
 * const store = inMemorySessions();
 * await store.create("talk");
 * const { forkedFrom } = await forkSession(store, "talk", { newId: "another end", atRun: 0 });
 * ```
 */
export async function forkSession(
  store: SessionStore,
  id: string,
  options: ForkOptions,
): Promise<SessionRecord> {
  checkArguments("forkSession()", { store, id, options }, { store: storeShape, id: string, options: record });
  const { newId, atRun } = options;
  const { version, messages, runs, summary, summaryLabel } = await store.read(id);
  const count = atRun ?? runs.length;
  if (!Number.isSafeInteger(count) || count < 0 || count > runs.length)
    throw new WritError("session-run-missing", { id, count: runs.length, wanted: count });
  const forkedFrom = { id, version };
  return store.create(newId, { messages, runs: runs.slice(0, count), summary, summaryLabel, forkedFrom });
}

/** Options of {@link summariseSession}. */
export interface SummariseOptions {
  /** So many of the last runs stay as they are. */
  readonly keepRuns: number;
  /** Given the questions and answers of the other runs, after what was said before them. */
  readonly summarise: Summarise;
}

/**
 * Puts a summary in the place of all but the last runs of a session, in the store. Does nothing when it has no other runs.
 *
 * @throws WritError `session-missing`, `summary-failed`, `definition-invalid`, and `session-conflict` when a run was kept meanwhile
 * @example
 * ```ts
 * import { agent, inMemorySessions } from "writ";
 * import { summariseSession } from "writ/session";
 *
 * const writer = agent({ name: "writer", instructions: "Say in short what was said.", model: "ollama/qwen2.5:7b" });
 * const store = inMemorySessions();
 * await store.create("talk");
 * const intent = "Sum up what was said"; // the messages hold the words of others than the user
 * await summariseSession(store, "talk", { keepRuns: 10, summarise: (messages) => writer(JSON.stringify(messages), { intent }) });
 * ```
 */
export async function summariseSession(
  store: SessionStore,
  id: string,
  options: SummariseOptions,
): Promise<void> {
  checkArguments(
    "summariseSession()",
    { store, id, options },
    { store: storeShape, id: string, options: record },
  );
  const { keepRuns, summarise } = options;
  checkCount(keepRuns, "`keepRuns`");
  const known = await store.read(id);
  const old = known.runs.slice(0, -keepRuns);
  if (old.length === 0) return;
  const said = historyOf({ ...known, runs: old }, "answers");
  const summary = await summaryOf(said, summarise);
  const label = labelOfAll(said);
  const summaryLabel = isPlain(label) ? undefined : label;
  const runs = known.runs.slice(-keepRuns);
  await store.update(id, { ...known, messages: [], runs, summary, summaryLabel }, known.version);
}

async function readOrCreate(store: SessionStore, id: string): Promise<SessionRecord> {
  try {
    return await store.read(id);
  } catch (error) {
    if (!isWritError(error, "session-missing")) throw error;
  }
  try {
    return await store.create(id);
  } catch (error) {
    if (isWritError(error, "session-exists")) return store.read(id); // another process was faster
    throw error;
  }
}

interface Keeping {
  readonly kept: SessionRun;
  readonly version: number;
}

/**
 * Adds a run behind all that are there, also behind those that its own version does not have. One that is replayed after a crash is there already; one that
 * failed and was tried again stands there once, where it ended last.
 */
async function appendLast(store: SessionStore, id: string, { kept, version }: Keeping): Promise<void> {
  try {
    await store.append(id, kept, version);
  } catch (error) {
    if (!isWritError(error, "session-conflict")) throw error;
    const found = await store.read(id);
    const same = found.runs.findLast(({ runId }) => runId === kept.runId);
    if (same !== undefined && runText(same) === runText(kept)) return;
    if (same?.outcome.type === "answered" || found.version === version) throw error;
    await appendLast(store, id, { kept, version: found.version });
  }
}
